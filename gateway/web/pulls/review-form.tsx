/** Form for a review of a pull request. */

import type { JSX } from 'preact/jsx-runtime'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import type { Context } from '../../request/context.js'
import { issueUrl } from '../kit/links.js'
import { fieldOf, multilineField } from '../kit/page.js'

const VERDICTS = [
  ['COMMENT', 'Comment, without a verdict'],
  ['APPROVED', 'Approve the changes'],
  ['REQUEST_CHANGES', 'Request changes before the merge'],
] as const

export interface ReviewFormProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly state: PullState
  /** Form as sent, if it was rejected. */
  readonly form?: URLSearchParams | undefined
}

/**
 * Renders the form; null for anonymous visitors, for the author of the pull request, and if the
 * pull request is closed or the repository archived.
 */
export function ReviewForm(props: ReviewFormProps): JSX.Element | null {
  const { context, grant, state, form } = props
  const { issue, pull } = state
  const { user, repository } = grant
  if (user === undefined || user.id === issue.authorId || repository.isArchived) return null
  if (issue.state === 'closed') return null
  const sent = form ?? new URLSearchParams()
  const chosen = fieldOf(sent, 'event') || 'COMMENT'
  return (
    <section>
      <h3>Your review</h3>
      <form method="post" action={`${issueUrl(context, grant, issue)}/reviews`}>
        <input type="hidden" name="head" value={pull.headCommit} />
        <label for="content">Review text (Markdown)</label>
        <textarea id="content" name="content" rows={5}>
          {multilineField(sent, 'content')}
        </textarea>
        <fieldset>
          <legend>Verdict</legend>
          {VERDICTS.map(([event, sentence]) => (
            <label class="choice">
              <input type="radio" name="event" value={event} checked={event === chosen} />{' '}
              {sentence}
            </label>
          ))}
        </fieldset>
        <button type="submit">Submit review</button>
      </form>
    </section>
  )
}

/** Messages for pages, by the message of the API. */
const SENTENCES: Readonly<Record<string, string>> = {
  'commit_id is not the head of the pull request':
    'The branch has changed since you opened the page. Its current files are shown.',
  'review event COMMENT requires a body or a comment': 'Write a comment.',
  'review event REQUEST_CHANGES requires a body or a comment':
    'Describe the changes that you request.',
}

/** Returns the message for pages that corresponds to an error message of the API. */
export function reviewRefusal(message: string): string {
  return SENTENCES[message] ?? message
}
