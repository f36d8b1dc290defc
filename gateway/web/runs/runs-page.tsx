/** Paginated list of the workflow runs of a repository, and its workflows. */

import { findOwnersById } from '../../../sql/accounts/owners.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { listWaitingLabels } from '../../../sql/runs/run-jobs.js'
import { countWaitingRuns, listRuns } from '../../../sql/runs/runs.js'
import { disableWorkflow, enableWorkflow } from '../../../sql/runs/workflow-switches.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { Shown } from '../../rendering/visible-text.js'
import { findWorkflow, listWorkflows } from '../../runs/list-workflows.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, fieldOf, pageNumber, readForm, redirectTo } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { findMissingLabels, MissingLabels } from './missing-labels.js'
import { RunFacts, titleOfRun } from './run-facts.js'
import { Status } from './run-status.js'
import { WorkflowList } from './workflow-list.js'

const LISTED = 20

/** Maximum number of label lists of waiting jobs that are compared with the runners. */
const LABEL_LISTS_MAX = 1_000

const show = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/actions',
  access: { kind: 'repository', mode: 'read', unit: 'actions' },
  async handle(context, { request, grant }) {
    const { db } = context
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listRuns(db, repository.id, page)
    const actorIds = entries.flatMap(({ actorId }) => actorId ?? [])
    const actors = await findOwnersById(db, actorIds)
    const waiting = await listWaitingLabels(db, repository.id, LABEL_LISTS_MAX)
    const missing = await findMissingLabels(context, repository, waiting)
    const workflows = await listWorkflows(context, repository)
    const isWriter = atLeast(grant.mode, 'write')
    const { runsWaitingMax } = context.settings.actions
    const unbegun = { repositoryId: repository.id, needsApproval: false }
    const isFull = (await countWaitingRuns(db, unbegun, runsWaitingMax)) === runsWaitingMax
    const address = `${repositoryUrl(context, grant)}/actions`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="actions" title="Actions">
        <h2>Workflow runs</h2>
        <MissingLabels lists={missing} />
        {isFull && (
          <p class="notice">
            {runsWaitingMax} runs wait for runners. Until one of them begins, events start no
            further runs.
          </p>
        )}
        <WorkflowList address={address} workflows={workflows} isWriter={isWriter} />
        {total === 0 && (
          <p class="empty">
            There are no runs yet. To start one, push a workflow file to the folder{' '}
            <code>.gitea/workflows</code>.
          </p>
        )}
        <ul class="list">
          {entries.map((run) => (
            <li>
              <div class="grow">
                <a class="strong" href={`${address}/runs/${run.number}`}>
                  <Shown text={titleOfRun(run)} />
                </a>
                <RunFacts context={context} grant={grant} run={run} actors={actors} />
              </div>
              <Status status={run.status} />
            </li>
          ))}
        </ul>
        <Pager address={address} page={page} total={total} />
      </RepositoryDocument>,
    )
  },
})

const switchWorkflow = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/actions/workflows',
  access: { kind: 'repository', mode: 'write', unit: 'actions' },
  async handle(context, { request, grant: { repository } }) {
    refuseWithoutActions(context, repository)
    const form = await readForm(request)
    const { file } = await findWorkflow(context, repository, form.get('file') ?? '')
    const change = fieldOf(form, 'disabled') === 'yes' ? disableWorkflow : enableWorkflow
    await change(context.db, { repositoryId: repository.id, file })
    return redirectTo(context, `/${repository.owner.name}/${repository.name}/actions`)
  },
})

export const RUNS_PAGES = [show, switchWorkflow]
