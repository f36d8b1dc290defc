/** Entries of the audit log for commands on the server. */

import { userInfo } from 'node:os'
import { beginAuditEntry, cancelAuditEntry, completeAuditEntry } from '../../sql/admin/audit.js'
import { type Command, type CommandCall, withDatabase } from './command.js'

/** Verbs of commands that only read, or whose changes have their own entries. */
const UNRECORDED: ReadonlySet<string> = new Set([
  'list',
  'keys',
  'deliveries',
  'redeliver',
  'check',
])
const NOUNS: ReadonlySet<string> = new Set(['user', 'token', 'repo', 'package', 'runner'])
/** Commands of a machine that runs jobs, which has no database. */
const OF_RUNNERS: ReadonlySet<string> = new Set(['register', 'run'])

/** Runs a command. If it changes accounts, credentials or repositories, an entry records that. */
export async function runAudited(command: Command, call: CommandCall): Promise<void> {
  const [noun, verb = ''] = command.words
  const isRecorded = NOUNS.has(noun) && !UNRECORDED.has(verb) && !OF_RUNNERS.has(verb)
  if (!isRecorded) return command.run(call)
  const id = await withDatabase((db) =>
    beginAuditEntry(db, {
      action: `${noun === 'repo' ? 'repository' : noun}.${verb}`,
      actorId: undefined,
      actorName: userInfo().username,
      credential: 'command line',
      ownerId: undefined,
      subject: call.positionals.join(' '),
    }),
  )
  try {
    await command.run(call)
  } catch (error) {
    await withDatabase((db) => cancelAuditEntry(db, id))
    throw error
  }
  await withDatabase((db) => completeAuditEntry(db, id, Object.keys(call.values).join(', ')))
}
