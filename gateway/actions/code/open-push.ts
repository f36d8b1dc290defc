/** Pushes by git over HTTPS or SSH: branch rules, journal, crash recovery, events. */

import type { GitSetting } from '../../../cgi/process/git.js'
import type { PushedChange } from '../../../cgi/refs/pushed-changes.js'
import { prepareUpdateList, settleUpdateList } from '../../../cgi/refs/update-list.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { openPushDecisionRequest } from './push-decision-requests.js'
import { applyPushEffects } from './push-effects.js'
import { openPushRecord } from './push-records.js'

export interface PushTarget {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
  /** Undefined for a deploy key. */
  readonly user: User | undefined
  /** True if the push has at most one ref, which git changes atomically: no update list. */
  readonly hasOneRef?: boolean
  /** The requested change of a push of one ref, if the caller reads git's report about it. */
  readonly change?: PushedChange | undefined
}

/**
 * Result of a push: `applied` also if git's hook has recorded which refs were refused, `unknown` if
 * git succeeded and its report was not read.
 */
export type PushOutcome = 'applied' | 'refused' | 'unknown' | 'failed'

/** Push in progress, from before git starts until git has ended. */
export interface OpenPush {
  /** The change that is published if it was applied; undefined if git's hook records it. */
  readonly change: PushedChange | undefined
  /** Settings with which git runs the hooks in conf/git-hooks; `variables` are for the hooks. */
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
  /**
   * Records the process group that applies the push in the journal, or this process. Must be called
   * before it writes into the repository.
   */
  begin(groupId: number): Promise<void>
  /** Removes what `begin` recorded, if nothing was changed. The push may begin again. */
  withdraw(): Promise<void>
  /**
   * Removes the update list. Must be called when the refs are on disk, before the client gets the
   * end of the reply.
   */
  settle(): Promise<void>
  /**
   * Publishes the changes. Must be called when git has ended. Recovery handles a push that failed
   * or whose result is unknown.
   */
  end(outcome: PushOutcome): Promise<void>
  /** Frees resources. Must be called last, even if git never started. Never rejects. */
  close(): Promise<void>
}

/** Prepares a push. Git may be started when the promise has settled. */
export async function openPush(context: Context, target: PushTarget): Promise<OpenPush> {
  const { repository, path, user, hasOneRef = false } = target
  const { git, journal, pushRecovery, settings } = context
  const decision = await openPushDecisionRequest(context, { repository, path, pusher: user })
  // Rules may refuse the push, and recovery must not take a requested change for a permitted one.
  const requested = decision.config.length === 0 ? target.change : undefined
  const record = await openPushRecord(context, { repository, user, change: requested })
  const { change } = record
  const list = prepareUpdateList(git, settings.data.dir)
  const listConfig = hasOneRef ? [] : list.config
  let strike = async () => {}
  return {
    change,
    config: [...record.config, ...decision.config, ...listConfig],
    variables: { ...record.variables, ...decision.variables, ...list.variables },
    async begin(pid) {
      const updates = { file: list.file, changeNote: record.file, change }
      strike = await journal.record({ repositoryPath: path, pid, updates })
    },
    withdraw: () => strike(),
    settle: () => settleUpdateList(list.file),
    async end(outcome) {
      const isKnown = outcome === 'applied' || outcome === 'refused'
      // Changes that a hook has recorded are published even if git failed afterwards. They are
      // published before the entry is removed, because without it a crash would lose a change that
      // only the entry names.
      if (outcome === 'applied' || change === undefined) await record.publish()
      if (isKnown) await strike()
      else pushRecovery.recoverPushes()
      if (outcome === 'applied' || outcome === 'unknown') {
        await applyPushEffects(context, repository, path)
      }
    },
    close: () => decision.close(),
  }
}
