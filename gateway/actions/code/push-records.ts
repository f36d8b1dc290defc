/** Records of pushes: a git hook writes the changed refs to a file, and they are published here. */

import { basename } from 'node:path'
import {
  type ChangeNote,
  listChangeNotes,
  prepareChangeNote,
  readChangeNote,
  removeChangeNote,
} from '../../../cgi/refs/pushed-changes.js'
import { CRASH_GRACE_MS } from '../../../conf/lib/disk.js'
import { findOwner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'

/** The record of one push: the configuration with which git writes it, and its publication. */
export interface PushRecord extends Pick<ChangeNote, 'config' | 'variables'> {
  /** Path of the record; undefined if no subscriber is interested. */
  readonly file: string | undefined
  /** Publishes the changes when git has ended. Never rejects; a failed attempt is repeated. */
  publish(): Promise<void>
}

const NO_RECORD: PushRecord = { file: undefined, config: [], variables: {}, async publish() {} }

/**
 * Prepares the record of a push, unless no subscriber is interested in the repository. Pushes to
 * wikis publish nothing, as in Gitea.
 */
export async function openPushRecord(
  context: Context,
  { repository, user }: { readonly repository: Repository; readonly user: User | undefined },
): Promise<PushRecord> {
  if (repository.isWiki) return NO_RECORD
  if (!(await context.events.isInterested({ kind: 'refs_changed', repository }))) return NO_RECORD
  const { git, settings } = context
  const label = `${repository.id}-${user?.name ?? ''}`
  const { file, config, variables } = await prepareChangeNote(git, settings.data.dir, label)
  return { file, config, variables, publish: () => publishRecord(context, file) }
}

/** Publishes a record under its file name as key: several processes may publish the same one. */
async function publishRecord(context: Context, file: string): Promise<void> {
  try {
    const written = await readChangeNote(file)
    if (written === undefined) return
    const [, repositoryId, name = ''] = /^(\d+)-(.*)-[0-9a-f]+$/.exec(basename(file)) ?? []
    const repository = await findRepositoryById(context.db, Number(repositoryId ?? 0))
    const pusher = name === '' ? undefined : await findOwner(context.db, name)
    if (repository !== undefined) {
      await context.events.record({
        kind: 'refs_changed',
        repository,
        pusher: pusher ?? repository.owner,
        changes: written.changes,
        key: basename(file),
      })
    }
    await removeChangeNote(file)
  } catch (error) {
    context.log.warn(
      { error, file },
      'the changes of a push were not published; they will be tried again',
    )
  }
}

/** Interval at which records that another process could not publish are published. */
const PUBLISH_EVERY_MS = 10_000

/** Publishes all unpublished records now, and later those that are old enough. */
export function publishLeftPushes(context: Context): { stop(): Promise<void> } {
  let running = publishAll(context, 0)
  const timer = setInterval(() => {
    running = running.then(() => publishAll(context, PUBLISH_EVERY_MS))
  }, PUBLISH_EVERY_MS).unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/**
 * Publishes the records that are at least `ageMsMin` old. An incomplete record may still be written
 * by git, so it is published only after CRASH_GRACE_MS.
 */
async function publishAll(context: Context, ageMsMin: number): Promise<void> {
  try {
    for (const file of await listChangeNotes(context.settings.data.dir)) {
      const written = await readChangeNote(file)
      if (written === undefined) continue
      const ageMs = Date.now() - written.writtenAtMs
      if (ageMs >= (written.isWhole ? ageMsMin : CRASH_GRACE_MS)) await publishRecord(context, file)
    }
  } catch (error) {
    context.log.warn({ error }, 'unpublished pushes cannot be listed')
  }
}
