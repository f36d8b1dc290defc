/** One push by git, over HTTPS or SSH: branch rules, the journal, crash recovery, what follows. */

import type { GitSetting } from '../../../cgi/process/git.js'
import { prepareUpdateList, settleUpdateList } from '../../../cgi/refs/update-list.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { journalPush } from './journal-push.js'
import { openPushDecisionRequest } from './push-decision-requests.js'
import { openPushRecord } from './push-records.js'

export interface PushTarget {
  readonly repository: Repository
  /** The folder of the repository. */
  readonly path: string
  /** Undefined for a deploy key. */
  readonly user: User | undefined
  /** The push names one ref at most, which git changes at once: it needs no list of updates. */
  readonly hasOneRef?: boolean
}

/** A push from before git starts until git has ended. */
export interface OpenPush {
  /** Settings and variables for git, which make it run the hooks of conf/git-hooks. */
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
  /** Records git's process group in the journal. To be called before git gets the first byte. */
  begin(groupId: number): Promise<void>
  /** To be called when the refs are on the disk, before the client gets the end of the answer. */
  settle(): Promise<void>
  /** To be called when git has ended. A push that failed is left to recovery. */
  end(outcome: 'ok' | 'failed'): Promise<void>
  /** To be called last, also if git never started. Never rejects. */
  close(): Promise<void>
}

/** Prepares for a push; git may start then. */
export async function openPush(context: Context, target: PushTarget): Promise<OpenPush> {
  const { repository, path, user, hasOneRef = false } = target
  const { git, journal, pushRecovery, settings } = context
  const note = await openPushRecord(context, { repository, user })
  const question = await openPushDecisionRequest(context, { repository, path, pusher: user })
  const list = prepareUpdateList(git, settings.data.dir)
  const listConfig = hasOneRef ? [] : list.config
  let strike = async () => {}
  return {
    config: [...note.config, ...question.config, ...listConfig],
    variables: { ...note.variables, ...question.variables, ...list.variables },
    async begin(pid) {
      const updates = { file: list.file, changeNote: note.file }
      strike = await journal.record({ repositoryPath: path, pid, updates })
    },
    settle: () => settleUpdateList(list.file),
    async end(outcome) {
      if (outcome === 'failed') pushRecovery.recoverPushes()
      else await strike()
      // What is in the repository may be told of, also if git did not end well.
      await note.tell()
      if (outcome === 'ok') await journalPush(context, repository, path)
    },
    close: () => question.close(),
  }
}
