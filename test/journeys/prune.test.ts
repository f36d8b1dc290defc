/** Removal of leaked commits: after a prune, no surface of any gateway serves the commit. */

import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../cgi/maintenance/journal.js'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { answersPrefix } from '../../gateway/packs/answer-names.js'
import { freshLocation } from '../helpers/databases.js'
import { postFetch } from '../helpers/fetch-answers.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { gitRequest, packetLine, pushHead } from '../helpers/git-requests.js'
import { connectTo } from '../helpers/raw-http.js'
import { faultsOnDisk, makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { ask } from '../helpers/requests.js'
import { killServer, until } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const WITHIN_MS = 90_000
const ROUNDS = isFullSize ? 20 : 1
/** Number of concurrent checks of one gateway, whose connections reach both workers. */
const CONNECTIONS = 3

interface Scene {
  readonly location: DatabaseLocation
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  readonly remote: string
}

async function startScene(t: Test, location: DatabaseLocation): Promise<Scene> {
  const gatehouse = await startGatehouse(t, { location, workers: 2 })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'library')
  const copy = await newWorkingCopy(t)
  await copy.commit('README.md')
  const remote = ada.remote('ada/library.git')
  await copy.git('push', '--quiet', remote, 'main')
  return { location, gatehouse, ada, copy, remote }
}

/** Requests a commit with the file `secret` from each surface; returns statuses by surface. */
async function surfacesOf(port: number, commit: string): Promise<Record<string, number | string>> {
  const paths: Record<string, string> = {
    commit: `/api/v1/repos/ada/library/git/commits/${commit}`,
    diff: `/api/v1/repos/ada/library/git/commits/${commit}.diff`,
    tree: `/api/v1/repos/ada/library/git/trees/${commit}`,
    history: `/api/v1/repos/ada/library/commits?sha=${commit}`,
    contents: `/api/v1/repos/ada/library/contents/secret?ref=${commit}`,
    raw: `/api/v1/repos/ada/library/raw/secret?ref=${commit}`,
    archive: `/api/v1/repos/ada/library/archive/${commit}.tar.gz`,
    rawPage: `/ada/library/raw/commit/${commit}/secret`,
    archivePage: `/ada/library/archive/${commit}.zip`,
    page: `/ada/library/commit/${commit}`,
    source: `/ada/library/src/commit/${commit}/secret`,
    commits: `/ada/library/commits/commit/${commit}`,
    bundle: `/ada/library.git/bundles/${bundleOf(commit)}`,
  }
  const statuses = Object.entries(paths).map(async ([name, path]) => {
    return [name, (await ask(port, { path })).status] as const
  })
  return {
    ...Object.fromEntries(await Promise.all(statuses)),
    v2: await fetchBy(port, commit, 'version=2'),
    v0: await fetchBy(port, commit, 'version=0'),
  }
}

/** Returns the name of the bundle of a repository whose only ref is main. */
function bundleOf(commit: string): string {
  const header = `# v2 git bundle\n${commit} refs/heads/main\n\n`
  return `${createHash('sha256').update(header).digest('hex')}.bundle`
}

async function fetchBy(port: number, commit: string, version: string): Promise<string> {
  const want = `want ${commit}\n`
  const body =
    version === 'version=2'
      ? `${packetLine('command=fetch')}0001${packetLine(want)}${packetLine('done\n')}0000`
      : `${packetLine(want)}0000${packetLine('done\n')}`
  const { body: answer } = await postFetch({
    port,
    path: '/ada/library.git',
    body: Buffer.from(body),
    headers: { 'git-protocol': version },
  })
  if (answer.includes('PACK')) return 'a pack'
  return answer.includes(`not our ref ${commit}`) ? 'not our ref' : answer.toString().slice(0, 80)
}

const NOT_FOUND = Object.fromEntries(
  [
    'commit',
    'diff',
    'tree',
    'history',
    'contents',
    'raw',
    'archive',
    'rawPage',
    'archivePage',
    'page',
    'source',
    'commits',
    'bundle',
  ].map((name) => [name, 404]),
)

/** Pushes a commit with the file `secret`; `takeBack` replaces it by another with a force push. */
async function leak({ copy, remote }: Scene, size = 100) {
  const base = await copy.git('rev-parse', 'HEAD')
  const secret = await copy.commit('secret', randomBytes(size).toString('hex'))
  await copy.git('push', '--quiet', remote, 'main')
  return {
    secret,
    takeBack: async () => {
      await copy.git('reset', '--quiet', '--hard', base)
      await copy.commit('fine', randomBytes(4).toString('hex'))
      await copy.git('push', '--quiet', '--force', remote, 'main')
    },
  }
}

const prune = ({ ada }: Scene, body: object) => ada.api('POST', '/repos/ada/library/prune', body)

/**
 * Waits until the API returns 404 for a commit; returns the last status. The lease of a killed job
 * ends after half a minute, so the pauses are long.
 */
async function untilGone({ ada }: Scene, commit: string): Promise<number> {
  const deadlineMs = Date.now() + WITHIN_MS
  for (;;) {
    const { status } = await ada.api('GET', `/repos/ada/library/git/commits/${commit}`)
    if (status === 404 || Date.now() > deadlineMs) return status
    await sleep(400)
  }
}

const objectsOf = (clone: WorkingCopy) => clone.git('rev-list', '--objects', '--all')

t.test('pruned commits', async (t) => {
  const scene = await startScene(t, await freshLocation(t, 'sqlite'))
  await t.test('a pruned commit is not found on any surface', (t) => isPrunedEverywhere(t, scene))
  await t.test('repo prune removes a commit, and names the ref that still has it', (t) =>
    pruneByCommand(t, scene),
  )
  await t.test('a push is refused if its parent is pruned meanwhile', (t) => pushOnIt(t, scene))
  await t.test('no reachable object is lost if the server is killed during a prune', (t) =>
    killDuringPrune(t, scene),
  )
})

if (isFullSize) {
  await t.test('a pruned commit is not found on any surface, with MariaDB', async (t) => {
    await isPrunedEverywhere(t, await startScene(t, await freshLocation(t, 'mysql')))
  })
}

async function isPrunedEverywhere(t: Test, scene: Scene): Promise<void> {
  const { gatehouse, location, remote } = scene
  const environment = { GATEHOUSE_DATA_DIR: gatehouse.dataDir }
  const second = await startGatehouse(t, { workers: 1, environment, location })
  const ports = [gatehouse.port, second.port]
  const { secret, takeBack } = await leak(scene)
  t.equal((await prune(scene, { grace: '0s', commit: secret })).status, 409, 'main has it')
  for (const port of ports) {
    // A bundle is created only when the repository has not changed for a while.
    const path = `/ada/library.git/bundles/${bundleOf(secret)}`
    const findBundle = async () => (await ask(port, { method: 'HEAD', path })).status
    await until(findBundle, (status) => status === 200, WITHIN_MS)
    // Another worker may offer the bundle a moment later.
    const before = await until(
      () => surfacesOf(port, secret),
      (surfaces) => !Object.values<unknown>(surfaces).includes(404),
      WITHIN_MS,
    )
    t.notOk(Object.values<unknown>(before).includes(404), JSON.stringify(before))
    t.match(before, { v2: 'a pack', v0: 'a pack' })
    await cloneInto(t, remote)
  }
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  t.not((await answersOf(gatehouse, path)).length, 0, 'replies to clones are cached')
  await takeBack()
  t.match(
    await surfacesOf(second.port, secret),
    { commit: 200, v2: 'not our ref' },
    'pages and the API show the commit until the prune',
  )
  const before = await objectsOf(await cloneInto(t, remote, ['--mirror']))
  t.equal((await prune(scene, { grace: '0s', commit: secret })).status, 202)
  t.equal(await untilGone(scene, secret), 404)
  const isDone = async () =>
    [gatehouse, second].some(({ log }) => log().includes('"msg":"a repository was pruned"'))
  t.ok(await until(isDone, Boolean, WITHIN_MS))
  for (const port of ports) {
    const checks = Array.from({ length: CONNECTIONS }, () => surfacesOf(port, secret))
    for (const after of await Promise.all(checks)) {
      t.strictSame(after, { ...NOT_FOUND, v2: 'not our ref', v0: 'not our ref' })
    }
  }
  t.strictSame(await answersOf(gatehouse, path), [], 'no cached reply is left')
  t.equal(await objectsOf(await cloneInto(t, remote, ['--mirror'])), before)
  t.strictSame(await faultsOnDisk(gatehouse), [])
  t.notMatch(gatehouse.log(), /"level":"error"/)
}

/** Lists the cached replies to clones of a repository. */
async function answersOf({ dataDir }: Gatehouse, path: string): Promise<readonly string[]> {
  const names = await readdir(join(dataDir, 'cache', 'packs'), { recursive: true })
  return names.filter((name) => name.split('/').at(-1)?.startsWith(answersPrefix(path)))
}

async function pruneByCommand(t: Test, scene: Scene): Promise<void> {
  const { gatehouse } = scene
  const { secret, takeBack } = await leak(scene)
  const run = (...args: readonly string[]) => gatehouse.run('repo', 'prune', 'ada/library', ...args)
  const kept = await run('--now', '--commit', secret)
  t.match(kept, { exitCode: 1, errorText: /reachable from refs\/heads\/main/ })
  await takeBack()
  t.match(
    await run(),
    { exitCode: 0, output: /: 0 objects removed/ },
    'objects younger than the grace period are kept',
  )
  t.match(await run('--now', '--commit', secret), {
    exitCode: 0,
    output: /^pruned ada\/library: 3 objects removed, \d+ KiB\n$/,
    errorText: /must be changed/,
  })
  t.equal(await untilGone(scene, secret), 404)
}

/** Pushes a commit slowly while its parent is pruned. */
async function pushOnIt(t: Test, scene: Scene): Promise<void> {
  const { gatehouse, copy, ada } = scene
  const { secret, takeBack } = await leak(scene)
  const child = await copy.commit('child', randomBytes(3_000_000))
  const input = `${child}\n^${secret}\n`
  const { output } = await copy.try(['pack-objects', '--revs', '-q', 'child'], { input })
  const pack = await readFile(join(copy.path, `child-${output}.pack`))
  await takeBack()
  // The push must be later than the commit by the time stamps of files.
  await sleep(3_000)
  const body = Buffer.concat([pushHead(child, 'refs/heads/child'), pack])
  const socket = await connectTo(gatehouse.port)
  const answer = text(socket)
  const request = { token: ada.token, headers: 'Connection: close\r\n', bodyBytes: body.length }
  socket.write(gitRequest({ ...request, service: 'git-receive-pack' }))
  let sent = 0
  const send = (bytes: number) => {
    socket.write(body.subarray(sent, sent + bytes))
    sent += bytes
  }
  // A push that sends nothing for long would be cut.
  const timer = setInterval(() => send(10_000), 200)
  t.teardown(async () => clearInterval(timer))
  send(200_000)
  await until(
    async () => (await listJournalEntries(gatehouse.dataDir)).size > 0,
    Boolean,
    WITHIN_MS,
  )
  t.equal((await prune(scene, { grace: '0s', commit: secret })).status, 202)
  t.equal(await untilGone(scene, secret), 404, 'the commit is pruned during the push')
  clearInterval(timer)
  t.ok(sent < body.length)
  send(body.length)
  t.match(await answer, /unpack|ng refs\/heads\/child/)
  t.equal((await ada.api('GET', '/repos/ada/library/branches/child')).status, 404)
  const clean = () => faultsOnDisk(gatehouse)
  t.strictSame(await until(clean, ({ length }) => length === 0, WITHIN_MS), [])
}

async function killDuringPrune(t: Test, scene: Scene): Promise<void> {
  const { gatehouse, remote } = scene
  for (let round = 0; round < ROUNDS; round += 1) {
    const { secret, takeBack } = await leak(scene, 400_000)
    await takeBack()
    const before = await objectsOf(await cloneInto(t, remote, ['--mirror']))
    t.equal((await prune(scene, { grace: '0s', commit: secret })).status, 202)
    // A prune waits for three seconds before it packs.
    await sleep(3_000 + Math.random() * 300)
    await killServer(gatehouse, { withGit: round % 2 === 0 })
    await gatehouse.start()
    t.equal(await objectsOf(await cloneInto(t, remote, ['--mirror'])), before, `round ${round}`)
    t.equal(await untilGone(scene, secret), 404, 'the prune is completed after the restart')
  }
  const clean = () => faultsOnDisk(gatehouse)
  t.strictSame(await until(clean, ({ length }) => length === 0, WITHIN_MS), [])
}
