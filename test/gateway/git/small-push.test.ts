/** Small pushes to a branch have the result of `git receive-pack`, with one process of git. */

import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { type Git, gitEnvironment } from '../../../cgi/process/git.js'
import { runToEnd } from '../../../cgi/process/run.js'
import { isLine, readPackets } from '../../../gateway/packs/pkt-line.js'
import { countedGit } from '../../helpers/counted-git.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git } from '../../helpers/git-client.js'
import { packetLine } from '../../helpers/git-requests.js'
import { until } from '../../helpers/server-processes.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const MAIN = 'refs/heads/main'
const CAPABILITIES = ' report-status side-band-64k agent=git/2.39.5'

/** Starts a gateway with a repository whose branch has a commit, and a copy with a second one. */
async function scene(t: Test) {
  const counted = await countedGit(await temporaryFolder(t))
  const gateway = await startGatewayWithUsers(t, { git: counted })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  const path = await gateway.pathOf('ada', 'r')
  const { plain: token } = await gateway.addToken(gateway.ada, 'write:repository')
  const copy = await newWorkingCopy(t)
  const remote = `http://ada:${token}@127.0.0.1:${gateway.port}/ada/r.git`
  const before = await copy.commit('a.txt', 'first')
  await copy.git('push', '--quiet', remote, 'main')
  const after = await copy.commit('a.txt', 'second')
  let seen = (await counted.started()).length
  return {
    ...gateway,
    counted,
    path,
    copy,
    before,
    after,
    remote,
    token,
    /** Returns the commands of pushes that were started since the last call. */
    async started() {
      const all = await counted.started()
      const added = all.slice(seen)
      seen = all.length
      // The list of refs needs the configuration once, when the repository has rested for a while.
      return added.filter((command) => command !== 'config')
    },
    /** Returns the ids of refs on the disk by name. */
    async refs() {
      const text = await git(['for-each-ref', '--format=%(refname) %(objectname)'], { cwd: path })
      return Object.fromEntries(text.split('\n').map((line) => line.split(' ') as [string, string]))
    },
    /** Returns a pack of the objects that `revisions` select. */
    async pack(...revisions: readonly string[]) {
      const folder = await temporaryFolder(t)
      const ids = await copy.git('rev-list', '--objects', '--no-object-names', ...revisions)
      const args = ['pack-objects', '--quiet', join(folder, 'pack')]
      const hash = await git(args, { cwd: copy.path, input: `${ids}\n` })
      return await readFile(join(folder, `pack-${hash}.pack`))
    },
    /** Sends a request of git-receive-pack, without its length if it is a stream. */
    async post(body: Buffer | ReadableStream) {
      const answer = await fetch(`http://127.0.0.1:${gateway.port}/ada/r.git/git-receive-pack`, {
        method: 'POST',
        headers: {
          authorization: `token ${token}`,
          'content-type': 'application/x-git-receive-pack-request',
        },
        body,
        duplex: 'half',
      } as RequestInit)
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, headers: answer.headers, body: bytes }
    },
  }
}

type Scene = Awaited<ReturnType<typeof scene>>

const WAIT_MS = 10_000

/** Waits until the journal has as many entries, and returns how many it has. */
async function untilJournalHas(count: number, { data }: Scene['settings']): Promise<number> {
  const read = async () => (await listJournalEntries(data.dir)).size
  return await until(read, (found) => found === count, WAIT_MS)
}

/** Returns the request that changes a ref. */
function request(command: string, pack: Uint8Array = Buffer.alloc(0), more = ''): Buffer {
  const line = packetLine(`${command}\0${CAPABILITIES}${more}`)
  return Buffer.concat([Buffer.from(`${line}0000`, 'utf8'), pack])
}

/** Returns the lines of the report in an answer. */
function reportOf(answer: Buffer): readonly string[] | undefined {
  const packets = readPackets(answer)?.filter(isLine)
  const report = packets?.filter((line) => line.startsWith('\u0001')).map((line) => line.slice(1))
  return report && readPackets(Buffer.from(report.join(''), 'latin1'))?.filter(isLine)
}

/** Returns the answer of `git receive-pack` to a request. */
async function answerOfGit(git: Git, cwd: string, input: Buffer): Promise<Buffer> {
  const { output } = await runToEnd(git.file, ['receive-pack', '--stateless-rpc', '.'], {
    cwd,
    input,
    environment: gitEnvironment(git, { config: [] }),
    timeoutMs: 60_000,
    outputBytesMax: 1 << 20,
  })
  return output
}

t.test('a small push to a branch is applied by index-pack and the gateway', async (t) => {
  const { copy, remote, started, refs, after, path, db, settings } = await scene(t)
  const { errorText } = await copy.try(['push', '--porcelain', remote, 'main'])
  t.notMatch(errorText, /error|remote:/)
  t.strictSame(await started(), ['index-pack'])
  t.strictSame(await refs(), { [MAIN]: after })
  await git(['fsck', '--strict', '--full'], { cwd: path })
  t.strictSame((await readdir(join(path, 'objects'))).toSorted(), ['info', 'pack'])
  t.equal(await untilJournalHas(0, settings), 0)
  const activities = await db('activities').where('ref_name', MAIN).count({ count: '*' })
  t.match(activities, [{ count: 2 }], 'both pushes are in the feed')
  await copy.git('checkout', '--quiet', '-b', 'topic/x')
  await copy.git('push', '--quiet', remote, 'topic/x')
  await copy.commit('b.txt')
  await git(['pack-refs', '--all'], { cwd: path })
  await copy.commit('c.txt')
  await copy.git('push', '--quiet', '--force', remote, 'HEAD:main')
  t.strictSame(await started(), ['receive-pack', 'index-pack'])
  t.equal((await refs())[MAIN], await copy.git('rev-parse', 'HEAD'))
})

t.test('the answer to a small push is that of git receive-pack', async (t) => {
  const { pack, post, before, after, path, counted } = await scene(t)
  const beside = join(await temporaryFolder(t), 'beside.git')
  await cp(path, beside, { recursive: true })
  const wanted = request(`${before} ${after} ${MAIN}`, await pack('main', `^${before}`))
  const answer = await post(wanted)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/x-git-receive-pack-result')
  t.equal(answer.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate')
  t.strictSame(answer.body, await answerOfGit(counted, beside, wanted))
  t.strictSame(reportOf(answer.body), ['unpack ok', `ok ${MAIN}`])
})

/** Pushes that git must judge after index-pack was started here, or instead of it. */
const JUDGED: Readonly<Record<string, (scene: Scene) => Promise<Buffer>>> = {
  'a damaged pack': async ({ before, after, pack }) => {
    const bytes = await pack('main', `^${before}`)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    return request(`${before} ${after} ${MAIN}`, bytes)
  },
  'a missing file': async ({ before, after, pack }) =>
    request(`${before} ${after} ${MAIN}`, await pack('main', `^${before}`, '--filter=blob:none')),
  'a missing parent': async ({ copy, before, pack }) => {
    const tip = await copy.commit('a.txt', 'third')
    return request(`${before} ${tip} ${MAIN}`, await pack('main', '^main~'))
  },
  'a commit that fsck refuses': async ({ copy, before, pack }) => {
    const tree = await copy.git('rev-parse', 'main^{tree}')
    const text = `tree ${tree}\nparent ${before}\nauthor A <a@b> 1 +0000\ncommitter A\n\nx\n`
    await writeFile(join(copy.path, '.git', 'bad'), text)
    const args = ['hash-object', '-t', 'commit', '-w', '--literally', '.git/bad']
    const tip = await copy.git(...args)
    return request(`${before} ${tip} ${MAIN}`, await pack(tip, `^${before}`))
  },
  'another present commit': async ({ after, before, pack }) =>
    request(`${after} ${before} ${MAIN}`, await pack('main', `^${before}`)),
  'a tree as the new commit': async ({ copy, before, pack }) =>
    request(
      `${before} ${await copy.git('rev-parse', 'main^{tree}')} ${MAIN}`,
      await pack('main', `^${before}`),
    ),
}

for (const [what, make] of Object.entries(JUDGED)) {
  t.test(`a push with ${what} gets git's report, and changes nothing`, async (t) => {
    const all = await scene(t)
    const { path, counted, post, refs, before, started, settings } = all
    const wanted = await make(all)
    const beside = join(await temporaryFolder(t), 'beside.git')
    await cp(path, beside, { recursive: true })
    const { status, body } = await post(wanted)
    t.equal(status, 200)
    t.ok((await started()).includes('receive-pack'))
    t.strictSame(reportOf(body), reportOf(await answerOfGit(counted, beside, wanted)))
    t.notMatch(reportOf(body)?.join(), `ok ${MAIN}`)
    t.strictSame(await refs(), { [MAIN]: before })
    t.strictSame((await readdir(join(path, 'objects'))).toSorted(), ['info', 'pack'])
    const packsOf = async (folder: string) => (await readdir(join(folder, 'objects/pack'))).length
    t.equal(await packsOf(path), await packsOf(beside), 'no other pack is kept')
    t.strictSame(await readdir(join(path, 'refs', 'heads')), ['main'], 'no lock is left')
    t.equal(await untilJournalHas(0, settings), 0)
  })
}

/** Pushes that git applies: each of them is valid, but not small or usual. */
const APPLIED_BY_GIT: Readonly<Record<string, (scene: Scene) => Promise<Buffer | ReadableStream>>> =
  {
    'without a length': async ({ before, after, pack }) =>
      new Blob([request(`${before} ${after} ${MAIN}`, await pack('main', `^${before}`))]).stream(),
    'of more than 256 KiB': async ({ copy, before, pack }) => {
      const noise = Buffer.from(Array.from({ length: 300_000 }, () => Math.random() * 256))
      const tip = await copy.commit('noise', noise)
      return request(`${before} ${tip} ${MAIN}`, await pack('main', `^${before}`))
    },
    'with push options': async ({ before, after, pack, path }) => {
      await git(['config', 'receive.advertisePushOptions', 'true'], { cwd: path })
      const options = Buffer.from(`${packetLine('ci.skip')}0000`)
      const bytes = Buffer.concat([options, await pack('main', `^${before}`)])
      return request(`${before} ${after} ${MAIN}`, bytes, ' push-options')
    },
    'to a repository with a setting of its own': async ({ before, after, pack, path }) => {
      await git(['config', 'receive.unpackLimit', '100'], { cwd: path })
      return request(`${before} ${after} ${MAIN}`, await pack('main', `^${before}`))
    },
    'to a branch with a rule': async ({ as, before, after, pack }) => {
      const rule = { rule_name: 'main', enable_push: true }
      await as('ada', 'POST', '/repos/ada/r/branch_protections', rule)
      return request(`${before} ${after} ${MAIN}`, await pack('main', `^${before}`))
    },
    'of a new branch': async ({ after, before, pack }) =>
      request(`${'0'.repeat(40)} ${after} refs/heads/new`, await pack('main', `^${before}`)),
    'whose name is not ASCII': async ({ path, before, after, pack }) => {
      await git(['update-ref', 'refs/heads/ä', before], { cwd: path })
      return request(`${before} ${after} refs/heads/ä`, await pack('main', `^${before}`))
    },
  }

for (const [what, make] of Object.entries(APPLIED_BY_GIT)) {
  t.test(`a push ${what} is applied by git`, async (t) => {
    const all = await scene(t)
    const body = await make(all)
    const answer = await all.post(body)
    t.match(reportOf(answer.body)?.join(), /^unpack ok,ok refs/)
    t.strictSame((await all.started()).slice(0, 1), ['receive-pack'])
    const { [MAIN]: main, ...others } = await all.refs()
    t.ok([main, ...Object.values(others)].some((id) => id !== all.before))
  })
}

t.test('only a push that reuses folders takes a second check by git', async (t) => {
  const { copy, remote, started, refs, path } = await scene(t)
  await mkdir(join(copy.path, 'folder'))
  const changes = [
    ['mv', 'a.txt', 'folder/b.txt'],
    ['commit', '--quiet', '-m', 'Move a file'],
    ['push', '--quiet', remote, 'main'],
    ['commit', '--quiet', '--amend', '-m', 'Move it in other words'],
    ['push', '--quiet', '--force', remote, 'main'],
  ]
  for (const words of changes) await copy.git(...words)
  t.strictSame(await started(), ['index-pack', 'index-pack'])
  await copy.git('mv', 'folder', 'moved')
  await copy.git('commit', '--quiet', '-m', 'Move a folder')
  await copy.git('push', '--quiet', remote, 'main')
  t.strictSame(await started(), ['index-pack', 'rev-list'])
  t.equal((await refs())[MAIN], await copy.git('rev-parse', 'main'))
  await git(['fsck', '--strict', '--full'], { cwd: path })
})

t.test('while another process has the lock of the branch, git waits for it', async (t) => {
  const { copy, remote, started, path, refs, after } = await scene(t)
  const lock = join(path, `${MAIN}.lock`)
  await writeFile(lock, '')
  const pushed = copy.try(['push', '--quiet', remote, 'main'])
  const isWaiting = (commands: readonly string[]) => commands.includes('receive-pack')
  t.ok(isWaiting(await until(started, isWaiting, WAIT_MS)))
  await rm(lock)
  t.match(await pushed, { exitCode: 0 })
  t.strictSame(await refs(), { [MAIN]: after })
})

t.test('while a small push is applied, the journal names it and this process', async (t) => {
  const { copy, counted, remote, path, before, after, settings } = await scene(t)
  const { dir } = settings.data
  const file = join(dir, 'go-on')
  const script = await readFile(counted.file, 'utf8')
  // Another git may list the refs before the push.
  const wait = `[ "$1" != index-pack ] || until [ -e '${file}' ]; do sleep 0.05; done`
  await writeFile(counted.file, script.replace('exec', `${wait}; exec`))
  const pushed = copy.git('push', '--quiet', remote, 'main')
  const entries = async () => [...(await listJournalEntries(dir)).values()]
  t.equal(await untilJournalHas(1, settings), 1)
  const change = { name: MAIN, before, after }
  const leader = { pid: process.pid }
  t.match(await entries(), [{ repositoryPath: path, leader, updates: { change } }])
  t.notOk((await entries())[0]?.isUpkeep, 'pruning waits for it')
  await writeFile(file, '')
  await pushed
  t.equal(await untilJournalHas(0, settings), 0)
})
