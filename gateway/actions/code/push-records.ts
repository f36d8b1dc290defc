/** Records of pushes: a git hook writes the changed refs to a file, and they are published here. */

import { basename } from 'node:path'
import {
  type ChangeNote,
  listChangeNotes,
  prepareChangeNote,
  readChangeNote,
  removeChangeNote,
} from '../../../cgi/refs/pushed-changes.js'
import { CRASH_GRACE_MS } from '../../../conf/limits.js'
import { findOwner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { hasSubscribers } from '../webhooks/events.js'
import { REFERENCE_EVENTS, recordReferenceEvents } from './reference-events.js'

/** The record of one push: the configuration with which git writes it, and its publication. */
export interface PushRecord extends Pick<ChangeNote, 'config' | 'variables'> {
  /** Path of the record; undefined if no subscriber is interested. */
  readonly file: string | undefined
  /** Never rejects: what cannot be told of now is told of later. */
  tell(): Promise<void>
}

const SILENCE: PushRecord = { file: undefined, config: [], variables: {}, async tell() {} }

/** Prepares the record of a push, unless no subscriber is interested in the repository. */
export async function openPushRecord(
  context: Context,
  { repository, user }: { readonly repository: Repository; readonly user: User | undefined },
): Promise<PushRecord> {
  if (!(await hasSubscribers(context, repository, REFERENCE_EVENTS))) return SILENCE
  const { git, settings } = context
  const label = `${repository.id}-${user?.name ?? ''}`
  const { file, config, variables } = await prepareChangeNote(git, settings.data.dir, label)
  return { file, config, variables, tell: () => notifyOfRecord(context, file) }
}

/** The key of its events is its own name, so that it may be told of twice and by several. */
async function notifyOfRecord(context: Context, file: string): Promise<void> {
  try {
    const written = await readChangeNote(file)
    if (written === undefined) return
    const [, repositoryId, name = ''] = /^(\d+)-(.*)-[0-9a-f]+$/.exec(basename(file)) ?? []
    const repository = await findRepositoryById(context.db, Number(repositoryId ?? 0))
    const pusher = name === '' ? undefined : await findOwner(context.db, name)
    const { changes } = written
    if (repository !== undefined) {
      const key = basename(file)
      await recordReferenceEvents(context, { repository, pusher, changes, key })
    }
    await removeChangeNote(file)
  } catch (error) {
    context.log.warn({ error, file }, 'webhooks were not told of a push yet')
  }
}

/** How often a process looks for what another one, or an earlier one, could not tell of. */
const LOOK_EVERY_MS = 10_000

/** Tells of what was left: at once of all that is there, then of what lies for longer. */
export function notifyOfUnfinishedPushes(context: Context): { stop(): Promise<void> } {
  let atWork = look(context, 0)
  const timer = setInterval(() => {
    atWork = atWork.then(() => look(context, LOOK_EVERY_MS))
  }, LOOK_EVERY_MS).unref()
  return {
    async stop() {
      clearInterval(timer)
      await atWork
    },
  }
}

/** One that is not whole is still being written, or its git was ended: after an hour it was. */
async function look(context: Context, ageMsMin: number): Promise<void> {
  try {
    for (const file of await listChangeNotes(context.settings.data.dir)) {
      const written = await readChangeNote(file)
      if (written === undefined) continue
      const ageMs = Date.now() - written.writtenAtMs
      if (ageMs >= (written.isWhole ? ageMsMin : CRASH_GRACE_MS))
        await notifyOfRecord(context, file)
    }
  } catch (error) {
    context.log.warn({ error }, 'pushes that nobody told of cannot be looked for')
  }
}
