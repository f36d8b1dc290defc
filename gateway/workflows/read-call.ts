/** Calls of reusable workflows by jobs: the values of `uses`, `with` and `secrets`. */

import { hasExpression } from './expressions.js'
import type { YamlMap, YamlValue } from './yaml-value.js'

/** Call of a reusable workflow. */
export interface JobCall {
  readonly place: CalledPlace
  /** Value of `with`; undefined if the job has none. */
  readonly inputs: YamlValue | undefined
  readonly secrets: CallSecrets
}

/** Place of a called workflow. */
export interface CalledPlace {
  /** Value of `uses`. */
  readonly text: string
  /** Undefined for the repository and commit of the caller. */
  readonly repository: CalledRepository | undefined
  /** Name of the file, without its folder. */
  readonly file: string
}

export interface CalledRepository {
  readonly owner: string
  readonly name: string
  /** Branch, tag or commit. */
  readonly reference: string
}

/** Secrets of a called workflow by their names in upper case, or those of the caller. */
export type CallSecrets = 'inherit' | Readonly<Record<string, SecretSource>>

/** A secret of the caller by its name in upper case, or a text. */
export type SecretSource = { readonly secret: string } | { readonly text: string }

const FOLDER = '\\.gitea/workflows/([^/]+\\.ya?ml)'
const LOCAL = new RegExp(`^\\./${FOLDER}$`)
const REMOTE = new RegExp(`^([^/@:]+)/([^/@:]+)/${FOLDER}@(.+)$`)
const SECRET = /^\$\{\{\s*secrets\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/

/** Maximum number of secrets of one call. */
const SECRETS_MAX = 100
const REFERENCE_CHARACTERS_MAX = 255

/** Reads the call of a job; undefined if it calls no workflow. Throws FileFault. */
export function readCall(job: YamlMap): JobCall | undefined {
  const uses = job.get('uses')
  if (uses === undefined) return undefined
  for (const key of ['runs-on', 'steps', 'continue-on-error', 'env', 'container', 'services']) {
    job.get(key)?.fail("cannot be there together with 'uses'")
  }
  const secrets = job.get('secrets')
  job.get('with')?.map()
  return {
    place: placeOf(uses),
    inputs: job.get('with'),
    secrets: secrets === undefined ? {} : readSecrets(secrets),
  }
}

function placeOf(uses: YamlValue): CalledPlace {
  const text = uses.text()
  const [, local] = LOCAL.exec(text) ?? []
  if (local !== undefined) return { text, repository: undefined, file: local }
  const [, owner, name, file, reference] = REMOTE.exec(text) ?? []
  if (owner === undefined || name === undefined || file === undefined || reference === undefined) {
    return uses.fail(
      "must be './.gitea/workflows/FILE.yaml' or 'OWNER/NAME/.gitea/workflows/FILE.yaml@REF'",
    )
  }
  if (reference.length > REFERENCE_CHARACTERS_MAX) uses.fail('has a ref that is too long')
  return { text, repository: { owner, name, reference }, file }
}

function readSecrets(value: YamlValue): CallSecrets {
  if (!value.isMap)
    return value.text() === 'inherit' ? 'inherit' : value.fail("must be 'inherit' or a map")
  const entries = [...value.map()]
  if (entries.length > SECRETS_MAX) value.fail(`has more than ${SECRETS_MAX} secrets`)
  return Object.fromEntries(entries.map(([name, source]) => [name.toUpperCase(), sourceOf(source)]))
}

function sourceOf(value: YamlValue): SecretSource {
  const text = value.text()
  const [, secret] = SECRET.exec(text) ?? []
  if (secret !== undefined) return { secret: secret.toUpperCase() }
  // The server evaluates no secrets, because messages about faults repeat their values.
  return hasExpression(text) ? value.fail(`must be '$${'{{ secrets.NAME }}'}' or a text`) : { text }
}
