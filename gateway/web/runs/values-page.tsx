/** Page of the secrets and variables of one kind of scope, which all of its kinds share. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  listValues,
  putValue,
  removeValue,
  type ScopedValue,
  type ValueKind,
  type ValueScope,
} from '../../../sql/runs/scoped-values.js'
import { putSecret, readValue, type SentValue } from '../../actions/runs/put-values.js'
import type { Access, AccessKind, Grants } from '../../auth/authorize.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import {
  definePage,
  fieldOf,
  multilineField,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { TextField } from '../kit/text-field.js'
import { Ago } from '../kit/times.js'

/** Differences between the scopes. */
export interface ValuesPageOptions<K extends AccessKind> {
  /** Path of the page; its forms post to paths below it. */
  readonly path: string
  readonly access: Extract<Access, { kind: K }>
  /** Sentence about the jobs that get the values. */
  readonly about: string
  /** Returns the scope, and the path of its page. Throws `not_found` if it has no Actions. */
  locate(context: Context, grant: Grants[K]): { readonly scope: ValueScope; readonly path: string }
  /** Renders the document of the page around its content. */
  frame(context: Context, grant: Grants[K], content: Child): JSX.Element
}

/** All values of a scope, of which there are at most 100 of each kind. */
const ALL = { page: 1, limit: 100 }

const SHOWN_CHARACTERS_MAX = 200
const NAME_CHARACTERS_MAX = 255
const DESCRIPTION_CHARACTERS_MAX = 4_096

/** Returns the page and the targets of its forms. */
export function valuesPages<K extends AccessKind>(
  options: ValuesPageOptions<K>,
): readonly AnyRoute[] {
  const { path, access, locate } = options
  const show = definePage<K>({
    method: 'GET',
    path,
    access,
    handle: (context, call) => answer(context, options, { call }),
  })
  const put = (kind: ValueKind) =>
    definePage<K>({
      method: 'POST',
      path: `${path}/${kind}`,
      access,
      async handle(context, call) {
        const { scope, path } = locate(context, call.grant)
        const sent = sentValue(await readForm(call.request))
        const store = async () => {
          if (kind === 'secrets') await putSecret(context, scope, sent)
          else await putValue(context.db, kind, { scope, ...readValue(sent) })
          return redirectTo(context, path)
        }
        return withFormErrors(store, (failure) =>
          answer(context, options, { call, refused: { kind, sent, failure } }),
        )
      },
    })
  const remove = (kind: ValueKind) =>
    definePage<K>({
      method: 'POST',
      path: `${path}/${kind}/delete`,
      access,
      async handle(context, call) {
        const { scope, path } = locate(context, call.grant)
        const name = fieldOf(await readForm(call.request), 'name')
        await removeValue(context.db, kind, { scope, name })
        return redirectTo(context, path)
      },
    })
  return [show, put('secrets'), remove('secrets'), put('variables'), remove('variables')]
}

function sentValue(form: URLSearchParams): SentValue {
  return {
    name: fieldOf(form, 'name'),
    value: multilineField(form, 'value'),
    description: fieldOf(form, 'description'),
  }
}

/** A value that was refused, to show its form again. */
interface Refused {
  readonly kind: ValueKind
  readonly sent: SentValue
  readonly failure: Failure
}

interface Asked<K extends AccessKind> {
  readonly call: Pick<Call<K>, 'request' | 'grant'>
  readonly refused?: Refused
}

async function answer<K extends AccessKind>(
  context: Context,
  { about, locate, frame }: ValuesPageOptions<K>,
  { call: { request, grant }, refused }: Asked<K>,
): Promise<Reply> {
  const { scope, path } = locate(context, grant)
  const secrets = await listValues(context.db, 'secrets', { scope, page: ALL })
  const variables = await listValues(context.db, 'variables', { scope, page: ALL })
  const address = context.settings.http.basePath + path
  const content = (
    <>
      <ErrorMessage error={refused?.failure.message} />
      <p class="quiet">{about}</p>
      <Values kind="secrets" address={address} values={secrets.entries} refused={refused} />
      <Values kind="variables" address={address} values={variables.entries} refused={refused} />
    </>
  )
  const status = refused?.failure.status ?? 200
  return htmlReply(request, frame(context, grant, content), { status })
}

const WORDS = {
  secrets: {
    title: 'Secrets',
    one: 'secret',
    empty: 'There are no secrets yet.',
    hint: 'Steps read a secret as secrets.NAME. Its value is never shown again.',
  },
  variables: {
    title: 'Variables',
    one: 'variable',
    empty: 'There are no variables yet.',
    hint: 'Steps and conditions of jobs read a variable as vars.NAME.',
  },
} as const

interface ValuesProps {
  readonly kind: ValueKind
  readonly address: string
  readonly values: readonly ScopedValue[]
  readonly refused: Refused | undefined
}

function Values({ kind, address, values, refused }: ValuesProps): JSX.Element {
  const { title, one, empty, hint } = WORDS[kind]
  const sent = refused?.kind === kind ? refused.sent : undefined
  const action = `${address}/${kind}`
  return (
    <section>
      <h3>{title}</h3>
      <p class="quiet">{hint}</p>
      {values.length === 0 && <p class="empty">{empty}</p>}
      <ul class="list">
        {values.map((value) => (
          <li>
            <Facts kind={kind} value={value} />
            <form method="post" action={`${action}/delete`}>
              <input type="hidden" name="name" value={value.name} />
              <button type="submit" class="danger" aria-label={`Delete the ${one} ${value.name}`}>
                Delete
              </button>
            </form>
          </li>
        ))}
      </ul>
      <h4>{`Set a ${one}`}</h4>
      <ValueForm kind={kind} action={action} sent={sent} />
    </section>
  )
}

function Facts({ kind, value }: { readonly kind: ValueKind; readonly value: ScopedValue }) {
  const { name, description, createdAtMs } = value
  return (
    <div class="grow">
      <strong>{name}</strong>
      {kind === 'variables' && (
        <pre tabindex={0}>
          <code>
            <Shown text={cut(value.value)} />
          </code>
        </pre>
      )}
      <p class="quiet">
        {description !== '' && <Shown text={`${cut(description)} · `} />}
        set <Ago atMs={createdAtMs} />
      </p>
    </div>
  )
}

function cut(text: string): string {
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text
}

interface ValueFormProps {
  readonly kind: ValueKind
  readonly action: string
  readonly sent: SentValue | undefined
}

/** The form that creates or replaces a value. It never shows the value of a secret again. */
function ValueForm({ kind, action, sent }: ValueFormProps): JSX.Element {
  return (
    <form class="form" method="post" action={action}>
      <TextField
        label="Name; a name that exists gets the new value"
        name="name"
        id={`${kind}-name`}
        isRequired={true}
        charactersMax={NAME_CHARACTERS_MAX}
        value={sent?.name ?? ''}
        autocomplete="off"
      />
      <label for={`${kind}-value`}>Value</label>
      <textarea id={`${kind}-value`} name="value" class="code" rows={4} autocomplete="off">
        {kind === 'variables' ? sent?.value : ''}
      </textarea>
      <TextField
        label="Description"
        name="description"
        id={`${kind}-description`}
        charactersMax={DESCRIPTION_CHARACTERS_MAX}
        value={sent?.description ?? ''}
      />
      <button type="submit">{`Set the ${WORDS[kind].one}`}</button>
    </form>
  )
}
