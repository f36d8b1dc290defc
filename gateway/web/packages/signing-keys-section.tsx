/** The keys that sign the indexes of an owner, on the page of the package settings. */

import type { JSX } from 'preact/jsx-runtime'
import type { PackageFormat } from '../../../conf/package.js'
import { type KeptKey, listSigningKeys } from '../../../sql/packages/signing-keys.js'
import type { Context } from '../../request/context.js'
import { Ago } from '../kit/times.js'

/** Formats with signed indexes, each with the path of its public keys. */
const KEY_PATHS = { alpine: '/key', debian: '/repository.key' } as const satisfies Partial<
  Record<PackageFormat, string>
>

type SignedFormat = keyof typeof KEY_PATHS

const FORMATS = Object.keys(KEY_PATHS) as readonly SignedFormat[]

export type KeysOfFormats = ReadonlyMap<SignedFormat, readonly KeptKey[]>

/** Reads the keys; a format has none before its first index is read. */
export async function keysOfFormats({ db }: Context, ownerId: number): Promise<KeysOfFormats> {
  const entries = await Promise.all(
    FORMATS.map(
      async (format) => [format, await listSigningKeys(db, { ownerId, format })] as const,
    ),
  )
  return new Map(entries.filter(([, keys]) => keys.length > 0))
}

interface SigningKeysProps {
  /** URL of the registries of the owner. */
  readonly registriesUrl: string
  readonly keys: KeysOfFormats
}

export function SigningKeysSection({ registriesUrl, keys }: SigningKeysProps): JSX.Element {
  return (
    <section>
      <h3>Signing keys</h3>
      <p class="quiet">
        An administrator replaces a key with <code>gatehouse package rotate-key</code>. Both keys
        sign until clients have the new one.
      </p>
      {keys.size === 0 && <p class="empty">There are no keys yet.</p>}
      <ul class="list">
        {[...keys].flatMap(([format, all]) =>
          all.map(({ createdAtMs, signsUntilMs }) => (
            <li>
              <a class="grow" href={`${registriesUrl}/${format}${KEY_PATHS[format]}`}>
                {format}
              </a>
              <span class="quiet">created</span> <Ago atMs={createdAtMs} />
              {signsUntilMs !== undefined && (
                <span class="quiet">
                  , signs until <Ago atMs={signsUntilMs} />
                </span>
              )}
            </li>
          )),
        )}
      </ul>
    </section>
  )
}
