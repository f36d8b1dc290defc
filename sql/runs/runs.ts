/** Workflow runs: one for each workflow that an event starts. */

import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { cut, NAME_CHARACTERS_MAX } from './cut.js'
import {
  type Concurrency,
  columnsOf,
  MEMBERSHIP,
  type Membership,
  type MembershipRow,
  membershipOf,
} from './groups.js'
import { addPlan } from './job-plans.js'
import { insertJobs, type NewJob } from './run-jobs.js'
import { isFinal, type RunStatus } from './statuses.js'

export interface Run {
  readonly id: number
  readonly repositoryId: number
  /** Number within the repository. */
  readonly number: number
  /** Name of the workflow's file, without its folder. */
  readonly workflowFile: string
  readonly workflowName: string
  /** First line of the commit's message, or title of the pull request. */
  readonly title: string
  readonly event: string
  /** Full name of the ref. */
  readonly reference: string
  readonly commitId: string
  /** Commit of the commit statuses; for a pull request its head. */
  readonly reportedCommitId: string
  /** The pull request that has started the run; undefined for other events. */
  readonly pull: RunPull | undefined
  /** True if the commit is of a fork: the jobs get no secrets and write nothing. */
  readonly isFromFork: boolean
  /** True until a user who may write to the repository approves the run. */
  readonly needsApproval: boolean
  /** Undefined if the account was deleted. */
  readonly actorId: number | undefined
  /** Number of the newest attempt; the first one has 1. */
  readonly attempt: number
  /** User who asked for the newest attempt; undefined for the first one. */
  readonly rerunActorId: number | undefined
  /** Concurrency group of the run; undefined if the file names none. */
  readonly membership: Membership | undefined
  readonly status: RunStatus
  /** Reason why the file cannot be read and there are no jobs; empty if it can. */
  readonly fault: string
  /** Number of runs before this one, each started by a change of the one before. */
  readonly chainDepth: number
  readonly createdAtMs: number
  readonly startedAtMs: number | undefined
  readonly stoppedAtMs: number | undefined
}

/** A pull request, with the names of its branches. */
export interface RunPull {
  readonly number: number
  readonly head: string
  readonly base: string
}

export interface NewRun
  extends Omit<
    Run,
    | 'id'
    | 'number'
    | 'attempt'
    | 'rerunActorId'
    | 'membership'
    | 'status'
    | 'chainDepth'
    | 'createdAtMs'
    | 'startedAtMs'
    | 'stoppedAtMs'
  > {
  /** Number of runs before this one; by default none. */
  readonly chainDepth?: number
  /** Key of the event. */
  readonly eventKey: string
  /** Payload of the event as JSON. */
  readonly payload: string
  /** Values of the inputs of a dispatch, as JSON; absent for other events. */
  readonly inputs?: string | undefined
  /** Text of the workflow file, from which deferred jobs are planned. */
  readonly text: string
  readonly concurrency: Concurrency | undefined
  readonly jobs: readonly NewJob[]
}

/** Maximum number of characters of a fault: it may name a key of any length. */
const SENTENCE_CHARACTERS_MAX = 2_000

/**
 * Creates a run with the next number of its repository, with its jobs. Returns undefined if the
 * event has started this workflow before, or if the repository does not exist.
 */
export async function createRun(db: Database, run: NewRun): Promise<Run | undefined> {
  try {
    return await transaction(db, (trx) => insertRun(trx, run))
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
}

async function insertRun(trx: Database, run: NewRun): Promise<Run | undefined> {
  const { repositoryId } = run
  // The lock excludes other callers, so that no number is given twice.
  const repository = await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
  if (repository === undefined) return undefined
  const [last] = await selectRows<{ number: number | null }>(
    trx,
    `select max(n.number) as number from (
      select max(r.number) as number from workflow_runs r where r.repository_id = ?
      union all select d.number from workflow_numbers d where d.repository_id = ?) as n`,
    [repositoryId, repositoryId],
  )
  const nowMs = Date.now()
  const isFaulty = run.fault !== ''
  const [id] = await trx('workflow_runs').insert({
    repository_id: repositoryId,
    number: (last?.number ?? 0) + 1,
    event_key: run.eventKey,
    workflow_file: run.workflowFile,
    workflow_name: cut(run.workflowName, NAME_CHARACTERS_MAX),
    title: cut(run.title, NAME_CHARACTERS_MAX),
    event: run.event,
    payload: run.payload,
    inputs: run.inputs ?? null,
    ref: run.reference,
    commit_id: run.commitId,
    reported_commit_id: run.reportedCommitId === run.commitId ? null : run.reportedCommitId,
    pull_number: run.pull?.number ?? null,
    head_ref: run.pull?.head ?? '',
    base_ref: run.pull?.base ?? '',
    is_from_fork: run.isFromFork,
    needs_approval: run.needsApproval && !isFaulty,
    actor_id: run.actorId ?? null,
    ...columnsOf(run.concurrency),
    status: isFaulty ? 'failure' : 'waiting',
    fault: cut(run.fault, SENTENCE_CHARACTERS_MAX),
    chain_depth: run.chainDepth ?? 0,
    created_at: nowMs,
    started_at: null,
    stopped_at: isFaulty ? nowMs : null,
  })
  if (id === undefined) throw new Error('The insert returned no id.')
  const planId = run.jobs.some((job) => job.isDeferred)
    ? await addPlan(trx, { runId: id, text: run.text, call: undefined })
    : undefined
  await insertJobs(trx, { runId: id, attempt: 1, position: 0, planId }, run.jobs)
  const [created] = await selectRuns(trx, 'r.id = ?', [id])
  return created
}

/** Returns the run of a repository with this number. */
export async function findRun(
  db: Database,
  repositoryId: number,
  number: number,
): Promise<Run | undefined> {
  const [run] = await selectRuns(db, 'r.repository_id = ? and r.number = ?', [repositoryId, number])
  return run
}

/** Returns a run by its id. */
export async function findRunById(db: Database, id: number): Promise<Run | undefined> {
  const [run] = await selectRuns(db, 'r.id = ?', [id])
  return run
}

/**
 * Returns a run, and excludes other callers until the transaction ends; undefined if it was
 * deleted.
 */
export async function lockRun(trx: Database, id: number): Promise<Run | undefined> {
  const row = await trx('workflow_runs').where({ id }).forUpdate().first('id')
  return row === undefined ? undefined : await findRunById(trx, id)
}

/** Returns the payload of a run's event, as JSON. */
export async function findRunPayload(db: Database, id: number): Promise<string> {
  const row: { payload: string } | undefined = await db('workflow_runs')
    .where({ id })
    .first('payload')
  return row?.payload ?? '{}'
}

/** Returns the values of the inputs of a run, as JSON. */
export async function findRunInputs(db: Database, id: number): Promise<string> {
  const row: { inputs: string | null } | undefined = await db('workflow_runs')
    .where({ id })
    .first('inputs')
  return row?.inputs ?? '{}'
}

/** Conditions of a list of runs; absent ones match every run. */
export interface RunFilter {
  readonly event?: string | undefined
  /** Full name of the ref. */
  readonly reference?: string | undefined
  readonly statuses?: readonly RunStatus[] | undefined
  readonly actorId?: number | undefined
  readonly commitId?: string | undefined
}

export interface RunPage extends Page {
  readonly filter?: RunFilter
}

/** Returns the runs of a repository that match the filter, newest first. */
export async function listRuns(
  db: Database,
  repositoryId: number,
  { filter = {}, ...page }: RunPage,
): Promise<Paged<Run>> {
  const [text, values] = filterOf(filter)
  const condition = `r.repository_id = ? and ${text}`
  const bindings = [repositoryId, ...values]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from workflow_runs r where ${condition}`,
    bindings,
  )
  // The page is selected by the index alone, because rows contain the payload of their event.
  const entries = await selectRuns(
    db,
    `r.id in (select p.id from (select r.id from workflow_runs r where ${condition}
      order by r.number desc limit ? offset ?) as p) order by r.number desc`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries, total: Number(count?.total ?? 0) }
}

/** Returns the condition of a filter for the runs `r`, with its bindings. */
export function filterOf({
  event,
  reference,
  statuses,
  actorId,
  commitId,
}: RunFilter): readonly [condition: string, bindings: readonly (string | number)[]] {
  const places = statuses?.map(() => '?').join(', ')
  const conditions = [
    ['r.event = ?', event],
    ['r.ref = ?', reference],
    [`r.status in (${places})`, statuses],
    ['r.actor_id = ?', actorId],
    ['r.commit_id = ?', commitId],
  ] as const
  const used = conditions.filter(([, value]) => value !== undefined)
  const texts = ['1 = 1', ...used.map(([text]) => text)]
  return [texts.join(' and '), used.flatMap(([, value]) => value ?? [])]
}

/** Runs of a repository of which no job has begun. */
export interface WaitingRuns {
  readonly repositoryId: number
  /** True for runs that wait for approval, false for those that wait for a runner. */
  readonly needsApproval: boolean
}

/** Returns the number of runs that wait, up to `limit`. */
export async function countWaitingRuns(
  db: Database,
  { repositoryId, needsApproval }: WaitingRuns,
  limit: number,
): Promise<number> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select r.id from workflow_runs r where r.repository_id = ?
      and r.status in ('waiting', 'blocked') and r.needs_approval = ? limit ?`,
    [repositoryId, needsApproval ? 1 : 0, limit],
  )
  return rows.length
}

/** Returns the runs of a pull request that wait for approval. */
export async function listUnapprovedRuns(
  db: Database,
  repositoryId: number,
  pullNumber: number,
): Promise<readonly Run[]> {
  return await selectRuns(
    db,
    `r.repository_id = ? and r.status in ('waiting', 'blocked') and r.needs_approval = 1
      and r.pull_number = ?`,
    [repositoryId, pullNumber],
  )
}

/** Approves a run. Returns false if it does not wait for approval. */
export async function approve(db: Database, id: number): Promise<boolean> {
  const changed = await db('workflow_runs')
    .where({ id, needs_approval: true })
    .update({ needs_approval: false })
  return changed > 0
}

/** Sets the status of a run, and the times that follow from it. */
export async function updateRunStatus(
  db: Database,
  { id, startedAtMs, stoppedAtMs }: Run,
  status: RunStatus,
): Promise<void> {
  const nowMs = Date.now()
  const isStarted = status === 'running' || status === 'cancelling'
  await db('workflow_runs')
    .where({ id })
    .update({
      status,
      started_at: startedAtMs ?? (isStarted ? nowMs : null),
      stopped_at: isFinal(status) ? (stoppedAtMs ?? nowMs) : null,
    })
}

const SELECT = `select ${MEMBERSHIP.map((name) => `r.${name}`).join()}, r.id, r.repository_id, r.number, r.workflow_file, r.workflow_name, r.title,
  r.event, r.ref, r.commit_id, r.reported_commit_id, r.pull_number, r.head_ref, r.base_ref,
  r.is_from_fork, r.needs_approval, r.actor_id, r.attempt, r.rerun_actor_id, r.status, r.fault,
  r.chain_depth, r.created_at, r.started_at, r.stopped_at from workflow_runs r where`

/** Returns the runs `r` of a condition, which may end with an order. */
export async function selectRuns(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Run[]> {
  return (await selectRows<RunRow>(db, `${SELECT} ${condition}`, bindings)).map(runOf)
}

interface RunRow extends MembershipRow {
  readonly id: number
  readonly repository_id: number
  readonly number: number
  readonly workflow_file: string
  readonly workflow_name: string
  readonly title: string
  readonly event: string
  readonly ref: string
  readonly commit_id: string
  readonly reported_commit_id: string | null
  readonly pull_number: number | null
  readonly head_ref: string
  readonly base_ref: string
  readonly is_from_fork: number
  readonly needs_approval: number
  readonly actor_id: number | null
  readonly attempt: number
  readonly rerun_actor_id: number | null
  readonly status: RunStatus
  readonly fault: string
  readonly chain_depth: number
  readonly created_at: number
  readonly started_at: number | null
  readonly stopped_at: number | null
}

function runOf(row: RunRow): Run {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    number: row.number,
    workflowFile: row.workflow_file,
    workflowName: row.workflow_name,
    title: row.title,
    event: row.event,
    reference: row.ref,
    commitId: row.commit_id,
    reportedCommitId: row.reported_commit_id ?? row.commit_id,
    pull:
      row.pull_number === null
        ? undefined
        : { number: row.pull_number, head: row.head_ref, base: row.base_ref },
    isFromFork: row.is_from_fork === 1,
    needsApproval: row.needs_approval === 1,
    actorId: row.actor_id ?? undefined,
    attempt: row.attempt,
    rerunActorId: row.rerun_actor_id ?? undefined,
    membership: membershipOf(row),
    status: row.status,
    fault: row.fault,
    chainDepth: row.chain_depth,
    createdAtMs: row.created_at,
    startedAtMs: row.started_at ?? undefined,
    stoppedAtMs: row.stopped_at ?? undefined,
  }
}
