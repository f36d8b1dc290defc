/** Workflows of the default branch over the API: list, read, enable, disable. */

import { Type } from 'typebox'
import { WORKFLOW_FOLDER } from '../../../conf/workflow-folder.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { disableWorkflow, enableWorkflow } from '../../../sql/runs/workflow-switches.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { runUrls } from '../../objects/runs/run-words.js'
import { WORKFLOW, WORKFLOWS, workflowObject } from '../../objects/runs/workflow-object.js'
import type { Context } from '../../request/context.js'
import { dispatchRun } from '../../runs/dispatch-run.js'
import { findWorkflow, type ListedWorkflow, listWorkflows } from '../../runs/list-workflows.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const PATH = '/repos/{owner}/{repo}/actions/workflows'
const PARAMS = { ...REPOSITORY_PARAMS, workflow_id: 'name of the file' }
const READING = {
  method: 'GET',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'actions' },
  scopes: ['read:repository'],
  query: NO_QUERY,
  failures: [404],
} as const

function objectOf(context: Context, repository: Repository, workflow: ListedWorkflow) {
  const path = `${WORKFLOW_FOLDER}/${workflow.file}`
  return workflowObject(context, repository, { ...workflow, path })
}

const list = defineOperation({
  id: 'ActionsListRepositoryWorkflows',
  path: PATH,
  summary: 'List repository workflows',
  ...READING,
  params: REPOSITORY_PARAMS,
  success: { status: 200, schema: WORKFLOWS },
  async handle(context, { grant: { repository } }) {
    refuseWithoutActions(context, repository)
    const all = await listWorkflows(context, repository)
    const workflows = all.map((workflow) => objectOf(context, repository, workflow))
    return jsonReply(200, { total_count: workflows.length, workflows })
  },
})

const get = defineOperation({
  id: 'ActionsGetWorkflow',
  path: `${PATH}/{workflow_id}`,
  summary: 'Get a workflow',
  ...READING,
  params: PARAMS,
  success: { status: 200, schema: WORKFLOW },
  async handle(context, { grant: { repository }, params }) {
    refuseWithoutActions(context, repository)
    const workflow = await findWorkflow(context, repository, params['workflow_id'] ?? '')
    return jsonReply(200, objectOf(context, repository, workflow))
  },
})

interface Switch {
  readonly id: string
  readonly word: 'enable' | 'disable'
  readonly change: typeof enableWorkflow
}

function switching({ id, word, change }: Switch): AnyOperation {
  return defineOperation({
    id,
    method: 'PUT',
    path: `${PATH}/{workflow_id}/${word}`,
    summary: `${word === 'enable' ? 'Enable' : 'Disable'} a workflow`,
    tags: ['repository'],
    access: { kind: 'repository', mode: 'write', area: 'actions' },
    scopes: ['write:repository'],
    params: PARAMS,
    query: NO_QUERY,
    success: { status: 204, schema: null },
    failures: [403, 404],
    async handle(context, { grant: { repository }, params }) {
      refuseWithoutActions(context, repository)
      const { file } = await findWorkflow(context, repository, params['workflow_id'] ?? '')
      await change(context.db, { repositoryId: repository.id, file })
      return { status: 204 }
    },
  })
}

const dispatch = defineOperation({
  id: 'ActionsDispatchWorkflow',
  method: 'POST',
  path: `${PATH}/{workflow_id}/dispatches`,
  summary: 'Create a workflow dispatch event',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', area: 'actions' },
  scopes: ['write:repository'],
  params: PARAMS,
  query: Type.Object({
    return_run_details: Type.Optional(
      Type.Boolean({ description: 'answer with the run and status 200' }),
    ),
  }),
  body: Type.Object(
    {
      ref: Type.String({ minLength: 1, description: 'name of a branch or tag' }),
      inputs: Type.Optional(
        Type.Unsafe<Readonly<Record<string, string>>>(
          Type.Object({}, { additionalProperties: Type.String() }),
        ),
      ),
    },
    { $id: 'CreateActionWorkflowDispatch' },
  ),
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant, params, query, body }) {
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const run = await dispatchRun(context, {
      repository,
      user: actingUserOf(grant),
      file: params['workflow_id'] ?? '',
      reference: body.ref,
      inputs: body.inputs ?? {},
    })
    if (query.return_run_details !== true) return { status: 204 }
    const { url, html_url } = runUrls(context, repository, run)
    return jsonReply(200, { workflow_run_id: run.id, run_url: url, html_url })
  },
})

export const WORKFLOW_OPERATIONS: readonly AnyOperation[] = [
  list,
  get,
  switching({ id: 'ActionsEnableWorkflow', word: 'enable', change: enableWorkflow }),
  switching({ id: 'ActionsDisableWorkflow', word: 'disable', change: disableWorkflow }),
  dispatch,
]
