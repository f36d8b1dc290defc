/** Diff between two commits on a page, within size limits. */

import type { JSX } from 'preact/jsx-runtime'
import type { CommitRange } from '../../../cgi/objects/commit-range.js'
import { readDiff, readFileDiff } from '../../../cgi/objects/diff.js'
import { isFailure } from '../../../conf/failures.js'
import type { GitReader } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import { type DiffFile, parseDiff } from './diff-lines.js'

const LINES_MAX = 5_000
const DIFF_BYTES_MAX = 1_048_576

export interface ShownDiff {
  readonly files: readonly DiffFile[]
  readonly isCut: boolean
}

export interface ShownRange extends CommitRange {
  /** Path of the only file whose differences are shown. */
  readonly file?: string
  readonly signal: AbortSignal
}

/** Reads the diff, cut at the limits of a page. Returns undefined if too many files changed. */
export async function readShownDiff(
  { git, path }: Pick<GitReader, 'git' | 'path'>,
  { file, ...range }: ShownRange,
): Promise<ShownDiff | undefined> {
  const input = { ...range, format: 'diff', hasBinary: false } as const
  try {
    if (file !== undefined) {
      const text = await readFileDiff(git, path, { ...range, file })
      const isCut = text === undefined || text.length > DIFF_BYTES_MAX
      const diff = parseDiff((text ?? '').slice(0, DIFF_BYTES_MAX), LINES_MAX)
      return { ...diff, isCut: diff.isCut || isCut }
    }
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of await readDiff(git, path, input)) {
      chunks.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes > DIFF_BYTES_MAX) break
    }
    const diff = parseDiff(Buffer.concat(chunks).toString(), LINES_MAX)
    return { ...diff, isCut: diff.isCut || bytes > DIFF_BYTES_MAX }
  } catch (error) {
    if (isFailure(error, 'payload_too_large')) return undefined
    throw error
  }
}

/** Renders the changed files with their lines. */
export function Diff({ diff }: { readonly diff: ShownDiff | undefined }): JSX.Element {
  if (diff === undefined) {
    return (
      <p class="notice">
        Too many files changed to show them. Clone the repository to see all changes.
      </p>
    )
  }
  const { files, isCut } = diff
  return (
    <section>
      <h3>{files.length === 1 ? '1 file changed' : `${files.length} files changed`}</h3>
      {files.map(({ name, lines }) => (
        <details class="diff" open={true}>
          <summary>
            <Shown text={name} />
          </summary>
          <pre tabindex={0}>
            {lines.map(({ kind, text }) => (
              <code class={kind}>
                <Shown text={text} />
                {'\n'}
              </code>
            ))}
          </pre>
        </details>
      ))}
      {isCut && (
        <p class="notice">
          The diff is too long to show all of it. Clone the repository to see it.
        </p>
      )}
    </section>
  )
}
