/** Merge section of a pull request: the merge form, or the reason why it cannot be merged. */

import type { JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import {
  allows,
  deletesBranch,
  findMergeObstacle,
  type MergeOptions,
} from '../../actions/pulls/merge-now.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import { findWritableHead } from '../../actions/pulls/writable-head.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { issueUrl, repositoryUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'

/** Labels of the merge methods. */
export const STYLES = {
  merge: 'Create a merge commit',
  squash: 'Squash into one commit',
  rebase: 'Rebase, without a merge commit',
  'rebase-merge': 'Rebase, then create a merge commit',
  'fast-forward-only': 'Fast-forward only',
} as const satisfies Partial<Record<MergeOptions['style'], string>>

export interface ShownMerge {
  /** Reason as the API reports it; undefined if the pull request can be merged. */
  readonly obstacle: string | undefined
  readonly mergedBy: Owner | undefined
  /** True if the viewer is permitted to delete the branch afterwards. */
  readonly mayDelete: boolean
}

/** Reads the merge state of a pull request. */
export async function readMerge(
  context: Context,
  grant: RepositoryGrant,
  state: PullState,
): Promise<ShownMerge> {
  const { pull, headTip } = state
  const mergedById = pull.mergedAtMs === undefined ? undefined : pull.mergedById
  const people = await findOwnersById(context.db, mergedById === undefined ? [] : [mergedById])
  const head = headTip === undefined ? undefined : await findWritableHead(context, grant, pull)
  return {
    obstacle: await findMergeObstacle(context, grant, state),
    mergedBy: people.get(mergedById ?? 0),
    mayDelete: head !== undefined && pull.headBranch !== head.repository.defaultBranch,
  }
}

export interface MergeBoxProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly state: PullState
  readonly merge: ShownMerge
}

/** Renders the section; null if the pull request was closed without a merge. */
export function MergeBox(props: MergeBoxProps): JSX.Element | null {
  const { context, grant, state, merge } = props
  const { issue, pull } = state
  const base = context.settings.http.basePath
  if (pull.mergedAtMs !== undefined) {
    return (
      <p class="notice">
        <Author base={base} viewer={grant.user} person={merge.mergedBy} /> merged this{' '}
        <Ago atMs={pull.mergedAtMs} /> as{' '}
        <a href={`${repositoryUrl(context, grant)}/commit/${pull.mergeCommit}`}>
          <code>{(pull.mergeCommit ?? '').slice(0, 10)}</code>
        </a>
      </p>
    )
  }
  if (issue.state === 'closed') return null
  return (
    <section>
      <h3>Merge</h3>
      {merge.obstacle === undefined ? (
        <MergeForm {...props} />
      ) : (
        <p class="notice">
          The pull request cannot be merged now. <Shown text={sentenceOf(merge.obstacle)} />
        </p>
      )}
    </section>
  )
}

function MergeForm({ context, grant, state, merge }: MergeBoxProps): JSX.Element {
  const { issue, pull, headTip } = state
  const { repository } = grant
  const usual = repository.preferences['default_merge_style'] ?? 'merge'
  const styles = Object.entries(STYLES).filter(([style]) =>
    allows(repository, style as keyof typeof STYLES),
  )
  return (
    <form method="post" action={`${issueUrl(context, grant, issue)}/merge`}>
      <p>The branches can be merged without a conflict.</p>
      <input type="hidden" name="head" value={headTip ?? pull.headCommit} />
      <label for="style">Merge method</label>
      <select id="style" name="style" required={true}>
        {styles.map(([style, word]) => (
          <option value={style} selected={style === usual}>
            {word}
          </option>
        ))}
      </select>
      <label for="merge-title">Title of the new commit (empty: default title)</label>
      <input type="text" id="merge-title" name="title" maxlength={10_000} />
      <label for="merge-message">Description</label>
      <textarea id="merge-message" name="message" rows={3} />
      {merge.mayDelete && (
        <label class="choice">
          <input type="checkbox" name="delete" checked={deletesBranch(repository, {})} /> Delete the
          branch after the merge
        </label>
      )}
      <button type="submit">Merge</button>
    </form>
  )
}

/** Messages for pages, by the message of the API. */
const SENTENCES: Readonly<Record<string, string>> = {
  'repo is archived': 'The repository is archived and cannot be changed.',
  'User not allowed to merge PR':
    'You are not permitted to merge into this branch. Users with write access can.',
  'Work in progress PRs cannot be merged': 'Its title marks it as work in progress.',
  'head out of date':
    'The branch has changed since you opened the page. Review the new commits, then merge.',
}

/** Returns the message for pages that corresponds to an error message of the API. */
export function sentenceOf(message: string): string {
  const [, reason] = /^not allowed to merge \[reason: (.*)\]$/s.exec(message) ?? []
  if (reason !== undefined) return `Branch protection prevents the merge: ${reason}.`
  return SENTENCES[message] ?? message
}
