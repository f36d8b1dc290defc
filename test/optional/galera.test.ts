/** Nodes of a Galera cluster are killed under load: two gateways lose no acknowledged change. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startGalera } from '../helpers/galera.js'
import { askApi, startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const WRITERS = 6
const LOADED_MS = isFullSize ? 15_000 : 8_000
const RETRY_MS = 100
/** The cluster misses a dead node after 3 seconds, and the proxy chooses another one after 1. */
const INTERRUPTION_MS_MAX = 15_000

t.test('issues and pushes go on when the active node and another one are killed', async (t) => {
  const galera = await startGalera(t)
  const location = { kind: 'mysql', url: await galera.proxy.createSchema() } as const
  const first = await startGatehouse(t, { location })
  const environment = { GATEHOUSE_DATA_DIR: first.dataDir }
  const second = await startGatehouse(t, { location, environment })
  const ada = await first.addUser('ada')
  const authorization = `token ${ada.token}`
  await makeRepository(ada, 'library')
  const copy = await newWorkingCopy(t)
  await copy.commit('first')

  const stop = new AbortController()
  const issues = new Map<number, string>()
  const branches: string[] = []
  const acknowledgedAtMs: number[] = []
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const { port } = writer % 2 === 0 ? first : second
    for (let count = 1; !stop.signal.aborted; count += 1) {
      const title = `${writer}-${count}`
      const path = '/repos/ada/library/issues'
      const request = { method: 'POST', path, authorization, body: { title } }
      const { status, body } = await askApi(port, request)
      if (status === 201) {
        issues.set((body as { number: number }).number, title)
        acknowledgedAtMs.push(Date.now())
      } else {
        t.equal(status, 503, JSON.stringify(body))
        await sleep(RETRY_MS)
      }
    }
  })
  const remote = `http://ada:${ada.token}@127.0.0.1:${second.port}/ada/library.git`
  const pusher = async () => {
    for (let count = 1; !stop.signal.aborted; count += 1) {
      const target = `main:refs/heads/b${count}`
      const { exitCode } = await tryGit(['push', '--quiet', remote, target], { cwd: copy.path })
      if (exitCode === 0) branches.push(`refs/heads/b${count}`)
      else await sleep(RETRY_MS)
    }
  }
  const pushes = pusher()

  await sleep(LOADED_MS)
  for (const node of [0, 1]) {
    const killedAtMs = Date.now()
    await galera.kill(node)
    await sleep(LOADED_MS)
    await galera.start(node)
    await sleep(LOADED_MS)
    const times = [killedAtMs, ...acknowledgedAtMs.filter((atMs) => atMs > killedAtMs)]
    const gapsMs = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0))
    const longestMs = Math.max(...gapsMs)
    t.comment(`node ${node} killed: ${longestMs} ms without an acknowledged issue`)
    t.ok(longestMs < INTERRUPTION_MS_MAX, `${longestMs} ms`)
  }
  stop.abort()
  await Promise.all([...writers, pushes])

  t.comment(`${issues.size} issues and ${branches.length} pushes were acknowledged`)
  for (const [number, title] of issues) {
    const path = `/repos/ada/library/issues/${number}`
    const { body } = await askApi(first.port, { path, authorization })
    if ((body as { title?: string }).title !== title) t.fail(`issue ${number} is lost`)
  }
  const { output } = await tryGit(['ls-remote', remote], { cwd: copy.path })
  const listed = new Set(output.split('\n').map((line) => line.split('\t')[1]))
  t.strictSame(
    branches.filter((branch) => !listed.has(branch)),
    [],
  )
  const counts = await Promise.all(
    galera.nodes.map(async (node) => {
      const name = location.url.pathname.slice(1)
      const rows = await node.run(`select count(*) as count from ${name}.issues`)
      return rows[0]?.['count']
    }),
  )
  t.equal(new Set(counts).size, 1, 'the nodes have the same rows')
  const { exitCode, output: findings } = await first.run('check')
  t.equal(exitCode, 0, findings)

  await first.run('token', 'revoke', 'ada', '--name', 'test')
  for (const { port } of [first, second]) {
    t.equal((await askApi(port, { path: '/user', authorization })).status, 401)
  }
})
