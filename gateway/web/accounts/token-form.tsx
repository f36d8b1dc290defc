/** Form for a new token. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { SentLimits } from '../../actions/accounts/token-limits.js'
import { fieldOf } from '../kit/page.js'
import { TextField } from '../kit/text-field.js'

const DAY_MS = 86_400_000

/** Scopes that the form offers, with their labels. */
const SCOPES = [
  ['write:repository', 'Repositories: clone, push, and change them'],
  ['read:repository', 'Repositories: clone and read'],
  ['write:package', 'Packages: publish and remove'],
  ['read:package', 'Packages: install'],
  ['write:issue', 'Issues and pull requests'],
  ['read:user', 'The account: read'],
  ['all', 'Everything that you are permitted to do'],
] as const

/** Text fields for limits: name, label, and an example of a line. */
const LIMITS = [
  ['repositories', 'Only these repositories', 'ada/library'],
  ['packages', 'Only these packages', 'ada, or ada/generic/tool'],
  ['addresses', 'Only from these addresses', '192.0.2.7, or 10.0.0.0/8'],
] as const

interface TokenFormProps {
  readonly address: string
  /** Form as sent before, if it was rejected. */
  readonly form?: URLSearchParams | undefined
}

export function TokenForm({ address, form }: TokenFormProps): JSX.Element {
  const sent = form ?? new URLSearchParams()
  const chosen = sent.getAll('scope')
  return (
    <form method="post" action={address}>
      <TextField
        label="Name"
        name="name"
        isRequired={true}
        charactersMax={255}
        value={fieldOf(sent, 'name')}
      />
      <fieldset>
        <legend>Permissions</legend>
        {SCOPES.map(([scope, sentence]) => (
          <label class="choice">
            <input type="checkbox" name="scope" value={scope} checked={chosen.includes(scope)} />{' '}
            {sentence}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Limits</legend>
        <p class="quiet">
          One per line; an empty field sets no limit. A token limited to repositories or packages
          has access only to these and to public content, and cannot administer them.
        </p>
        {LIMITS.map(([name, label, example]) => (
          <>
            <label for={name}>{`${label}, such as ${example}`}</label>
            <textarea id={name} name={name} class="code" rows={2}>
              {sent.get(name)}
            </textarea>
          </>
        ))}
        <label for="expires">Expires after this day (empty: never)</label>
        <input type="date" id="expires" name="expires" value={fieldOf(sent, 'expires')} />
      </fieldset>
      <button type="submit">Create token</button>
    </form>
  )
}

/** Reads the limits from the form. Throws `invalid`. */
export function sentLimits(form: URLSearchParams): SentLimits {
  return {
    expiresAtMs: endOf(fieldOf(form, 'expires')),
    repositories: linesOf(form, 'repositories'),
    packages: linesOf(form, 'packages'),
    addresses: linesOf(form, 'addresses'),
  }
}

function linesOf(form: URLSearchParams, name: string): readonly string[] | undefined {
  const lines = fieldOf(form, name)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.length === 0 ? undefined : lines
}

/** Returns the end of the day (UTC), when the token expires. Throws `invalid`. */
function endOf(day: string): number | undefined {
  if (day === '') return undefined
  const startMs = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN
  if (Number.isNaN(startMs))
    throw new Failure('invalid', 'The expiry day is not a date. Enter it as YYYY-MM-DD.')
  return startMs + DAY_MS
}
