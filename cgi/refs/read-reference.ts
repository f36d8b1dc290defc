/** Reads one ref of a bare repository from its files, without a process. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { readPackedFile } from './reference-files.js'

/** Maximum size of `packed-refs` to search: about 4,000 refs. */
const PACKED_BYTES_MAX = 262_144

const OID = /^([0-9a-f]{64}|[0-9a-f]{40})\n$/
const BRANCH_OF_HEAD = /^ref: (refs\/heads\/.+)\n$/

/** A ref as the files have it; `id` is undefined if there is no such ref. */
export interface FoundReference {
  readonly id: string | undefined
}

/**
 * Finds a ref, or the branch of `HEAD`. Returns undefined if git must look for it: if its file has
 * more than an id, there are too many packed refs to search, or there is no repository.
 */
export async function readReference(
  path: string,
  name: string,
): Promise<FoundReference | undefined> {
  const text = readLoose(path, name)
  if (text !== undefined) {
    const [, branch] = (name === 'HEAD' && BRANCH_OF_HEAD.exec(text)) || []
    if (branch === undefined) return foundIn(text)
    return isReferenceName(branch) ? await readReference(path, branch) : undefined
  }
  // Git packs a ref before it removes the file of the ref, so a ref that is in neither is missing.
  const packed = await readPackedFile(path, PACKED_BYTES_MAX)
  if (packed === undefined) return undefined
  const end = packed.indexOf(` ${name}\n`)
  if (end < 0) return existsSync(join(path, 'HEAD')) ? { id: undefined } : undefined
  const start = packed.lastIndexOf('\n', end) + 1
  return foundIn(`${packed.toString('latin1', start, end)}\n`)
}

function foundIn(line: string): FoundReference | undefined {
  const id = OID.exec(line)?.[1]
  return id === undefined ? undefined : { id }
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
