/** A read is answered without its work until something that it depends on changes. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import type { Request } from '../../../conf/http.js'
import { withEntityTag } from '../../../gateway/api/entity-tag.js'
import { answerFromKept } from '../../../gateway/api/kept-replies.js'
import { type Database, transaction } from '../../../sql/database/database.js'
import { aRequest } from '../../helpers/a-request.js'
import {
  forEachDatabase,
  forEachMigrated,
  freshLocation,
  openForTest,
} from '../../helpers/databases.js'
import { git as runGit } from '../../helpers/git-client.js'
import { aUser } from '../../helpers/rows.js'
import { diskFolder, temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const STORAGE = '0'.repeat(32)

/** Time after which a change of files is settled, with a reserve. */
const SETTLED_MS = 120

const ASKED = { path: '/api/v1/repos/ada/r/branches', query: 'page=1' }

interface Reads {
  /** Reads under the condition of a tag, if any; returns the status and whether it was made. */
  read(fields?: Partial<Request>, tag?: string): Promise<readonly [number, 'made' | 'kept']>
  /** Reads without a condition; returns the body and whether it was made. */
  readBody(fields?: Partial<Request>): Promise<readonly [unknown, 'made' | 'kept']>
}

interface ReadOptions {
  readonly dependsOn?: 'rows' | 'repository'
  readonly dataDir?: string
  readonly headers?: ReadonlyArray<readonly [string, string]>
  readonly body?: string
}

function readsOf(
  db: Database,
  { dependsOn = 'rows', dataDir = '/nonexistent', headers = [], body = 'one' }: ReadOptions = {},
): Reads {
  const context = { db, settings: { data: { dir: dataDir } } } as never
  const grant = { repository: { storage: STORAGE } }
  const send = async (request: Request) => {
    let made: 'made' | 'kept' = 'kept'
    const answer = () => {
      made = 'made'
      return withEntityTag(request, { status: 200, headers, body })
    }
    const reply = await answerFromKept(context, { dependsOn, request, grant, answer })
    return { reply, made } as const
  }
  return {
    async read(fields = {}, tag = '*') {
      const sent = new Map([...((fields.headers as Map<string, string> | undefined) ?? [])])
      sent.set('if-none-match', tag)
      const { reply, made } = await send(aRequest({ ...ASKED, ...fields, headers: sent }))
      return [reply.status, made]
    },
    async readBody(fields = {}) {
      const { reply, made } = await send(aRequest({ ...ASKED, ...fields }))
      return [reply.body, made]
    },
  }
}

/** Waits, because on MariaDB no tag is kept beyond the end of a second of the monotonic clock. */
async function beginningOfSecond(): Promise<void> {
  const passedMs = performance.now() % 1_000
  if (passedMs > 500) await sleep(1_001 - passedMs)
}

await forEachDatabase(t, 'a reply is made again after a row has changed', async (t, location) => {
  const db = await openForTest(t, location)
  const other = await openForTest(t, location)
  const reads = readsOf(db)
  await beginningOfSecond()
  t.strictSame(await reads.read(), [304, 'made'])
  t.strictSame(await reads.read(), [304, 'kept'])
  for (const writer of [db, other]) {
    await beginningOfSecond()
    await aUser(writer, writer === db ? 'eve' : 'mallory')
    t.strictSame(await reads.read(), [304, 'made'], 'a change by any connection')
    t.strictSame(await reads.read(), [304, 'kept'])
  }
  t.strictSame(await reads.read({}, '"other"'), [200, 'kept'], 'the client has another reply')
})

await forEachMigrated(t, 'a reply is kept while no row changes', async (t, db) => {
  const reads = readsOf(db)
  await reads.read()
  await sleep(1_100)
  const kept = t.name.startsWith('sqlite') ? 'kept' : 'made'
  t.strictSame(await reads.read(), [304, kept], 'MariaDB is asked again after a second')
})

t.test('requests that could have different replies do not share one', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const reads = readsOf(db)
  await reads.read()
  const others: ReadonlyArray<Partial<Request>> = [
    { path: '/api/v1/repos/ada/s/branches' },
    { query: 'page=2' },
    ...['authorization', 'cookie', 'sudo', 'x-gitea-otp'].map((name) => ({
      headers: new Map([[name, 'x']]),
    })),
  ]
  for (const other of others) {
    t.strictSame(await reads.read(other), [304, 'made'], JSON.stringify(other))
    t.strictSame(await reads.read(other), [304, 'kept'])
  }
})

t.test('a reply made while a row changes is made again', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const request = aRequest({ ...ASKED, headers: new Map([['if-none-match', '*']]) })
  let made = 0
  const answer = async () => {
    made += 1
    if (made === 1) await aUser(db, 'eve')
    return withEntityTag(request, { status: 200, body: `${made}` })
  }
  const context = { db, settings: { data: { dir: '/nonexistent' } } } as never
  const ask = () => answerFromKept(context, { dependsOn: 'rows', request, grant: {}, answer })
  await ask()
  await ask()
  t.equal(made, 2)
})

await forEachMigrated(t, 'in a transaction each reply is made', async (_t, db) => {
  await transaction(db, async (trx) => {
    const reads = readsOf(trx)
    t.strictSame(await reads.read(), [304, 'made'])
    t.strictSame(await reads.read(), [304, 'made'])
  })
})

t.test('a kept body is sent to clients that do not have it', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const reads = readsOf(db)
  t.strictSame(await reads.readBody(), ['one', 'made'])
  t.strictSame(await reads.readBody(), ['one', 'kept'])
  t.strictSame(await reads.read(), [304, 'kept'])
  await aUser(db, 'eve')
  t.strictSame(await reads.readBody(), ['one', 'made'])
})

t.test('of a long body only the tag is kept', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const body = 'x'.repeat(524_289)
  const reads = readsOf(db, { body })
  t.strictSame(await reads.readBody(), [body, 'made'])
  t.strictSame(await reads.readBody(), [body, 'made'])
  t.strictSame(await reads.read(), [304, 'kept'])
})

t.test('bodies are dropped that are too much together', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const reads = readsOf(db, { body: 'x'.repeat(524_288) })
  const madeAt = async (number: number) => (await reads.readBody({ query: `page=${number}` }))[1]
  for (let number = 0; number < 16; number += 1) t.equal(await madeAt(number), 'made')
  for (let number = 0; number < 16; number += 1) t.equal(await madeAt(number), 'kept')
  t.equal(await madeAt(16), 'made')
  t.equal(await madeAt(1), 'kept')
  t.equal(await madeAt(0), 'made', 'the one that was used longest ago was dropped')
})

t.test('a reply without a tag or with long headers is made each time', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const long = readsOf(db, { headers: [['Link', 'x'.repeat(2_000)]] })
  t.strictSame(await long.read(), [304, 'made'])
  t.strictSame(await long.read(), [304, 'made'])
  const plain = aRequest({ path: '/', headers: new Map([['if-none-match', '*']]) })
  let made = 0
  const answer = () => {
    made += 1
    return { status: 404, body: '{}' }
  }
  const context = { db, settings: { data: { dir: '/nonexistent' } } } as never
  const of = { dependsOn: 'rows', request: plain, grant: {}, answer } as const
  await answerFromKept(context, of)
  t.equal((await answerFromKept(context, of)).status, 404)
  t.equal(made, 2)
})

t.test('the reply that was used longest ago is dropped for a new one', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const reads = readsOf(db)
  const at = (number: number) => ({ query: `page=${number}` })
  const version = () => reads.read(at(0))
  await version()
  await reads.read(at(1))
  for (let number = 2; number < 2_000; number += 1) await reads.read(at(number))
  t.strictSame(await version(), [304, 'kept'])
  await reads.read(at(2_000))
  t.strictSame(await reads.read(at(1)), [304, 'made'])
})

t.test('a reply is made again after a ref has changed', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const dataDir = await temporaryFolder(t, diskFolder())
  const folder = repositoryPath(dataDir, STORAGE)
  await runGit(['init', '--quiet', '--bare', folder], { cwd: dataDir })
  const copy = await newWorkingCopy(t)
  let pushes = 0
  const push = async () => {
    pushes += 1
    await copy.commit(`${pushes}`)
    await copy.git('push', '--quiet', folder, 'HEAD:refs/heads/main')
  }
  await push()
  const reads = readsOf(db, { dependsOn: 'repository', dataDir })
  const rows = readsOf(db, { dependsOn: 'rows', dataDir })
  await sleep(SETTLED_MS)
  t.strictSame(await reads.read(), [304, 'made'])
  t.strictSame(await reads.read(), [304, 'kept'])
  await push()
  await sleep(SETTLED_MS)
  t.strictSame(await reads.read(), [304, 'made'], 'a push past the gateway')
  t.strictSame(await reads.read(), [304, 'kept'])
  await runGit(['config', 'uploadpack.hideRefs', 'refs/heads/x'], { cwd: folder })
  await sleep(SETTLED_MS)
  t.strictSame(await reads.read(), [304, 'made'], 'a setting of the repository')
  await rows.read({ query: 'rows' })
  await push()
  t.strictSame(await rows.read({ query: 'rows' }), [304, 'kept'])
})

t.test('a reply from a repository without a folder is not kept', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  const reads = readsOf(db, { dependsOn: 'repository' })
  t.strictSame(await reads.read(), [304, 'made'])
  t.strictSame(await reads.read(), [304, 'made'])
})
