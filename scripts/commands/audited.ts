/** The entry of the audit log for the command of this process. */

import { userInfo } from 'node:os'
import { beginAuditEntry, cancelAuditEntry, completeAuditEntry } from '../../sql/admin/audit.js'
import type { Database } from '../../sql/database/database.js'

const NOUNS: ReadonlySet<string> = new Set(['user', 'token', 'repo', 'package', 'runner'])
/** Verbs of commands that only read. */
const READS: ReadonlySet<string> = new Set(['list', 'keys'])

interface CommandEntry {
  readonly action: string
  readonly subject: string
  readonly details: string
}

let waiting: CommandEntry | undefined

/** Describes the command of this process; `withCommandEntry` records it if it changes something. */
export function describeCommandEntry(
  words: readonly [noun: string, verb?: string],
  call: { readonly positionals: readonly string[]; readonly values: object },
): void {
  const [noun, verb = ''] = words
  if (!NOUNS.has(noun) || READS.has(verb)) return
  waiting = {
    action: `${noun === 'repo' ? 'repository' : noun}.${verb}`,
    subject: call.positionals.join(' '),
    details: Object.keys(call.values).join(', '),
  }
}

/** Runs `work` with the database. An entry of the command remains unless `work` throws. */
export async function withCommandEntry<T>(db: Database, work: () => Promise<T>): Promise<T> {
  if (waiting === undefined) return await work()
  const { action, subject, details } = waiting
  waiting = undefined
  const id = await beginAuditEntry(db, {
    action,
    subject,
    actorId: undefined,
    actorName: accountName(),
    credential: 'command line',
    ownerId: undefined,
  })
  try {
    const result = await work()
    await completeAuditEntry(db, id, details)
    return result
  } catch (error) {
    await cancelAuditEntry(db, id)
    throw error
  }
}

/** Returns the name of the account that runs the command; a container may have only its number. */
function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
