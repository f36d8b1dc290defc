/** Changes of a restored database before its site starts. */

import type { Database } from '../database/database.js'
import { rebuildAllIndexes } from '../packages/package-indexes.js'

/** Numbers of credentials and permissions that the restored database has. */
export interface Revived {
  readonly tokens: number
  readonly sshKeys: number
  readonly deployKeys: number
  readonly collaborators: number
  readonly teamMembers: number
}

/**
 * Ends the sessions and the permissions of applications, releases the work of processes that no
 * longer run, and gives up deliveries. Raises all package indexes, because clients may have newer
 * ones than those of the backup. Returns the credentials that are valid again.
 */
export async function settleRestored(db: Database): Promise<Revived> {
  for (const table of ['holds', 'sessions', 'oauth_tokens', 'oauth_grants']) {
    await db(table).delete()
  }
  await db('jobs').update({ lease: null, leased_until: null, slot: null, again_after: null })
  await db('repository_imports').update({ leased_until: 0 })
  await db('webhook_deliveries').update({ next_at: null })
  await rebuildAllIndexes(db)
  const count = async (table: string) => {
    const [row] = await db(table).count({ rows: '*' })
    return Number(row?.['rows'] ?? 0)
  }
  return {
    tokens: await count('tokens'),
    sshKeys: await count('ssh_keys'),
    deployKeys: await count('deploy_keys'),
    collaborators: await count('collaborators'),
    teamMembers: await count('team_members'),
  }
}
