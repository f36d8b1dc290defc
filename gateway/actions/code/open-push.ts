/** Pushes by git over HTTPS or SSH: branch rules, journal, crash recovery, events. */

import type { GitSetting } from '../../../cgi/process/git.js'
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
}

/** Push in progress, from before git starts until git has ended. */
export interface OpenPush {
  /** Settings with which git runs the hooks in conf/git-hooks; `variables` are for the hooks. */
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
  /** Records git's process group in the journal. Must be called before git gets the first byte. */
  begin(groupId: number): Promise<void>
  /**
   * Removes the update list. Must be called when the refs are on disk, before the client gets the
   * end of the reply.
   */
  settle(): Promise<void>
  /** Publishes the changes. Must be called when git has ended; recovery handles a failed push. */
  end(outcome: 'ok' | 'failed'): Promise<void>
  /** Frees resources. Must be called last, even if git never started. Never rejects. */
  close(): Promise<void>
}

/** Prepares a push. Git may be started when the promise has settled. */
export async function openPush(context: Context, target: PushTarget): Promise<OpenPush> {
  const { repository, path, user, hasOneRef = false } = target
  const { git, journal, pushRecovery, settings } = context
  const record = await openPushRecord(context, { repository, user })
  const decision = await openPushDecisionRequest(context, { repository, path, pusher: user })
  const list = prepareUpdateList(git, settings.data.dir)
  const listConfig = hasOneRef ? [] : list.config
  let strike = async () => {}
  return {
    config: [...record.config, ...decision.config, ...listConfig],
    variables: { ...record.variables, ...decision.variables, ...list.variables },
    async begin(pid) {
      const updates = { file: list.file, changeNote: record.file }
      strike = await journal.record({ repositoryPath: path, pid, updates })
    },
    settle: () => settleUpdateList(list.file),
    async end(outcome) {
      if (outcome === 'failed') pushRecovery.recoverPushes()
      else await strike()
      // Changes that git has made are published even if git failed afterwards.
      await record.publish()
      if (outcome === 'ok') await applyPushEffects(context, repository, path)
    },
    close: () => decision.close(),
  }
}
