/** Planning: reads the workflow files at the commit of an event, and creates the runs. */

import { parseCommit } from '../../cgi/objects/commit-object.js'
import { type ObjectReader, withObjects } from '../../cgi/objects/objects.js'
import { findEntry, readTree } from '../../cgi/objects/tree.js'
import { changedPaths } from '../../cgi/objects/tree-changes.js'
import { findOwnersById } from '../../sql/accounts/owners.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { findPushEvent, type PushEvent, removePushEvent } from '../../sql/runs/events.js'
import { countWaitingRuns, type NewRun } from '../../sql/runs/runs.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { pushPayload } from '../webhooks/push-payload.js'
import { startRun } from './change-run.js'
import { WORKFLOW_FOLDER } from './task-context.js'

/** Maximum number of workflow files; further ones, in the order of their names, start nothing. */
const FILES_MAX = 50
/** Maximum size of a file, for reading; the parser of workflows has the same. */
const FILE_BYTES_MAX = 524_288
/** Maximum number of changed entries that filters of paths are compared with. */
const CHANGED_ENTRIES_MAX = 10_000
/** Maximum number of characters of the payload of an event. */
const PAYLOAD_CHARACTERS_MAX = 1_048_576

/** A workflow file at the commit of an event. */
interface WorkflowFile {
  readonly name: string
  readonly id: string
  readonly text: string
}

/** The commit of an event, with the workflow files in it. */
interface PushedCommit {
  /** Differs from the new value of the ref if that is an annotated tag. */
  readonly commitId: string
  readonly message: string
  readonly files: readonly WorkflowFile[]
  /** Undefined if the changes are too many, or if the commit before is not known. */
  readonly changedPaths: readonly string[] | undefined
}

/**
 * Creates the runs of an event and removes the event. Has no effect if the event was planned
 * before; if it was interrupted, the runs that exist are not created again.
 */
export async function planEvent(context: Context, eventId: number): Promise<void> {
  const event = await findPushEvent(context.db, eventId)
  const repository = event && (await findRepositoryById(context.db, event.repositoryId))
  if (event === undefined) return
  if (repository !== undefined && hasActions(context, repository)) {
    const pushed = await readPushedCommit(context, repository, event)
    if (pushed !== undefined && !asksForNoRun(pushed.message)) {
      await startRuns(context, repository, { event, pushed })
    }
  }
  await removePushEvent(context.db, eventId)
}

/** True if a commit's message asks for no run. */
function asksForNoRun(message: string): boolean {
  return /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i.test(message)
}

/** Reads the commit and the files of an event; undefined if the commit no longer exists. */
async function readPushedCommit(
  context: Context,
  repository: Repository,
  { after, before }: PushEvent,
): Promise<PushedCommit | undefined> {
  const path = repositoryPathOf(context, repository)
  return await withObjects(context.git, path, async (objects) => {
    // An annotated tag names a commit.
    const object = await objects.read(`${after}^{commit}`)
    if (object?.type !== 'commit' || object.content === undefined) return undefined
    const { id: commitId, message, tree, parents } = parseCommit(object.id, object.content)
    const files = await readFiles(objects, tree)
    if (files.length === 0) return { commitId, message, files, changedPaths: undefined }
    const from = await treeOf(objects, before ?? parents[0])
    const isKnown = from !== undefined || (before ?? parents[0]) === undefined
    const budget = { entries: CHANGED_ENTRIES_MAX }
    const changes = isKnown
      ? await changedPaths(objects, { before: from, after: tree }, budget)
      : undefined
    return { commitId, message, files, changedPaths: changes?.map((change) => change.path) }
  })
}

async function treeOf(
  objects: ObjectReader,
  commitId: string | undefined,
): Promise<string | undefined> {
  const object = commitId === undefined ? undefined : await objects.read(`${commitId}^{commit}`)
  if (object?.type !== 'commit' || object.content === undefined) return undefined
  return parseCommit(object.id, object.content).tree
}

async function readFiles(objects: ObjectReader, treeId: string): Promise<readonly WorkflowFile[]> {
  const folder = await findEntry(objects, treeId, WORKFLOW_FOLDER.split('/'))
  if (folder?.kind !== 'directory') return []
  const entries = await readTree(objects, folder.id)
  const wanted = entries.filter(
    ({ kind, name }) =>
      kind === 'file' && /\.ya?ml$/.test(name) && name.length <= NAME_CHARACTERS_MAX,
  )
  const files: WorkflowFile[] = []
  for (const { name, id } of wanted.slice(0, FILES_MAX)) {
    const object = await objects.read(id, FILE_BYTES_MAX + 1)
    // A file that is too large is cut here, and refused by the parser for its length.
    const text = object?.content?.toString() ?? ' '.repeat(FILE_BYTES_MAX + 1)
    files.push({ name, id, text })
  }
  return files
}

interface Planned {
  readonly event: PushEvent
  readonly pushed: PushedCommit
}

async function startRuns(
  context: Context,
  repository: Repository,
  { event, pushed }: Planned,
): Promise<void> {
  let payload: string | undefined
  for (const file of pushed.files) {
    const plan = await planOf(context, repository, { file, event, pushed })
    if (plan === undefined) continue
    const { runsWaitingMax } = context.settings.actions
    if ((await countWaitingRuns(context.db, repository.id, runsWaitingMax)) === runsWaitingMax) {
      const place = `${repository.owner.name}/${repository.name}`
      context.log.warn({ repository: place }, 'an event starts no run, because too many runs wait')
      return
    }
    payload ??= await payloadOf(context, repository, event)
    const [title = ''] = pushed.message.split('\n')
    await startRun(context, repository, {
      repositoryId: repository.id,
      eventKey: event.key,
      workflowFile: file.name,
      title,
      event: 'push',
      payload,
      reference: event.reference,
      commitId: pushed.commitId,
      actorId: event.actorId,
      ...plan,
    })
  }
}

type Plan = Pick<NewRun, 'workflowName' | 'fault' | 'jobs'>

/** Returns the plan of a file; undefined if the event does not start its workflow. */
async function planOf(
  context: Context,
  repository: Repository,
  { file, event, pushed }: Planned & { readonly file: WorkflowFile },
): Promise<Plan | undefined> {
  const { reference } = event
  const { changedPaths } = pushed
  const occurrence = { event: 'push', reference, changedPaths } as const
  const input = { text: file.text, occurrence }
  const plan = await context.planFile(input, repository.owner.id)
  const shortName = file.name.replace(/\.ya?ml$/, '')
  switch (plan.kind) {
    case 'ignored':
      return undefined
    case 'planned':
      return { workflowName: plan.name ?? shortName, fault: '', jobs: plan.jobs }
    case 'faulty': {
      const path = `${WORKFLOW_FOLDER}/${file.name}`
      // If the events of a faulty file are not known, the pushes that change it report the fault.
      if (!plan.isStarted && changedPaths?.includes(path) === false) return undefined
      return { workflowName: shortName, fault: `${path}:${plan.fault}.`, jobs: [] }
    }
  }
}

/** Returns the payload of an event as JSON, without commits if it would be too long. */
async function payloadOf(
  context: Context,
  repository: Repository,
  { reference, before, after, actorId }: PushEvent,
): Promise<string> {
  const owners = await findOwnersById(context.db, actorId === undefined ? [] : [actorId])
  const pusher = owners.get(actorId ?? 0) ?? repository.owner
  const change = { name: reference, before, after }
  const payload = await pushPayload(context, { repository, pusher, change })
  const text = JSON.stringify(payload)
  if (text.length <= PAYLOAD_CHARACTERS_MAX) return text
  return JSON.stringify({ ...payload, commits: [], head_commit: null })
}
