/** Gateways that the cases of a test file share: the threads of each take 0.2 s of CPU to start. */

import type { Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import type { Context } from '../../gateway/request/context.js'
import { freshLocation } from './databases.js'
import { type GatewayOptions, openContext } from './gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import { isFullSize } from './test-size.js'

export interface SharedGateway extends GatewayWithUsers {
  /** Opens the context of a second gateway on the same database and data, once for the file. */
  openContext(): Promise<Context>
}

type Case = (t: Test, gateway: SharedGateway) => Promise<void>

export interface SharedGateways {
  /** Runs the case on SQLite and on MariaDB. */
  forEachDatabase(name: string, test: Case): Promise<void>
  /**
   * Runs the case on the same database as the other such cases of the file, which the name of the
   * first one selects; at full size on both.
   */
  onOneDatabase(name: string, test: Case): Promise<void>
  /** Runs the case on SQLite. */
  onSqlite(name: string, test: Case): Promise<void>
}

/**
 * Returns functions that run the cases of a file. The gateway of each database is started by its
 * first case. Repositories, secrets and variables are deleted after each case.
 */
export function sharedGateways(
  file: Test,
  options: Omit<GatewayOptions, 'location'> = {},
): SharedGateways {
  let kindOfFile: DatabaseLocation['kind'] | undefined
  const started = new Map<DatabaseLocation['kind'], Promise<SharedGateway>>()
  const start = async (kind: DatabaseLocation['kind']): Promise<SharedGateway> => {
    const location = await freshLocation(file, kind)
    const gateway = await startGatewayWithUsers(file, { ...options, location })
    let opened: ReturnType<typeof openContext> | undefined
    return {
      ...gateway,
      async openContext() {
        opened ??= openContext(file, { location })
        return { ...(await opened).context, settings: gateway.settings }
      },
    }
  }
  const runOn = async (kind: DatabaseLocation['kind'], name: string, test: Case) => {
    await file.test(`${kind}: ${name}`, async (t) => {
      const starting = started.get(kind) ?? start(kind)
      started.set(kind, starting)
      const gateway = await starting
      t.teardown(() => emptyGateway(gateway))
      await test(t, gateway)
    })
  }
  const forEachDatabase: SharedGateways['forEachDatabase'] = async (name, test) => {
    for (const kind of ['sqlite', 'mysql'] as const) await runOn(kind, name, test)
  }
  return {
    forEachDatabase,
    async onOneDatabase(name, test) {
      kindOfFile ??= name.length % 2 === 0 ? 'sqlite' : 'mysql'
      if (isFullSize) await forEachDatabase(name, test)
      else await runOn(kindOfFile, name, test)
    },
    onSqlite: (name, test) => runOn('sqlite', name, test),
  }
}

async function emptyGateway({ as, db }: GatewayWithUsers): Promise<void> {
  const rows: readonly { owner: string; name: string }[] = await db('repositories as r')
    .join('owners as o', 'o.id', 'r.owner_id')
    .orderBy('r.id', 'desc')
    .select('o.name as owner', 'r.name as name')
  for (const { owner, name } of rows) {
    const { status, text } = await as('root', 'DELETE', `/repos/${owner}/${name}`)
    if (status !== 204) throw new Error(`${owner}/${name} was not deleted: ${text}`)
  }
  for (const table of ['workflow_secrets', 'workflow_variables']) await db(table).delete()
}
