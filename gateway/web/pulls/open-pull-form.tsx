/** Form that opens a pull request, or the reason why there is none. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isServed } from '../../actions/issues/issue-access.js'
import type { Context } from '../../request/context.js'
import { firstLineOf } from '../code/folder.js'
import { comparisonPath, repositoryUrl } from '../kit/links.js'
import { fieldOf, multilineField } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { signInAddress } from '../kit/surface.js'

export interface OpenPullFormProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly base: string
  /** Head branch; `owner/repo:branch` if it is in another repository. */
  readonly head: string
  readonly commits: readonly Commit[]
  /** Number of the open pull request of these branches. */
  readonly openNumber: number | undefined
  /** Form as sent, if it was rejected. */
  readonly form?: URLSearchParams | undefined
  readonly error?: string | undefined
}

/** Renders the form; null if pull requests are disabled in the repository. */
export function OpenPullForm(props: OpenPullFormProps): JSX.Element | null {
  const { context, grant, base, head, commits, openNumber, form, error } = props
  const { modes, repository, user } = grant
  const address = repositoryUrl(context, grant)
  const here = `${address}/compare/${comparisonPath(base, head)}`
  if (!isServed(repository, { isPull: true }) || modes.pulls === 'none') return null
  if (openNumber !== undefined) {
    return (
      <p class="notice">
        There is already a pull request for these branches:{' '}
        <a href={`${address}/pulls/${openNumber}`}>{`#${openNumber}`}</a>
      </p>
    )
  }
  if (repository.isArchived) {
    return <p class="notice">The repository is archived and cannot be changed.</p>
  }
  if (user === undefined) {
    const path = here.slice(context.settings.http.basePath.length)
    return (
      <p class="notice">
        <a href={signInAddress(context, path)}>Sign in</a> to open a pull request.
      </p>
    )
  }
  const sent = form ?? new URLSearchParams({ title: usualTitle(commits, head) })
  return (
    <form method="post" action={here}>
      <ErrorMessage error={error} />
      <label for="title">Title</label>
      <input
        type="text"
        id="title"
        name="title"
        required={true}
        maxlength={255}
        value={fieldOf(sent, 'title')}
      />
      <label for="content">Description (Markdown)</label>
      <textarea id="content" name="content" rows={8}>
        {multilineField(sent, 'content')}
      </textarea>
      <button type="submit">Open the pull request</button>
    </form>
  )
}

/** Returns the title of the only commit, or the name of the branch if there are several. */
function usualTitle(commits: readonly Commit[], head: string): string {
  const [only, ...more] = commits
  return only === undefined || more.length > 0 ? head : firstLineOf(only.message)
}
