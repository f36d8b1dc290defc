/** Review comments on lines of a diff, each with the part of the diff that shows its line. */

import { type Static, Type } from 'typebox'
import type { CommitRange } from '../../../cgi/objects/commit-range.js'
import { readFileDiff } from '../../../cgi/objects/diff.js'
import type { Git } from '../../../cgi/process/git.js'
import { Failure } from '../../../conf/failures.js'
import type { NewReviewComment } from '../../../sql/pulls/reviews.js'

export const REVIEW_COMMENT_OPTION = Type.Object(
  {
    path: Type.Optional(Type.String({ maxLength: 4_096 })),
    body: Type.Optional(Type.String()),
    new_position: Type.Optional(Type.Integer({ minimum: 0 })),
    old_position: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { $id: 'CreatePullReviewComment' },
)

export interface NewCommentsInput {
  readonly range: CommitRange
  readonly wanted: readonly Static<typeof REVIEW_COMMENT_OPTION>[]
}

/**
 * Returns the comments with their parts of the diff. Throws `invalid` if a comment names no file.
 */
export async function newComments(
  git: Git,
  path: string,
  { range, wanted }: NewCommentsInput,
): Promise<readonly NewReviewComment[]> {
  const comments: NewReviewComment[] = []
  const diffs = new Map<string, string>()
  for (const { path: file = '', body = '', new_position = 0, old_position = 0 } of wanted) {
    if (file === '' || file.includes('\0')) throw new Failure('invalid', '[Path]: Required')
    const line = new_position > 0 ? new_position : -old_position
    const diff = diffs.get(file) ?? (await readFileDiff(git, path, { ...range, file })) ?? ''
    diffs.set(file, diff)
    comments.push({
      path: file,
      line,
      content: body,
      commitId: range.to,
      diffHunk: hunkOf(diff, line),
    })
  }
  return comments
}

/** Maximum number of diff lines that are shown, including the commented line. */
const LINES_SHOWN_MAX = 4

/**
 * Returns a line of a diff with its hunk's header and the lines above it, or an empty string if the
 * diff does not show the line. A negative number is a line of the old file.
 */
export function hunkOf(diff: string, line: number): string {
  let head = ''
  let [oldLine, newLine] = [0, 0]
  let shown: string[] = []
  for (const text of diff.split('\n')) {
    const match = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (match !== null) {
      head = text
      shown = []
      oldLine = Number(match[1]) - 1
      newLine = Number(match[2]) - 1
      continue
    }
    if (head === '' || text === '' || text.startsWith('\\')) continue
    const [isOld, isNew] = [!text.startsWith('+'), !text.startsWith('-')]
    if (isOld) oldLine += 1
    if (isNew) newLine += 1
    shown = [...shown.slice(-LINES_SHOWN_MAX + 1), text]
    if (line > 0 ? isNew && newLine === line : isOld && line < 0 && oldLine === -line) {
      return [head, ...shown].join('\n')
    }
  }
  return ''
}
