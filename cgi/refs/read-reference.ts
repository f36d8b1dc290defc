/** Reads one ref of a bare repository from its files, without a process. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { readPackedFile } from './reference-files.js'

/** Maximum size of `packed-refs` to search: about 4,000 refs. */
const PACKED_BYTES_MAX = 262_144

const OID = /^([0-9a-f]{64}|[0-9a-f]{40})\n$/
const BRANCH_OF_HEAD = /^ref: (refs\/heads\/.+)\n$/

/**
 * Returns the id of a ref, or of the branch of `HEAD`. Returns undefined if git must look for it:
 * if the files do not have it, or have more than an id.
 */
export async function readReference(path: string, name: string): Promise<string | undefined> {
  const text = readLoose(path, name)
  if (text !== undefined) {
    const [, branch] = (name === 'HEAD' && BRANCH_OF_HEAD.exec(text)) || []
    if (branch === undefined) return OID.exec(text)?.[1]
    return isReferenceName(branch) ? await readReference(path, branch) : undefined
  }
  // Git packs a ref before it removes the file of the ref.
  const packed = await readPackedFile(path, PACKED_BYTES_MAX)
  const end = packed?.indexOf(` ${name}\n`) ?? -1
  if (packed === undefined || end < 0) return undefined
  const start = packed.lastIndexOf('\n', end) + 1
  return OID.exec(`${packed.toString('latin1', start, end)}\n`)?.[1]
}

/** Returns the text of the file of a ref; undefined if there is none, or a folder. */
function readLoose(path: string, name: string): string | undefined {
  try {
    return unlessMissingSync(() => readFileSync(join(path, name), 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR') return undefined
    throw error
  }
}
