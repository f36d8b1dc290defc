/** Records of pushes: publishes the changed refs, which the gateway or a hook of git knows. */

import { basename } from 'node:path'
import {
  type ChangeNote,
  chooseChangeNote,
  completeChangeNote,
  listChangeNotes,
  type PushedChange,
  prepareChangeNote,
  readChangeNote,
  removeChangeNote,
} from '../../../cgi/refs/pushed-changes.js'
import { CRASH_GRACE_MS } from '../../../conf/lib/disk.js'
import { findOwner, type Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import type { RefsChanged } from '../../request/events.js'

/** The record of one push: the configuration with which git writes it, and its publication. */
export interface PushRecord extends Pick<ChangeNote, 'config' | 'variables'> {
  /** Path of the record; undefined if no subscriber is interested. */
  readonly file: string | undefined
  /** The change that `publish` publishes; undefined if git's hook writes the record. */
  readonly change: PushedChange | undefined
  /**
   * Publishes the changes when git has ended. A failed attempt is repeated from the record. Rejects
   * if the record of a known change cannot be written; the journal then still names the change.
   */
  publish(): Promise<void>
}

const NO_RECORD: PushRecord = {
  file: undefined,
  change: undefined,
  config: [],
  variables: {},
  async publish() {},
}

/** A push whose changes are published. */
export interface PushToRecord {
  readonly repository: Repository
  /** Undefined for a deploy key. */
  readonly user: User | undefined
  /** The only change of the push; if it is undefined, a hook of git records the changes. */
  readonly change?: PushedChange | undefined
}

/**
 * Prepares the record of a push, unless no subscriber is interested in the repository. Pushes to
 * wikis publish nothing, as in Gitea.
 */
export async function openPushRecord(context: Context, push: PushToRecord): Promise<PushRecord> {
  const { repository, user, change } = push
  if (repository.isWiki) return NO_RECORD
  const { git, settings } = context
  const file = chooseChangeNote(settings.data.dir, `${repository.id}-${user?.name ?? ''}`)
  if (change !== undefined) {
    const publish = () => publishChange(context, file, { ...push, change })
    return { file, change, config: [], variables: {}, publish }
  }
  if (!(await context.events.isInterested({ kind: 'refs_changed', repository }))) return NO_RECORD
  const { config, variables } = await prepareChangeNote(git, file)
  return { file, change, config, variables, publish: () => publishRecord(context, file) }
}

/** Publishes a change that git has reported, or writes the record if that fails. */
async function publishChange(
  context: Context,
  file: string,
  { repository, user, change }: PushToRecord & { readonly change: PushedChange },
): Promise<void> {
  try {
    await publish(context, file, { repository, pusher: user, changes: [change] })
  } catch (error) {
    context.log.warn({ error, file }, NOT_PUBLISHED)
    await completeChangeNote(file, [change])
  }
}

const NOT_PUBLISHED = 'the changes of a push were not published; they will be tried again'

/** Publishes changes under the file name as key: several processes may publish the same ones. */
async function publish(
  { events }: Context,
  file: string,
  push: Pick<RefsChanged, 'repository' | 'changes'> & { readonly pusher: Owner | undefined },
): Promise<void> {
  const pusher = push.pusher ?? push.repository.owner
  await events.record({ kind: 'refs_changed', ...push, pusher, key: basename(file) })
}

/** Publishes a record that was written, and removes it. */
async function publishRecord(context: Context, file: string): Promise<void> {
  try {
    const written = await readChangeNote(file)
    if (written === undefined) return
    const [, repositoryId, name = ''] = /^(\d+)-(.*)-[0-9a-f]+$/.exec(basename(file)) ?? []
    const repository = await findRepositoryById(context.db, Number(repositoryId ?? 0))
    const pusher = name === '' ? undefined : await findOwner(context.db, name)
    const { changes } = written
    if (repository !== undefined) await publish(context, file, { repository, pusher, changes })
    await removeChangeNote(file)
  } catch (error) {
    context.log.warn({ error, file }, NOT_PUBLISHED)
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
      // The clock counts whole milliseconds, and the times of files have fractions of them.
      const ageMs = Math.max(0, Date.now() - written.writtenAtMs)
      if (ageMs >= (written.isWhole ? ageMsMin : CRASH_GRACE_MS)) await publishRecord(context, file)
    }
  } catch (error) {
    context.log.warn({ error }, 'unpublished pushes cannot be listed')
  }
}
