/** Conversation of an issue or a pull request: description, comments, events, comment form. */

import type { Child, JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import type { Page } from '../../../sql/database/page.js'
import {
  attachmentsOfComments,
  attachmentsOfIssues,
  type IssueAttachment,
} from '../../../sql/issues/issue-attachments.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { listTimeline, type TimelineEntry } from '../../../sql/issues/timeline.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { mayChange, mayComment } from '../../actions/issues/issue-access.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { issueUrl } from '../kit/links.js'
import { Pager } from '../kit/pager.js'
import { Author } from '../kit/person.js'
import { ErrorMessage } from '../kit/problem.js'
import { signInAddress } from '../kit/surface.js'
import { Ago } from '../kit/times.js'
import { AttachedFiles } from './attached-files.js'
import { EventLine, type EventRows, readEventRows } from './event-line.js'
import { drawWritten, Written, type WrittenTexts } from './written.js'

/** Number of comments and events per page. */
export const ENTRIES_SHOWN = 50

export interface ShownConversation {
  readonly issue: Issue
  readonly entries: readonly TimelineEntry[]
  readonly total: number
  readonly rows: EventRows
  readonly files: readonly IssueAttachment[]
  readonly authors: ReadonlyMap<number, Owner>
  readonly drawn: WrittenTexts
  readonly page: Page
}

/** Level of the heading above the posts. */
const HEADINGS_BELOW = 2

/** Reads the comments and events of a page, with the rows that they refer to. */
export async function readConversation(
  context: Context,
  grant: RepositoryGrant,
  { issue, number }: { readonly issue: Issue; readonly number: number },
): Promise<ShownConversation> {
  const { db } = context
  const page = { page: number, limit: ENTRIES_SHOWN }
  const { entries, total } = await listTimeline(db, issue.id, { viewer: viewerOf(grant.who), page })
  const comments = entries.flatMap((entry) => (entry.kind === 'comment' ? [entry.comment] : []))
  const events = entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
  const commentIds = comments.map(({ id }) => id)
  const files = [
    ...(await attachmentsOfIssues(db, [issue.id])),
    ...(await attachmentsOfComments(db, commentIds)),
  ]
  const posts = [issue, ...comments]
  const authors = await findOwnersById(
    db,
    posts.flatMap(({ authorId }) => authorId ?? []),
  )
  const texts = posts.map(({ content }) => content)
  const drawn = await drawWritten(context, grant, { texts, headingsBelow: HEADINGS_BELOW })
  const rows = await readEventRows(context, grant, events)
  return { issue, entries, total, rows, files, authors, drawn, page }
}

export interface ConversationProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly conversation: ShownConversation
  /** Comment text as sent, if it was rejected. */
  readonly draft?: string | undefined
  readonly error?: string | undefined
  /** Content between the comments and the form. */
  readonly children?: Child
}

export function Conversation(props: ConversationProps): JSX.Element {
  const { context, grant, conversation, draft, error, children } = props
  const { issue, entries, total, rows, page } = conversation
  const shown = { context, grant, conversation }
  const address = issueUrl(context, grant, issue)
  return (
    <section class="conversation" aria-label="Conversation">
      <Post {...shown} post={issue} id={`issue-${issue.id}`} commentId={undefined} />
      {entries.map((entry) =>
        entry.kind === 'event' ? (
          <EventLine context={context} grant={grant} event={entry.event} rows={rows} />
        ) : (
          <Post
            {...shown}
            post={entry.comment}
            id={`issuecomment-${entry.comment.id}`}
            commentId={entry.comment.id}
          />
        ),
      )}
      <Pager address={address} page={page} total={total} isOldestFirst={true} />
      {children}
      <ErrorMessage error={error} />
      <CommentForm
        context={context}
        grant={grant}
        issue={issue}
        address={address}
        draft={draft ?? ''}
      />
    </section>
  )
}

interface PostProps extends Pick<ConversationProps, 'context' | 'grant' | 'conversation'> {
  readonly post: Pick<Issue, 'authorId' | 'originalAuthor' | 'content' | 'createdAtMs'>
  readonly id: string
  /** Undefined for the issue itself. */
  readonly commentId: number | undefined
}

function Post(props: PostProps): JSX.Element {
  const { context, grant, conversation, post, id, commentId } = props
  const { content, createdAtMs, originalAuthor } = post
  const { user: viewer } = grant
  const person = conversation.authors.get(post.authorId ?? 0)
  const base = context.settings.http.basePath
  return (
    <article class="post" id={id}>
      <p class="post-line">
        <Author base={base} person={person} viewer={viewer} original={originalAuthor} />{' '}
        <a href={`#${id}`}>
          <Ago atMs={createdAtMs} />
        </a>
      </p>
      {content === '' ? (
        <p class="empty">There is no description.</p>
      ) : (
        <Written text={content} drawn={conversation.drawn} />
      )}
      <AttachedFiles
        base={base}
        files={conversation.files.filter((file) => file.commentId === commentId)}
      />
    </article>
  )
}

interface CommentFormProps extends Pick<ConversationProps, 'context' | 'grant'> {
  readonly issue: Issue
  readonly address: string
  readonly draft: string
}

/** Renders the form, or the reason why there is none. */
function CommentForm({ context, grant, issue, address, draft }: CommentFormProps): JSX.Element {
  const { user, repository } = grant
  if (repository.isArchived) {
    return <p class="notice">The repository is archived and cannot be changed.</p>
  }
  if (user === undefined) {
    const path = address.slice(context.settings.http.basePath.length)
    return (
      <p class="notice">
        <a href={signInAddress(context, path)}>Sign in</a> to comment.
      </p>
    )
  }
  return (
    <form method="post" action={`${address}/comments`}>
      {mayComment(grant, issue) ? (
        <>
          <label for="content">Comment (Markdown)</label>
          <textarea id="content" name="content" rows={6} required={true}>
            {draft}
          </textarea>
          <button type="submit">Comment</button>
        </>
      ) : (
        <p class="notice">The conversation is locked: only users with write access can comment.</p>
      )}{' '}
      {mayChange(grant, issue) && <StateButton issue={issue} />}
    </form>
  )
}

/** Renders the button that closes or reopens; it also sends the comment in the form, if any. */
function StateButton({ issue }: { readonly issue: Issue }): JSX.Element {
  const isOpen = issue.state === 'open'
  return (
    <button
      type="submit"
      name="state"
      value={isOpen ? 'closed' : 'open'}
      class="secondary"
      formnovalidate={true}
    >
      {`${isOpen ? 'Close' : 'Reopen'} ${issue.isPull ? 'pull request' : 'issue'}`}
    </button>
  )
}
