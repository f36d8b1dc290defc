/** References of a repository as of one instant, read without a process of git. */

import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { walk } from './walk.js'

export interface CapturedReferences {
  /** Content of the file HEAD. */
  readonly head: string
  /** Object id, or `ref: NAME`, by full name, in the order of the names. */
  readonly references: Readonly<Record<string, string>>
  /** Content of the file `shallow`; absent in most repositories. */
  readonly shallow?: string
  /** True if pushes never paused, so that references of one push may be of two instants. */
  readonly isTorn?: true
}

/** Reads are repeated until two in a row are equal. */
const TRIES = 8

/** Reads the references of a repository to which others push. Throws if it has no HEAD. */
export async function captureReferences(path: string): Promise<CapturedReferences> {
  let captured = await readOnce(path)
  let text = JSON.stringify(captured)
  for (let tries = 1; tries < TRIES; tries += 1) {
    const again = await readOnce(path)
    const textAgain = JSON.stringify(again)
    if (textAgain === text) return captured
    captured = again
    text = textAgain
  }
  return { ...captured, isTorn: true }
}

/**
 * Reads loose references before packed ones, because git writes `packed-refs` first and removes
 * the loose files then: in the other order a reference could be missed.
 */
async function readOnce(path: string): Promise<CapturedReferences> {
  const head = await readFile(join(path, 'HEAD'), 'utf8')
  const found = new Map<string, string>()
  const refs = join(path, 'refs')
  for await (const { path: file, isFolder } of walk(refs)) {
    if (isFolder || file.endsWith('.lock')) continue
    const content = await unlessMissing(readFile(file, 'utf8'))
    if (content !== undefined) found.set(relative(path, file), content.trimEnd())
  }
  const packed = (await unlessMissing(readFile(join(path, 'packed-refs'), 'utf8'))) ?? ''
  for (const [, oid = '', name = ''] of packed.matchAll(PACKED)) {
    if (!found.has(name)) found.set(name, oid)
  }
  const shallow = await unlessMissing(readFile(join(path, 'shallow'), 'utf8'))
  const references = Object.fromEntries([...found].sort(byName))
  return { head, references, ...(shallow === undefined ? {} : { shallow }) }
}

const PACKED = /^([0-9a-f]{40,64}) (refs\/.+)$/gm

/** Compares by bytes, as git sorts `packed-refs`. */
function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
