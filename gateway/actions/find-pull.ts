/** Which pull request a request is about, as its repository has it now, and what it brings. */

import type { CommitRange } from '../../cgi/commit-range.js'
import type { PullState } from './refresh-pulls.js'

/** What a pull request would bring: from where the branches went apart to its head. */
export function rangeOf({ pull }: Pick<PullState, 'pull'>): CommitRange {
  return { from: pull.mergeBase, to: pull.headCommit }
}

/** `WIP:` or `[WIP]` before the title makes a draft of a pull request. */
export function isDraft(title: string): boolean {
  return /^(?:wip:|\[wip\])/i.test(title)
}
