/** List of issues or pull requests. */

import type { JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { type Label, labelsOfIssues } from '../../../sql/issues/labels.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { issueUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'
import { LabelName } from './label-name.js'

export interface ShownIssues {
  readonly issues: readonly Issue[]
  readonly labels: ReadonlyMap<number, readonly Label[]>
  readonly authors: ReadonlyMap<number, Owner>
}

/** Reads the labels and authors of the issues of a list. */
export async function readIssues({ db }: Context, issues: readonly Issue[]): Promise<ShownIssues> {
  const ids = issues.map(({ id }) => id)
  const authorIds = issues.flatMap(({ authorId }) => authorId ?? [])
  return {
    issues,
    labels: await labelsOfIssues(db, ids),
    authors: await findOwnersById(db, authorIds),
  }
}

export interface IssueListProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly shown: ShownIssues
}

/** Renders the list, or a sentence if it is empty. */
export function IssueList({ context, grant, shown }: IssueListProps): JSX.Element {
  if (shown.issues.length === 0) return <p class="empty">The list is empty.</p>
  const base = context.settings.http.basePath
  return (
    <ul class="list">
      {shown.issues.map((issue) => (
        <li>
          <div class="grow">
            <a class="strong" href={issueUrl(context, grant, issue)}>
              <Shown text={issue.title} />
            </a>{' '}
            {(shown.labels.get(issue.id) ?? []).map((label) => (
              <>
                <LabelName label={label} />{' '}
              </>
            ))}
            <p class="quiet">
              {`#${issue.number} by `}
              <Author
                base={base}
                viewer={grant.user}
                original={issue.originalAuthor}
                person={shown.authors.get(issue.authorId ?? 0)}
              />{' '}
              <Ago atMs={issue.createdAtMs} />
            </p>
          </div>
          <span class="quiet">
            {`${issue.commentsCount} ${issue.commentsCount === 1 ? 'comment' : 'comments'}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
