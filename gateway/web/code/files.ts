/** File of a repository as text for its page, or the reason why it is not shown. */

import type { TreeEntry } from '../../../cgi/objects/tree.js'
import { notFound } from '../../../conf/failures.js'
import { type GitReader, readBlob } from '../../actions/code/git-reader.js'

export interface ShownFile {
  readonly sizeBytes: number
  /** Undefined if the file is not text or exceeds a limit. */
  readonly text: string | undefined
  /** Sentence that says why `text` is undefined. */
  readonly reason: string | undefined
}

const SHOWN_BYTES_MAX = 524_288
const LINES_MAX = 10_000
const LINE_CHARACTERS_MAX = 5_000

/** Reads a file. Throws `not_found` if the entry is not a file. */
export async function readShownFile(
  reader: GitReader,
  { entry, signal }: { readonly entry: TreeEntry; readonly signal: AbortSignal },
): Promise<ShownFile> {
  const blob = entry.kind === 'submodule' ? undefined : await readBlob(reader, entry.id, signal)
  if (blob === undefined) throw notFound()
  const { sizeBytes, content } = blob
  const refuse = (reason: string) => ({ sizeBytes, text: undefined, reason })
  if (content === undefined || sizeBytes > SHOWN_BYTES_MAX) {
    return refuse('The file is too large to show.')
  }
  if (content.includes(0)) return refuse('The file is not text.')
  const text = content.toString()
  const lines = text.split('\n')
  if (lines.length > LINES_MAX) return refuse('The file has too many lines to show.')
  if (lines.some(({ length }) => length > LINE_CHARACTERS_MAX)) {
    return refuse('The file has lines that are too long to show.')
  }
  return { sizeBytes, text, reason: undefined }
}
