/** Labels of an issue over the API: list, add, replace, remove. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import {
  addIssueLabels,
  removeIssueLabel,
  replaceIssueLabels,
} from '../../../sql/issues/issue-labels.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { findUsableLabels, labelsOfIssues } from '../../../sql/issues/labels.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueOf, numberOf } from '../../actions/issues/issue-access.js'
import { issueChanged } from '../../actions/issues/issue-changed.js'
import type { Grants } from '../../auth/authorize.js'
import { LABEL, labelObject } from '../../objects/issues/label-object.js'
import type { Context } from '../../request/context.js'
import type { IssueAction } from '../../request/events.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS } from './issue-params.js'

const PATH = '/repos/{owner}/{repo}/issues/{index}/labels'

const LABELS_MAX = 100

const ISSUE_LABELS_OPTION = Type.Object(
  {
    labels: Type.Optional(
      Type.Array(Type.Unsafe<unknown>({}), {
        description: 'ids or names of labels, also mixed',
        maxItems: LABELS_MAX,
      }),
    ),
  },
  { $id: 'IssueLabelsOption' },
)

const list = defineOperation({
  id: 'issueGetLabels',
  method: 'GET',
  path: PATH,
  summary: "Get an issue's labels",
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(LABEL) },
  failures: [404],
  async handle(context, { grant, params }) {
    return await labelsReply(context, grant, await issueOf(context, grant, params))
  },
})

async function labelsReply(context: Context, { repository }: Grants['repository'], issue: Issue) {
  const labels = (await labelsOfIssues(context.db, [issue.id])).get(issue.id) ?? []
  return jsonReply(
    200,
    labels.map((label) => labelObject(context, label, repository)),
  )
}

/** Defines the operation that adds or replaces labels, which `change` does. */
function defineChange(
  { id, method, summary }: { id: string; method: 'POST' | 'PUT'; summary: string },
  change: typeof addIssueLabels,
): AnyOperation {
  return defineOperation({
    id,
    method,
    path: PATH,
    summary,
    tags: ['issue'],
    access: { kind: 'repository', mode: 'write' },
    scopes: ['write:issue'],
    params: ISSUE_PARAMS,
    query: NO_QUERY,
    body: ISSUE_LABELS_OPTION,
    success: { status: 200, schema: Type.Array(LABEL) },
    failures: [403, 404, 422, 423],
    async handle(context, { grant, params, body }) {
      const issue = await issueOf(context, grant, params)
      const actorId = actingUserOf(grant).id
      await change(context.db, { ...issue, actorId }, namedLabels(body.labels))
      await labelsChanged(context, grant, { issue, action: 'label_updated' })
      return await labelsReply(context, grant, issue)
    },
  })
}

/**
 * Checks that each label is an id or a name, which Swagger 2.0 cannot express. Throws `invalid`.
 */
function namedLabels(labels: readonly unknown[] = []): readonly (number | string)[] {
  return labels.map((label) => {
    if (typeof label === 'string' || (typeof label === 'number' && Number.isSafeInteger(label))) {
      return label
    }
    throw new Failure('invalid', '[Labels]: a label must be an integer or a string')
  })
}

async function labelsChanged(
  context: Context,
  grant: Grants['repository'],
  { issue, action }: { readonly issue: Issue; readonly action: IssueAction },
): Promise<void> {
  const { repository } = grant
  await issueChanged(context, { repository, issue, actor: actingUserOf(grant), actions: [action] })
}

const add = defineChange(
  { id: 'issueAddLabel', method: 'POST', summary: 'Add a label to an issue' },
  addIssueLabels,
)

const replace = defineChange(
  { id: 'issueReplaceLabels', method: 'PUT', summary: "Replace an issue's labels" },
  replaceIssueLabels,
)

const remove = defineOperation({
  id: 'issueRemoveLabel',
  method: 'DELETE',
  path: `${PATH}/{id}`,
  summary: 'Remove a label from an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: { ...ISSUE_PARAMS, id: 'id of the label to remove' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    const actorId = actingUserOf(grant).id
    const labelId = numberOf(params, 'id')
    const [label] = await findUsableLabels(context.db, grant.repository.id, [labelId])
    if (label === undefined) throw new Failure('invalid', 'The label does not exist.')
    if (await removeIssueLabel(context.db, { id: issue.id, actorId }, labelId)) {
      await labelsChanged(context, grant, { issue, action: 'label_updated' })
    }
    return { status: 204 }
  },
})

const clear = defineOperation({
  id: 'issueClearLabels',
  method: 'DELETE',
  path: PATH,
  summary: 'Remove all labels from an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    const actorId = actingUserOf(grant).id
    await replaceIssueLabels(context.db, { ...issue, actorId }, [])
    await labelsChanged(context, grant, { issue, action: 'label_cleared' })
    return { status: 204 }
  },
})

export const ISSUE_LABEL_OPERATIONS: readonly AnyOperation[] = [list, add, replace, remove, clear]
