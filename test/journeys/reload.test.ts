/** Replacement of workers, servers and programs, without failed requests or lost data. */

import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { t as root, type Test, t } from 'tap'
import { askApi, COMMAND_LINE, type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { askRaw } from '../helpers/literal-http.js'
import { buildProgramOf, findPreviousCommit } from '../helpers/previous-program.js'
import { makeRepository } from '../helpers/repositories.js'
import { withPassword } from '../helpers/requests.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy } from '../helpers/working-copy.js'

const RELOADS = isFullSize ? 20 : 1
const CONVERSATIONS = isFullSize ? 1_000 : 8
const AT_ONCE = isFullSize ? 4 : 2
/** Pauses between the requests, and between the conversations of git. */
const REQUESTS_EVERY_MS = isFullSize ? 10 : 30
const CONVERSATIONS_EVERY_MS = isFullSize ? 0 : 100
const PATH = 'ada/library.git'

/** Message of git for a connection that the kernel has reset. */
const RESET = 'Connection reset by peer'

/**
 * Returns how many connections of the queue of a closing listener the kernel may reset: none if it
 * hands them over to another listener (see docs/operate.md). Most runs lose none in either case.
 */
async function resetsMax(): Promise<number> {
  const setting = await readFile('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').catch(() => '0')
  return setting.trim() === '1' ? 0 : 2
}

const gatehouse = await startGatehouse(t, { environment: { GATEHOUSE_HTTP_DRAIN: '60s' } })
const ada = await gatehouse.addUser('ada')
await makeRepository(ada, 'library')
/** Takes the port of the first server over, and serves after it has ended. */
let successor: Gatehouse

/** Sends requests in three loops; the returned function ends them and returns their outcomes. */
function startRequests(): () => Promise<{ failures: readonly unknown[]; resets: number }> {
  const failures: unknown[] = []
  let resets = 0
  let isEnded = false
  const sendRequests = async () => {
    while (!isEnded) {
      const { status } = await askRaw(gatehouse.port, { path: '/livez' }).catch((error) => {
        if (error.code === 'ECONNRESET') resets += 1
        else failures.push(error)
        return { status: 200 }
      })
      if (status !== 200) failures.push(status)
      await sleep(REQUESTS_EVERY_MS)
    }
  }
  const sending = [sendRequests(), sendRequests(), sendRequests()]
  return async () => {
    isEnded = true
    await Promise.all(sending)
    return { failures, resets }
  }
}

t.test('no push, clone or request fails while workers are replaced', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('first')
  await copy.git('push', '--quiet', ada.remote(PATH), 'main')
  const folder = await temporaryFolder(t)
  const failures: string[] = []
  let count = 0
  let reloads = 0
  const converse = async () => {
    while (count < CONVERSATIONS || reloads < RELOADS) {
      count += 1
      const address = ada.remote(PATH)
      const args =
        count % 2 === 0
          ? ['push', address, `main:refs/heads/branch-${count}`]
          : ['clone', '--bare', address, join(folder, String(count))]
      const { exitCode, errorText } = await tryGit(args, { cwd: copy.path })
      if (exitCode !== 0) failures.push(`${args[0]} ${count}: ${errorText}`)
      await sleep(CONVERSATIONS_EVERY_MS)
    }
  }
  const reload = async () => {
    for (; reloads < RELOADS; reloads += 1) {
      while (count < (reloads * CONVERSATIONS) / RELOADS) await sleep(20)
      await gatehouse.reload()
    }
  }
  const endRequests = startRequests()
  await Promise.all([reload(), ...Array.from({ length: AT_ONCE }, converse)])
  const requests = await endRequests()
  t.strictSame(requests.failures, [])
  t.ok(requests.resets <= (await resetsMax()), `${requests.resets} requests were reset`)
  const others = failures.filter((failure) => !failure.includes(RESET))
  t.strictSame(others, [])
  t.ok(failures.length <= (await resetsMax()), `${failures.length} connections were reset`)
  t.comment(`${count} pushes and clones during ${RELOADS} reloads`)
  const refs = await git(['ls-remote', ada.remote(PATH), 'refs/heads/branch-*'], { cwd: '/' })
  const failedPushes = failures.filter((failure) => failure.startsWith('push')).length
  t.ok(
    refs.split('\n').length >= Math.floor(count / 2) - failedPushes,
    'the branch of each successful push exists',
  )
  const workers = () => workersOf(gatehouse.pid)
  const left = await until(workers, (pids) => pids.length === 2, 60_000)
  t.equal(left.length, 2, 'the earlier workers have ended')
})

t.test('a gateway that stops hands new connections over to another one on its port', async (t) => {
  successor = await startGatehouse(root, {
    workers: 1,
    location: { kind: 'sqlite', file: join(gatehouse.dataDir, 'gatehouse.db') },
    environment: {
      GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${gatehouse.port}`,
      GATEHOUSE_DATA_DIR: gatehouse.dataDir,
      GATEHOUSE_HTTP_DRAIN: '2s',
    },
  })
  const endRequests = startRequests()
  process.kill(gatehouse.pid, 'SIGTERM')
  const hasEnded = async () => {
    try {
      return !process.kill(gatehouse.pid, 0)
    } catch {
      return true
    }
  }
  t.ok(await until(hasEnded, Boolean, 30_000), 'the server has ended before its drain time')
  const { failures, resets } = await endRequests()
  t.strictSame(failures, [])
  t.ok(resets <= (await resetsMax()), `${resets} connections were reset`)
  t.equal((await workersOf(successor.pid)).length, 1)
})

t.test('open connections are answered after SIGTERM until the drain time has passed', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const authorization = `token ${ada.token}`
  const path = `/${PATH}/info/refs?service=git-receive-pack`
  const ask = () => askRaw(gatehouse.port, { path, agent, headers: { authorization } })
  t.equal((await ask()).status, 200)
  const stopped = successor.stop('SIGTERM')
  await sleep(300)
  const { status, headers } = await ask()
  t.equal(status, 200)
  t.equal(headers.connection, undefined, 'the reply does not close the connection')
  t.equal(
    (await askRaw(gatehouse.port, { path: '/livez' })).status,
    200,
    'a new connection is accepted',
  )
  const isRefused = () =>
    askRaw(gatehouse.port, { path: '/livez' }).then(
      () => false,
      () => true,
    )
  t.ok(await until(isRefused, Boolean, 10_000), 'new connections are refused after the drain time')
  t.equal((await ask()).status, 200, 'the open connection is still answered')
  t.equal(await stopped, 0)
})

async function updateAndReturn(t: Test, previousCommit: string): Promise<void> {
  const previous = await buildProgramOf(previousCommit)
  const file = join(await temporaryFolder(t), 'gatehouse.db')
  const gatehouse = await startGatehouse(t, {
    program: previous,
    workers: 1,
    location: { kind: 'sqlite', file },
  })
  const password = 'correct horse battery'
  await gatehouse.run('user', 'create', 'ada', `--password=${password}`)
  const created = await askApi(gatehouse.port, {
    method: 'POST',
    path: '/users/ada/tokens',
    body: { name: 'ci', scopes: ['all'] },
    authorization: withPassword('ada', password),
  })
  const { sha1: token } = created.body as { readonly sha1: string }
  const authorization = `token ${token}`
  const ask = (method: string, path: string, body?: unknown) =>
    askApi(gatehouse.port, { method, path, body, authorization })
  const remote = `http://ada:${token}@127.0.0.1:${gatehouse.port}/${PATH}`
  const packageUrl = `${gatehouse.url}/api/packages/ada/generic/tool/1.0/tool.bin`
  await ask('POST', '/user/repos', { name: 'library', private: true })
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('first')
  await copy.git('push', '--quiet', remote, 'main')
  await ask('POST', '/repos/ada/library/issues', { title: 'An old issue' })
  const bytes = 'bytes of a package'.repeat(1_000)
  const upload = await fetch(packageUrl, {
    method: 'PUT',
    headers: { authorization },
    body: bytes,
  })
  t.equal(upload.status, 201)
  t.equal(await gatehouse.stop(), 0)

  const logBefore = gatehouse.log().length
  await gatehouse.start(COMMAND_LINE)
  t.match(gatehouse.log().slice(logBefore), '"msg":"the database was migrated"')
  const clone = await cloneInto(t, remote)
  t.equal(await clone.git('rev-parse', 'HEAD'), commit)
  const issues = await ask('GET', '/repos/ada/library/issues')
  t.match(issues.body, [{ title: 'An old issue' }])
  const download = await fetch(packageUrl, { headers: { authorization } })
  t.equal(await download.text(), bytes)
  const check = await gatehouse.run('check', '--deep')
  t.equal(check.exitCode, 0, check.output)
  t.equal(await gatehouse.stop(), 0)

  const refusal = /the database has migrations of a newer Gatehouse \(.*\): start that version/
  await t.rejects(gatehouse.start(previous), { message: refusal })
}

// Without an earlier program in the checkout's history, there is nothing to update from.
const earlier = await findPreviousCommit()
if (earlier !== undefined) {
  t.test('an update keeps all data, and the earlier release then refuses them', (t) =>
    updateAndReturn(t, earlier),
  )
}
