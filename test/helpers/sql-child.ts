/** Separate processes that work on a database; `startSqlChild` starts one. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { createUser, recordSignIn } from '../../sql/accounts/users.js'
import { finishJob, leaseJob } from '../../sql/admin/jobs.js'
import { closeDatabase, openDatabase, transaction } from '../../sql/database/database.js'
import { selectRows } from '../../sql/database/dialect.js'
import { migrate } from '../../sql/database/migrate.js'

const TASKS = {
  async migrate(location: DatabaseLocation) {
    const db = await openDatabase({ location, connectionsMax: 2 })
    process.send?.('ready')
    const applied = await migrate(db)
    await closeDatabase(db)
    return applied.length
  },
  /** Writes in a loop, without transactions and within transactions that read first. */
  async write(location: DatabaseLocation, name: string) {
    const db = await openDatabase({ location, connectionsMax: 2 })
    process.send?.('ready')
    const user = { passwordHash: undefined, isAdmin: false }
    for (let index = 0; index < 40; index += 1) {
      const id = `${name}-${index}`
      const made = await createUser(db, { ...user, name: id, email: `${id}@example.test` })
      await recordSignIn(db, made.id, index)
      await transaction(db, async (trx) => {
        await trx('users').count('* as total')
        await trx('users').where({ owner_id: made.id }).update({ language: name })
      })
    }
    await closeDatabase(db)
    return 40
  },
  /** Leases and finishes jobs until there are none, as the machine with this name. */
  async work(location: DatabaseLocation, machine: string) {
    const db = await openDatabase({ location, connectionsMax: 2 })
    process.send?.('ready')
    let done = 0
    while ((await selectRows(db, 'select id from jobs limit 1')).length > 0) {
      const job = await leaseJob(db, { machine, jobsMax: 1, leaseMs: 60_000 })
      if (job === undefined) continue
      await finishJob(db, job)
      done += 1
    }
    await closeDatabase(db)
    return done
  },
} as const

export type SqlTask = keyof typeof TASKS

export interface SqlChild {
  readonly process: ChildProcess
  /** Resolves when the database is open and the task starts. */
  readonly ready: Promise<unknown>
  /** Result of the task. Rejects with the output if the process fails. */
  readonly result: Promise<number>
}

/** Starts a process that runs the task. */
export function startSqlChild(task: SqlTask, location: DatabaseLocation, name = ''): SqlChild {
  const url = location.kind === 'mysql' ? location.url.href : `sqlite:${location.file}`
  const child = fork(fileURLToPath(import.meta.url), [task, url, name], {
    silent: true,
    execArgv: [],
  })
  let output = ''
  let result = Number.NaN
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  child.on('message', (message) => {
    result = Number(message)
  })
  return {
    process: child,
    ready: once(child, 'message'),
    result: once(child, 'exit').then(([code, signal]) => {
      if (code === 0) return result
      throw new Error(`the process ended with ${code ?? signal}: ${output}`)
    }),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined) {
  const [, , task = '', url = '', name = ''] = process.argv
  const location: DatabaseLocation = url.startsWith('sqlite:')
    ? { kind: 'sqlite', file: url.slice('sqlite:'.length) }
    : { kind: 'mysql', url: new URL(url) }
  process.send(await TASKS[task as SqlTask](location, name))
  process.disconnect()
}
