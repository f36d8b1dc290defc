/** Recovery removes stale files of interrupted pushes and keeps the files of running ones. */

import { randomBytes, randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  type JournalEntry,
  listJournalEntries,
  openJournal,
} from '../../../cgi/maintenance/journal.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { listStaleFiles } from '../../../cgi/maintenance/stale-files.js'
import { findGit } from '../../../cgi/process/git.js'
import { processSpace } from '../../../cgi/process/process-space.js'
import { isRunning, listProcesses, markProcess } from '../../../cgi/process/process-table.js'
import { type RunningProcess, runToEnd, startProcess } from '../../../cgi/process/run.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { serveBackend } from '../../helpers/backend-server.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'

const ours = await findGit()
const ROUNDS = isFullSize ? 5 : 3
/** Number of rounds after which the test fails if no push was interrupted. */
const ROUNDS_MAX = 10 * ROUNDS
const GATEWAY = fileURLToPath(new URL('../../helpers/gateway-process.js', import.meta.url))

async function startGateway(folder: string): Promise<{ url: string; gateway: RunningProcess }> {
  const gateway = await startProcess(process.execPath, [GATEWAY, folder], {
    environment: {},
    timeoutMs: 300_000,
  })
  const { value } = await gateway.output[Symbol.asyncIterator]().next()
  return { url: String(value).trim(), gateway }
}

/** Creates the bare repository and a working copy to push from. */
async function preparePush(folder: string, name: string): Promise<string> {
  const bare = join(folder, `${name}.git`)
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
  const work = join(folder, name)
  await mkdir(work)
  await git(['init', '-q', '-b', 'main'], { cwd: work })
  return work
}

async function commitMore(work: string, round: number): Promise<void> {
  await writeFile(join(work, 'data'), randomBytes(1 << 20))
  await git(['add', '.'], { cwd: work })
  await git(['commit', '-qm', `round ${round}`], { cwd: work })
  const updates = Array.from({ length: 40 }, (_, index) => `update refs/heads/b${index} HEAD\n`)
  await git(['update-ref', '--stdin'], { cwd: work, input: updates.join('') })
}

/** Returns the push's journal entry, or undefined if it did not appear in time. */
async function waitForPush(folder: string, name: string): Promise<JournalEntry | undefined> {
  for (let look = 0; look < 2_000; look += 1) {
    for (const push of (await listJournalEntries(folder)).values()) {
      if (push.repositoryPath === join(folder, name)) return push
    }
    await delay(5)
  }
  return undefined
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

t.test(
  'recovery cleans up after pushes killed at any time, and the next push succeeds',
  async (t) => {
    const folder = await temporaryFolder(t)
    const kills: Record<string, (leader: number) => void> = {
      group: (leader) => killQuietly(-leader),
      leader: (leader) => killQuietly(leader),
      nobody: () => {},
    }
    const works = await Promise.all(Object.keys(kills).map((name) => preparePush(folder, name)))
    let staleFiles = 0
    let recovered = 0
    for (let round = 0; round < ROUNDS || (recovered === 0 && round < ROUNDS_MAX); round += 1) {
      const { url, gateway } = await startGateway(folder)
      t.teardown(() => gateway.kill())
      await Promise.all(works.map((work) => commitMore(work, round)))
      const pushes = works.map((cwd) =>
        tryGit(['push', '-q', `${url}/${basename(cwd)}.git`, '+refs/heads/*:refs/heads/*'], {
          cwd,
        }),
      )
      const killed = Object.entries(kills).map(async ([name, kill], index) => {
        const push = await Promise.race([waitForPush(folder, `${name}.git`), pushes[index]])
        await delay(randomInt(100))
        if (push !== undefined && 'leader' in push) kill(push.leader.pid)
      })
      await Promise.all(killed)
      killQuietly(gateway.pid ?? 0)
      await gateway.ended
      await Promise.all(pushes)
      for (const name of Object.keys(kills)) {
        staleFiles += (await listStaleFiles(join(folder, `${name}.git`))).size
      }

      recovered += (await recover(folder)).length
      t.equal((await listJournalEntries(folder)).size, 0)
      const next = await serveBackend(ours, { folder, journal: await openJournal(folder) })
      const left = await listProcesses()
      const checks = works.map(async (cwd) => {
        const bare = `${cwd}.git`
        t.equal((await listStaleFiles(bare)).size, 0)
        t.same(
          left.filter((row) => row.folder.startsWith(bare)),
          [],
        )
        await git(['fsck', '--strict'], { cwd: bare })
        const target = `${next.url}/${basename(bare)}`
        await git(['push', '-q', target, '+refs/heads/*:refs/heads/*'], { cwd })
        const tip = await git(['rev-parse', 'HEAD'], { cwd })
        t.equal(await git(['rev-parse', 'b39'], { cwd: bare }), tip)
      })
      await Promise.all(checks)
      await next.close()
      await recover(folder)
    }
    t.ok(recovered > 0, `${recovered} pushes were interrupted and left ${staleFiles} stale files`)
  },
)

interface Scene {
  readonly dataDir: string
  readonly bare: string
  /** Paths of all kinds of files that an interrupted push may leave. */
  readonly staleFiles: readonly string[]
}

/** Creates a repository with every kind of stale file and with similar files of other owners. */
async function scene(t: Parameters<typeof temporaryFolder>[0]): Promise<Scene> {
  const dataDir = await temporaryFolder(t)
  await openJournal(dataDir)
  const bare = join(dataDir, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
  await mkdir(join(bare, 'refs/heads/a'))
  await mkdir(join(bare, 'objects/tmp_objdir-incoming-x/pack'), { recursive: true })
  await mkdir(join(bare, 'objects/incoming-y'))
  await mkdir(join(bare, 'objects/ab'))
  const files = {
    'refs/heads/a/b.lock': '',
    'packed-refs.lock': '',
    'packed-refs.new': '',
    'HEAD.lock': '',
    'config.lock': '',
    'shallow.lock': '',
    'objects/pack/tmp_pack_1': 'x',
    'objects/pack/.tmp-1-pack-1.idx': 'x',
    'objects/pack/multi-pack-index.lock': '',
    'objects/info/commit-graph.lock': '',
    'objects/maintenance.lock': '',
    'objects/bitmap-ref-tips_1': 'x',
    'objects/pack/pack-1.keep': 'receive-pack 1 on here\n',
    'objects/pack/pack-2.keep': 'mine, says the administrator\n',
    'objects/tmp_objdir-incoming-x/pack/tmp_pack_2': 'x',
    'objects/ab/tmp_obj_1': 'x',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(bare, name), text)
  const staleFiles = [...(await listStaleFiles(bare)).keys()]
  return { dataDir, bare, staleFiles }
}

async function note({ dataDir, bare }: Scene, change: Partial<JournalEntry>): Promise<void> {
  const dead = { pid: 999_999_999, identity: 'another boot/1' }
  const entry: JournalEntry = {
    host: processSpace(),
    gateway: dead,
    leader: dead,
    repositoryPath: bare,
    startedAtMs: Date.now(),
    ...change,
  }
  const name = `${randomBytes(4).toString('hex')}.json`
  await symlink(JSON.stringify(entry), join(dataDir, 'pushes', name))
}

t.test('recovery removes every stale file of a dead push and no other file', async (t) => {
  const here = await scene(t)
  t.equal(here.staleFiles.length, 16)
  await note(here, {})
  t.same(await recover(here.dataDir), [here.bare])
  t.same([...(await listStaleFiles(here.bare)).keys()], [])
  t.ok(existsSync(join(here.bare, 'objects/pack/pack-2.keep')))
  t.equal((await listJournalEntries(here.dataDir)).size, 0)
})

t.test('a push whose gateway and git run is left alone', async (t) => {
  const here = await scene(t)
  const self = markProcess(process.pid)
  await note(here, { gateway: self, leader: self })
  t.same(await recover(here.dataDir), [])
  t.equal((await listStaleFiles(here.bare)).size, here.staleFiles.length)
  t.equal((await listJournalEntries(here.dataDir)).size, 1)
})

t.test('a push whose git has ended is recovered although its gateway runs', async (t) => {
  const here = await scene(t)
  await note(here, { gateway: markProcess(process.pid) })
  t.same(await recover(here.dataDir), [here.bare])
  t.equal((await listStaleFiles(here.bare)).size, 0)
})

t.test(
  'a file that a running process in the repository may have written is kept until that process ends',
  async (t) => {
    const dataDir = await temporaryFolder(t)
    const bare = join(dataDir, 'x.git')
    await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
    await openJournal(dataDir)
    const writer = await startProcess('/bin/sleep', ['60'], {
      cwd: bare,
      environment: {},
      timeoutMs: 60_000,
    })
    t.teardown(() => writer.kill())
    const young = join(bare, 'refs/heads/young.lock')
    const old = join(bare, 'refs/heads/old.lock')
    await writeFile(young, '')
    await writeFile(old, '')
    const hourAgo = new Date(Date.now() - 3_600_000)
    await utimes(old, hourAgo, hourAgo)
    await note({ dataDir, bare, staleFiles: [] }, {})
    t.same(await recover(dataDir), [])
    t.ok(existsSync(young), 'the running process may have written it')
    t.notOk(existsSync(old), 'the file is older than the running process')
    writer.kill()
    await writer.ended
    t.same(await recover(dataDir), [bare])
    t.notOk(existsSync(young))
  },
)

t.test('a lock file that still changes is kept', async (t) => {
  const here = await scene(t)
  await note(here, {})
  const busy = join(here.bare, 'refs/heads/busy.lock')
  await writeFile(busy, '')
  let round = 0
  const touching = setInterval(() => {
    round += 1
    void writeFile(busy, 'x'.repeat(round))
  }, 100)
  t.teardown(async () => clearInterval(touching))
  t.same(await recover(here.dataDir), [])
  t.ok(existsSync(busy))
  t.same([...(await listStaleFiles(here.bare)).keys()], [busy])
})

t.test(
  'a push of another machine is recovered once it is older than any push can be',
  async (t) => {
    const here = await scene(t)
    const host = 'another.example.com'
    await note(here, { host })
    t.same(await recover(here.dataDir), [])
    await note(here, { host, startedAtMs: Date.now() - 90_000_000 })
    await recover(here.dataDir)
    t.equal(
      (await listJournalEntries(here.dataDir)).size,
      2,
      'the younger push may still be running',
    )
    for (const name of await readdir(join(here.dataDir, 'pushes'))) {
      await rm(join(here.dataDir, 'pushes', name))
      await symlink('{"half', join(here.dataDir, 'pushes', name))
    }
    await note(here, { host, startedAtMs: Date.now() - 90_000_000 })
    t.same(await recover(here.dataDir), [here.bare])
    t.equal((await listStaleFiles(here.bare)).size, 0)
  },
)

t.test(
  'recovery ends git processes of a dead gateway, also if the group leader is dead',
  async (t) => {
    const here = await scene(t)
    const leader = await startProcess('/bin/sleep', ['60'], { environment: {}, timeoutMs: 60_000 })
    t.teardown(() => leader.kill())
    await note(here, { leader: markProcess(leader.pid ?? 0) })
    // A process group whose leader kills itself while git waits for a pipe that is never closed.
    const pipe = join(here.dataDir, 'pipe')
    const script = `mkfifo ${pipe}
git -C ${here.bare} cat-file --batch <>${pipe} >/dev/null 2>&1 &
echo $$ $!
kill -9 $$`
    const { output } = await runToEnd('/usr/bin/setsid', ['--wait', 'sh', '-c', script], {
      environment: { PATH: '/usr/bin:/bin' },
      timeoutMs: 30_000,
      outputBytesMax: 100,
    })
    const [deadProcessGroup = 0, orphan = 0] = output.toString().trim().split(' ').map(Number)
    t.teardown(async () => killQuietly(orphan))
    t.equal(isRunning(markProcess(orphan)), true)
    await note(here, { leader: { pid: deadProcessGroup, identity: 'this boot/1' } })
    await recover(here.dataDir)
    t.equal(markProcess(orphan).identity, undefined)
    t.equal((await leader.ended).signal, 'SIGTERM')
  },
)

t.test('a process that reuses the pid of a dead one is not killed', async (t) => {
  const here = await scene(t)
  const other = await startProcess('/bin/sleep', ['60'], { environment: {}, timeoutMs: 60_000 })
  t.teardown(() => other.kill())
  const pid = other.pid ?? 0
  await note(here, { leader: { pid, identity: 'another boot/1' } })
  await recover(here.dataDir)
  t.equal(process.kill(pid, 0), true)
})
