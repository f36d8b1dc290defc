/** Threat: the database server stops under load; requests return 503 until it is back. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { locationOn, ownMariadb } from '../helpers/databases.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { listStaleFilesIn, until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

const CHANGES_WITHIN_MS = 30_000
/** Rounds that each writer completes before the database stops and after its start. */
const DONE_BETWEEN = 1
const REFUSALS_EACH = 2

/** Error of a request that was answered with 503 and `Retry-After`. */
class Refused extends Error {}

interface Item {
  readonly [key: string]: unknown
}

/** Creates a repository of ada with its writers; `kept` has the acknowledged names by kind. */
async function openWriters(t: Test) {
  const gatehouse = await startGatehouse(t, { location: await locationOn(await ownMariadb()) })
  const ada = await gatehouse.addUser('ada')
  const library = await makeRepository(ada, 'library', { auto_init: true })
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  const kept = new Map<string, string[]>()

  /** Sends one request. Throws `Refused` if the reply is 503 with `Retry-After`. */
  async function ask(method: string, path: string, body?: unknown): Promise<Item> {
    const answer = await ada.api(method, `/repos/${library}${path}`, body)
    if (answer.status < 300) return (answer.body ?? {}) as Item
    const isForNow = answer.status === 503 && answer.headers.has('retry-after')
    if (isForNow) throw new Refused(path)
    throw new Error(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const keep = (kind: string, name: string) => kept.set(kind, [...(kept.get(kind) ?? []), name])
  await ask('POST', '/branches', { new_branch_name: 'trunk' })

  const writers: readonly ((name: string) => Promise<void>)[] = [
    async function issue(title) {
      const { number } = await ask('POST', '/issues', { title })
      keep('issues', title)
      await ask('POST', `/issues/${number}/comments`, { body: title })
      keep('comments', title)
      await ask('PATCH', `/issues/${number}`, { state: 'closed' })
      keep('closed', title)
    },
    async function release(name) {
      await ask('POST', '/releases', { tag_name: name, name })
      keep('releases', name)
    },
    async function file(name) {
      await ask('POST', `/contents/${name}`, { content: 'YQ==' })
      keep('files', name)
    },
    async function merge(name) {
      const branch = { content: 'YQ==', branch: 'trunk', new_branch: name }
      await ask('POST', `/contents/${name}`, branch)
      const { number } = await ask('POST', '/pulls', { title: name, head: name, base: 'trunk' })
      keep('pulls', name)
      await ask('POST', `/pulls/${number}/merge`, { Do: 'merge' })
      keep('merged', name)
    },
  ]

  /** Returns the items of all pages of a list. */
  async function all(list: string): Promise<readonly Item[]> {
    const found: Item[] = []
    for (let page = 1; ; page += 1) {
      const items = await ask('GET', `${list}limit=50&page=${page}`)
      found.push(...(items as unknown as readonly Item[]))
      if ((items as unknown as readonly Item[]).length < 50) return found
    }
  }
  return { gatehouse, ada, path, kept, writers, ask, all }
}

type Writers = Awaited<ReturnType<typeof openWriters>>

/** Runs all writers until `disturb` resolves. Throws if a reply is neither a success nor a 503. */
async function writeDuring(
  { writers }: Writers,
  disturb: (counts: Counts) => Promise<void>,
): Promise<void> {
  let isOver = false
  const counts: Counts = { done: writers.map(() => 0), refused: writers.map(() => 0) }
  const write = async (writer: Writers['writers'][number], at: number) => {
    for (let round = 0; !isOver; round += 1) {
      try {
        await writer(`${writer.name}-${round}`)
        counts.done[at] = (counts.done[at] ?? 0) + 1
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        counts.refused[at] = (counts.refused[at] ?? 0) + 1
        await sleep(50)
      }
    }
  }
  const disturbing = disturb(counts).finally(() => {
    isOver = true
  })
  await Promise.all([...writers.map(write), disturbing])
}

interface Counts {
  readonly done: number[]
  readonly refused: number[]
}

/** Waits until each count has grown by `more`. */
async function untilAll(counts: readonly number[], more: number): Promise<void> {
  const wanted = counts.map((count) => count + more)
  const isReached = (now: readonly number[]) => now.every((count, at) => count >= (wanted[at] ?? 0))
  const last = await until(async () => [...counts], isReached, CHANGES_WITHIN_MS)
  if (!isReached(last)) throw new Error(`writers reached ${last} instead of ${wanted}`)
}

/** Checks the replies while the database does not run. */
async function checkRefusals(t: Test, { ada, gatehouse }: Writers): Promise<void> {
  for (const path of ['/repos/ada/library', '/user', '/repos/ada/nothing', '/users/ada']) {
    const { status, headers, body } = await ada.api('GET', path)
    t.equal(status, 503, path)
    t.match(headers.get('retry-after'), /^\d+$/)
    t.match(Object.keys(body as object), ['message', 'url'])
  }
  t.equal((await ada.api('POST', '/user/repos', { name: 'another' })).status, 503)
  t.equal((await fetch(`${gatehouse.url}/readyz`)).status, 503)
  t.equal((await fetch(`${gatehouse.url}/livez`)).status, 200)
}

t.test('acknowledged API writes are consistent after MariaDB restarts under load', async (t) => {
  const scene = await openWriters(t)
  const mariadb = await ownMariadb()
  const cwd = await temporaryFolder(t)
  const listRemote = () => tryGit(['ls-remote', scene.ada.remote('ada/library.git')], { cwd })
  await writeDuring(scene, async ({ done, refused }) => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await untilAll(done, DONE_BETWEEN)
      await mariadb.stop(signal)
      await untilAll(refused, REFUSALS_EACH)
      if (signal === 'SIGKILL') {
        await t.test('every surface answers with 503 while MariaDB is down', async (t) => {
          await checkRefusals(t, scene)
          const { exitCode, errorText } = await listRemote()
          t.not(exitCode, 0)
          t.match(errorText, '503')
        })
      }
      await mariadb.start()
    }
    // The server reconnects without a restart.
    await untilAll(done, DONE_BETWEEN)
  })
  t.equal((await listRemote()).exitCode, 0)
  const { gatehouse, path, kept, ask, all } = scene
  const missing = (kind: string, there: readonly unknown[]) => {
    const known = new Set(there)
    const names = kept.get(kind) ?? []
    t.strictSame(
      names.filter((name) => !known.has(name)),
      [],
      `${names.length} ${kind}`,
    )
  }
  const lines = async (...args: readonly string[]) => (await git(args, { cwd: path })).split('\n')
  const issues = await all('/issues?type=issues&state=all&')
  const releases = await all('/releases?')
  const pulls = await all('/pulls?state=all&')
  missing('issues', issues.map(titleOf))
  missing('closed', issues.filter(isClosed).map(titleOf))
  missing(
    'comments',
    (await all('/issues/comments?')).map((comment) => comment['body']),
  )
  missing(
    'releases',
    releases.map((release) => release['tag_name']),
  )
  missing('files', await lines('ls-tree', '-r', '--name-only', 'main'))
  missing('pulls', pulls.map(titleOf))
  missing('merged', await lines('ls-tree', '-r', '--name-only', 'trunk'))
  missing('merged', pulls.filter((pull) => pull['merged']).map(titleOf))

  const tags = await lines('for-each-ref', '--format=%(refname:short)', 'refs/tags')
  t.strictSame(
    releases.filter((release) => !tags.includes(`${release['tag_name']}`)),
    [],
    'each release has its tag',
  )
  const inTrunk = await lines('ls-tree', '-r', '--name-only', 'trunk')
  t.strictSame(
    pulls.filter((pull) => pull['merged'] !== inTrunk.includes(`${pull['title']}`)).map(titleOf),
    [],
    'the merged pull requests are exactly those in the branch',
  )
  const open = issues.filter((issue) => !isClosed(issue)).length
  const openPulls = pulls.filter((pull) => !isClosed(pull)).length
  t.match(await ask('GET', ''), { open_issues_count: open, open_pr_counter: openPulls })
  t.equal(await git(['fsck', '--strict', '--no-dangling'], { cwd: path }), '')
  t.strictSame(await listStaleFilesIn(gatehouse.dataDir), [])
  t.notMatch(gatehouse.log(), '"status":500')
})

const titleOf = (item: Item) => item['title']
const isClosed = (item: Item) => item['state'] === 'closed'
