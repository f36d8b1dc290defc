/** Reports of installations by Composer (getcomposer.org/doc/05-repositories.md, notify-batch). */

import { Failure } from '../../conf/failures.js'
import type { Json } from '../../conf/package.js'
import { limitBody } from '../limited-body.js'
import type { PublishedVersion } from '../package-store.js'
import { isPackageName } from './package-name.js'
import { parseVersion } from './version.js'

/** Maximum size of a report. Composer writes about 60 bytes for each package. */
const BODY_BYTES_MAX = 131_072

/** Maximum number of packages in a report, each of which is looked up. */
const PACKAGES_MAX = 1_000

/**
 * Reads a report: `{"downloads":[{"name":"acme/lib","version":"1.0.0.0"}]}`. Entries that cannot
 * name a published version are left out. Throws `payload_too_large` or `bad_request`.
 */
export async function readNotification(
  body: AsyncIterable<Uint8Array>,
): Promise<readonly PublishedVersion[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of limitBody(body, BODY_BYTES_MAX, tooLarge)) chunks.push(chunk.slice())
  const { downloads } = decode(Buffer.concat(chunks))
  if (!Array.isArray(downloads)) throw refused('must have an array "downloads"')
  if (downloads.length > PACKAGES_MAX) throw refused(`has more than ${PACKAGES_MAX} "downloads"`)
  return downloads.flatMap(versionOf)
}

function decode(bytes: Buffer): { readonly downloads?: unknown } {
  try {
    return JSON.parse(bytes.toString()) ?? {}
  } catch (cause) {
    throw new Failure('bad_request', 'The report of installations is not valid JSON.', { cause })
  }
}

function versionOf(entry: Json): readonly PublishedVersion[] {
  const { name, version } = Object(entry)
  if (typeof name !== 'string' || typeof version !== 'string' || !isPackageName(name)) return []
  try {
    return [{ packageName: name, version: parseVersion(version).key }]
  } catch {
    return []
  }
}

function tooLarge(): Failure {
  const limit = `${BODY_BYTES_MAX} bytes`
  return new Failure('payload_too_large', `The report of installations is larger than ${limit}.`)
}

function refused(fault: string): Failure {
  return new Failure('bad_request', `The report of installations ${fault}.`)
}
