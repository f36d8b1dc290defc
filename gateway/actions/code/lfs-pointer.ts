/** Pointers of Git LFS: small files that commits have in place of large ones. */

import { findLfsObject, type LfsObject } from '../../../sql/repositories/lfs-objects.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'

export interface LfsPointer {
  readonly oid: string
  /** Size of the object. */
  readonly bytes: number
}

/** Maximum size of a pointer, as the specification of Git LFS says. */
export const POINTER_BYTES_MAX = 1_024

const FIRST_LINE = 'version https://git-lfs.github.com/spec/v1\n'

/** Reads a pointer; undefined if the content is not one. */
export function parseLfsPointer(content: string): LfsPointer | undefined {
  if (content.length > POINTER_BYTES_MAX || !content.startsWith(FIRST_LINE)) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(content)?.[1]
  const size = /^size (\d{1,15})$/m.exec(content)?.[1]
  return oid === undefined || size === undefined ? undefined : { oid, bytes: Number(size) }
}

/** Returns the pointer that the content of a blob is; undefined for other content. */
export function pointerIn(content: Buffer | undefined): LfsPointer | undefined {
  if (content === undefined || content.length > POINTER_BYTES_MAX) return undefined
  return parseLfsPointer(content.toString('latin1'))
}

/** Returns the object of a pointer; undefined for other content, and if it was not uploaded. */
export async function findPointedObject(
  { db, settings }: Pick<Context, 'db' | 'settings'>,
  { id: repositoryId }: Pick<Repository, 'id'>,
  content: Buffer,
): Promise<LfsObject | undefined> {
  const pointer = parseLfsPointer(content.toString('latin1'))
  if (pointer === undefined || !settings.lfs.isEnabled) return undefined
  const object = await findLfsObject(db, { repositoryId, oid: pointer.oid })
  return object?.bytes === pointer.bytes ? object : undefined
}
