/** Creation of issues. */

import { notFound } from '../../../conf/failures.js'
import { createIssue, type Issue, type NewIssue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { isServed, titleOf } from './issue-access.js'
import { issueChanged } from './issue-changed.js'
import { noteReferences } from './note-references.js'

/** Fields of a new issue. Callers check who can set milestone, labels and assignees. */
export type IssueInput = Omit<NewIssue, 'repositoryId' | 'isPull' | 'authorId'>

/** Creates an issue and publishes it. Throws `not_found` if issues are disabled, and `archived`. */
export async function openIssue(
  context: Context,
  grant: RepositoryGrant,
  input: IssueInput,
): Promise<Issue> {
  const { repository } = grant
  if (!isServed(repository, { isPull: false })) throw notFound()
  const actor = actingUserOf(grant)
  const issue = await createIssue(context.db, {
    ...input,
    title: titleOf(input.title),
    repositoryId: repository.id,
    isPull: false,
    authorId: actor.id,
  })
  await noteReferences(context, grant, { issue, text: `${issue.title}\n${issue.content}` })
  await issueChanged(context, { repository, issue, actor, actions: ['opened'] })
  return issue
}
