/** Signals and killed processes: running clones complete, settings reload, workers restart. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startCommand } from '../helpers/command-line.js'
import { freePort } from '../helpers/free-port.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { askRaw } from '../helpers/literal-http.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, until, workersOf } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import {
  cloneInto,
  incompressible,
  newWorkingCopy,
  type WorkingCopy,
  workingCopyAt,
} from '../helpers/working-copy.js'

/** Size above the buffers of two sockets, so that the server waits for its reader. */
const LARGE_BYTES = isFullSize ? 60_000_000 : 20_000_000
/** Long enough to send the rest of the pack on a busy machine. */
const GRACE_S = 8
/** Offset of the pack in a reply without side bands, after the pkt-line NAK. */
const PACK_BEGINS_AT = 8

interface Download {
  /** Reads the rest of the reply; returns the pack. */
  finish(): Promise<Buffer>
  drop(): void
}

/** Starts a clone and stops reading after the head of the reply. */
async function beginClone(t: Test, port: number, commit: string): Promise<Download> {
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/ada/large.git/git-upload-pack',
    headers: { 'content-type': 'application/x-git-upload-pack-request' },
  }).end(`0032want ${commit}\n00000009done\n`)
  sent.on('error', () => {})
  t.teardown(() => sent.destroy())
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  t.equal(response.statusCode, 200)
  response.pause()
  return {
    async finish() {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).subarray(PACK_BEGINS_AT)
    },
    drop: () => sent.destroy(),
  }
}

interface Large {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly source: WorkingCopy
  /** Tip of the repository ada/large. */
  readonly commit: string
  /** Writes the log level to the configuration file. */
  setLevel(level: string): Promise<void>
}

async function startWithLarge(t: Test): Promise<Large> {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'gatehouse.toml')
  const setLevel = (level: string) => writeFile(file, `[log]\nlevel = "${level}"\n`)
  await setLevel('info')
  const gatehouse = await startGatehouse(t, {
    environment: { GATEHOUSE_CONFIG: file, GATEHOUSE_HTTP_SHUTDOWN_GRACE: `${GRACE_S}s` },
  })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'large')
  const source = await newWorkingCopy(t)
  await source.git('config', 'core.compression', '0')
  const commit = await source.commit('large', incompressible(LARGE_BYTES))
  await source.git('push', '--quiet', ada.remote('ada/large.git'), 'main')
  return { gatehouse, ada, source, commit, setLevel }
}

async function isRefused(port: number): Promise<boolean> {
  return askRaw(port, { path: '/livez' }).then(
    () => false,
    () => true,
  )
}

t.test('SIGTERM before all workers listen ends the server with exit code 0', async (t) => {
  const environment = { GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${await freePort()}` }
  const starting = await startCommand(t, ['serve'], { environment })
  const workers = () => workersOf(starting.pid).catch(() => [])
  t.ok((await until(workers, (pids) => pids.length > 0, 20_000)).length > 0)
  t.notMatch(starting.errorText(), /"msg":"serving"/)
  const { exitCode, errorText } = await starting.end('SIGTERM')
  t.equal(exitCode, 0)
  t.notMatch(errorText, /gatehouse:|"msg":"serving"/)
})

// All subtests use one server, which is started again after each end.
t.test('the server handles signals and killed processes', async (t) => {
  const large = await startWithLarge(t)
  await hangUps(t, large)
  await deaths(t, large)
  await orphans(t, large)
  await terminations(t, large)
})

async function hangUps(t: Test, { gatehouse, commit, setLevel }: Large): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ask = (path: string) => askRaw(gatehouse.port, { path, agent })

  await t.test('SIGHUP replaces the workers and keeps running clones', async (t) => {
    const clone = await beginClone(t, gatehouse.port, commit)
    const before = await workersOf(gatehouse.pid)
    await ask('/api/v1/version')
    t.notMatch(gatehouse.log(), /"path":"\/api\/v1\/version"/)
    await setLevel('debug')
    await gatehouse.reload()
    t.equal((await ask('/api/v1/version')).status, 200)
    const isLogged = async () => {
      await askRaw(gatehouse.port, { path: '/api/v1/version' })
      return /"path":"\/api\/v1\/version"/.test(gatehouse.log())
    }
    t.ok(await until(isLogged, Boolean, 5_000), 'requests are logged with the new level')
    t.ok((await clone.finish()).length > LARGE_BYTES, 'the running clone is completed')
    const areNew = (pids: readonly number[]) =>
      pids.length === 2 && pids.every((pid) => !before.includes(pid))
    const after = await until(() => workersOf(gatehouse.pid), areNew, 30_000)
    t.ok(areNew(after), 'the earlier workers end after the clone')
  })

  await t.test('SIGHUP with invalid settings keeps the workers and logs the error', async (t) => {
    const before = await workersOf(gatehouse.pid)
    await setLevel('deafening')
    process.kill(gatehouse.pid, 'SIGHUP')
    const isNotified = async () => gatehouse.log().includes('workers and settings are unchanged')
    t.ok(await until(isNotified, Boolean, 10_000))
    t.match(gatehouse.log(), /log\.level/)
    t.notMatch(gatehouse.log(), /deafening/)
    t.equal((await ask('/api/v1/version')).status, 200)
    t.same(await workersOf(gatehouse.pid), before)
    await setLevel('info')
  })
}

async function deaths(t: Test, { gatehouse, ada, source }: Large): Promise<void> {
  await t.test('a worker that is killed is replaced and logged', async (t) => {
    const before = await workersOf(gatehouse.pid)
    t.equal(before.length, 2)
    const [victim = 0] = before
    process.kill(victim, 'SIGKILL')
    // Until the worker has ended, the kernel still gives it connections, which are then reset.
    await until(
      async () => isAlive(victim),
      (alive) => !alive,
      5_000,
    )
    t.equal(
      (await askRaw(gatehouse.port, { path: '/readyz' })).status,
      200,
      'the other worker serves',
    )
    const isWhole = (pids: readonly number[]) => pids.length === 2 && !pids.includes(victim)
    const after = await until(() => workersOf(gatehouse.pid), isWhole, 15_000)
    t.ok(isWhole(after), 'there are two workers again')
    const lines = gatehouse.log().split('\n')
    const line = lines.find((line) => line.includes('a worker died')) ?? '{}'
    t.match(JSON.parse(line), { level: 'error', pid: victim, signal: 'SIGKILL' })
    const late = await source.commit('late')
    await source.git('push', '--quiet', ada.remote('ada/large.git'), 'main')
    const copy = await cloneInto(t, `${gatehouse.url}/ada/large.git`, [
      '--filter=blob:limit=1m',
      '--no-checkout',
    ])
    t.equal(await copy.git('rev-parse', 'HEAD'), late)
    t.same(await faultsOnDisk(gatehouse), [])
  })
}

async function orphans(t: Test, { gatehouse, ada }: Large): Promise<void> {
  await t.test('the workers end if their supervisor is killed', async (t) => {
    const workers = await workersOf(gatehouse.pid)
    t.equal(workers.length, 2)
    await gatehouse.stop('SIGKILL')
    const alive = await until(
      async () => workers.filter(isAlive),
      (pids) => pids.length === 0,
      10_000,
    )
    t.same(alive, [])
    await gatehouse.start()
    t.equal((await ada.api('GET', '/user')).status, 200)
  })
}

async function terminations(t: Test, { gatehouse, source }: Large): Promise<void> {
  const commit = await source.git('rev-parse', 'main')

  const name = 'SIGTERM refuses new connections and waits for a clone, at most for the grace period'
  await t.test(name, async (t) => {
    const clone = await beginClone(t, gatehouse.port, commit)
    const stuck = await beginClone(t, gatehouse.port, commit)
    const startedAtMs = Date.now()
    const stopped = gatehouse.stop('SIGTERM')
    t.ok(
      await until(() => isRefused(gatehouse.port), Boolean, 5_000),
      'new connections are refused',
    )
    await sleep(500)
    const pack = await clone.finish()
    t.equal(await stopped, 0)
    t.ok(
      Date.now() - startedAtMs < (GRACE_S + 6) * 1_000,
      'the server ended soon after the grace period',
    )
    const gits = () => gitProcessesOf(gatehouse.dataDir)
    t.same(await until(gits, (pids) => pids.length === 0, 3_000), [], 'no git process is left')
    stuck.drop()
    const bare = workingCopyAt(await temporaryFolder(t))
    await bare.git('init', '--quiet', '--bare')
    const { exitCode } = await bare.try(['index-pack', '--stdin'], { input: pack })
    t.equal(exitCode, 0, 'the pack is complete')
    await bare.git('cat-file', '-e', `${commit}^{tree}`)
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
