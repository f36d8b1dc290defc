/** CI runners that fetch into the workspaces they have kept, and the first ones after a push. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { objectsOf, postFetch, readFetchAnswer } from '../helpers/fetch-answers.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { packetLine } from '../helpers/git-requests.js'
import { countOutcomes, untilNoGit } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const COMMITS = 40

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly remote: string
  /** Copy from which commits are pushed. */
  readonly copy: WorkingCopy
  /** Commits of main, the first one first. */
  readonly commits: string[]
  /** Changes of these commits that `push` made. */
  readonly changes: Change[]
}

/** New content of the file in a commit. */
interface Change {
  readonly timeS: number
  readonly content: string
}

const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')

/** Creates a repository with commits, of which each test has one. */
async function setScene(t: Test, name: string): Promise<Scene> {
  const remote = ada.remote(`${await makeRepository(ada, name)}.git`)
  const copy = await newWorkingCopy(t)
  await copy.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  const scene = { gatehouse, ada, remote, copy, commits: [], changes: [] }
  await push(scene, COMMITS)
  await copy.git('reset', '--quiet', '--hard', 'main')
  return scene
}

/** Pushes new commits, each of which changes one file. */
async function push({ copy, remote, commits, changes }: Scene, count = 1): Promise<string> {
  const timeS = Math.floor(Date.now() / 1_000)
  const added = Array.from({ length: count }, () => ({
    timeS,
    content: randomBytes(100).toString('hex'),
  }))
  const base = commits.length === 0 ? [] : ['from refs/heads/main^0']
  await writeChanges(copy, added, { ref: 'refs/heads/main', base })
  changes.push(...added)
  const made = await copy.git('rev-list', '--reverse', `--max-count=${count}`, 'main')
  commits.push(...made.split('\n'))
  await copy.git('push', '--quiet', remote, 'main')
  return commits.at(-1) ?? ''
}

interface Target {
  readonly ref: string
  /** Line with the parent of the first commit, if it has one. */
  readonly base: readonly string[]
}

/** Writes a commit for each change with git-fast-import(1). Equal changes have equal commits. */
async function writeChanges(
  copy: WorkingCopy,
  changes: readonly Change[],
  { ref, base }: Target,
): Promise<void> {
  const parts = changes.map(({ timeS, content }, at) =>
    [
      `commit ${ref}`,
      `committer Ada <ada@example.com> ${timeS} +0000`,
      'data 12\nWrite a file',
      ...(at === 0 ? base : []),
      `M 100644 inline file\ndata ${content.length}\n${content}\n`,
    ].join('\n'),
  )
  const { exitCode, errorText } = await copy.try(['fast-import', '--quiet'], {
    input: parts.join(''),
  })
  if (exitCode !== 0) throw new Error(errorText)
}

/** Creates a workspace with a commit and its history, without a request to the server. */
async function workspaceAt(
  t: Test,
  { commits, changes }: Scene,
  commit: string,
): Promise<WorkingCopy> {
  const workspace = await newWorkingCopy(t)
  const written = changes.slice(0, commits.indexOf(commit) + 1)
  await writeChanges(workspace, written, { ref: 'refs/remotes/origin/main', base: [] })
  return workspace
}

/** Creates a workspace with shallow commits, without a request to the server. */
async function shallowWorkspaceAt(
  t: Test,
  { copy }: Scene,
  commits: readonly string[],
  depth: number,
): Promise<WorkingCopy> {
  const workspace = await newWorkingCopy(t)
  for (const commit of commits) {
    const refspec = `+${commit}:refs/remotes/origin/main`
    await workspace.git('fetch', '--quiet', `--depth=${depth}`, `file://${copy.path}`, refspec)
  }
  return workspace
}

/** Fetches main into a workspace and checks it out. Returns the outcome counts. */
async function fetchMain(
  t: Test,
  scene: Scene,
  workspace: WorkingCopy,
  options: readonly string[] = [],
) {
  const { remote, commits } = scene
  return await countOutcomes(scene.gatehouse, async () => {
    const refspec = '+refs/heads/main:refs/remotes/origin/main'
    await workspace.git('fetch', '--quiet', '--no-tags', ...options, remote, refspec)
    await workspace.git('checkout', '--quiet', '--detach', 'origin/main')
    const head = await readFile(join(workspace.path, '.git/HEAD'), 'utf8')
    t.equal(head, `${commits.at(-1)}\n`)
    // The fetch has verified that no object is missing.
    if (isFullSize) await workspace.git('fsck', '--strict', '--no-dangling')
  })
}

const HIT = { hit: 1, miss: 0, bypass: 0 }
const MISS = { hit: 0, miss: 1, bypass: 0 }

t.test('workspaces with different commits share the answers to their fetches', async (t) => {
  const scene = await setScene(t, 'increments')
  const { commits } = scene
  const below = async (count: number) => workspaceAt(t, scene, commits.at(-1 - count) ?? '')
  t.strictSame(await fetchMain(t, scene, await below(4)), MISS, 'the first fetch of a tip')
  t.strictSame(await fetchMain(t, scene, await below(5)), MISS, 'the base 6 below')
  for (const count of isFullSize ? [6, 4, 1, 5, 2] : [6, 1]) {
    t.strictSame(await fetchMain(t, scene, await below(count)), HIT, `${count} below`)
  }
  t.strictSame(await fetchMain(t, scene, await below(17)), MISS, 'the base 24 below')
  t.strictSame(await fetchMain(t, scene, await below(24)), HIT)
  t.strictSame(await fetchMain(t, scene, await below(33)), MISS, 'the first commit')
  t.strictSame(await fetchMain(t, scene, await below(COMMITS - 1)), HIT)
  const ahead = await below(9)
  await ahead.git('checkout', '--quiet', '--detach', 'origin/main')
  await ahead.commit('unpushed')
  t.strictSame(await fetchMain(t, scene, ahead), HIT, 'with a commit that the server lacks')
})

t.test('shallow workspaces with different commits share the answers of a depth', async (t) => {
  const scene = await setScene(t, 'shallow')
  const { commits, copy, remote } = scene
  const [first = '', second = '', third = ''] = commits
  const fetchAt = async (depth: number, ...at: string[]) => {
    const workspace = await shallowWorkspaceAt(t, scene, at, depth)
    const outcome = await fetchMain(t, scene, workspace, [`--depth=${depth}`])
    t.equal(await workspace.git('rev-list', '--count', 'HEAD'), String(depth))
    return outcome
  }
  t.strictSame(await fetchAt(1, second), MISS, 'the first fetch of a tip')
  t.strictSame(await fetchAt(1, third), MISS)
  t.strictSame(await fetchAt(1, third), HIT)
  t.strictSame(await fetchAt(1, first, third), HIT, 'with more shallow commits')
  t.strictSame(await fetchAt(1, first), MISS, 'with a commit that no client had')
  for (const commit of [first, third]) t.strictSame(await fetchAt(1, commit), HIT)
  const whole = await workspaceAt(t, scene, third)
  t.strictSame(await fetchMain(t, scene, whole, ['--depth=1']), HIT, 'with a complete history')
  t.equal(await whole.git('rev-list', '--count', 'HEAD'), '1')
  t.strictSame(await fetchAt(5, first), MISS)
  for (const commit of [first, third]) t.strictSame(await fetchAt(5, commit), HIT)
  const near = commits.at(-3) ?? ''
  t.strictSame(await fetchAt(5, near), MISS, 'with shallow commits above the new ones')
  t.strictSame(await fetchAt(5, near), HIT)
  const short = await shallowWorkspaceAt(t, scene, [near], 1)
  t.match(await fetchMain(t, scene, short, ['--depth=5']), { bypass: 0 })
  t.equal(await short.git('rev-list', '--count', 'HEAD'), '5', 'the shallow commit is complete')
  await copy.git('push', '--quiet', remote, `${second}:refs/heads/other`)
  const other = await shallowWorkspaceAt(t, scene, [second], 1)
  await other.git('checkout', '--quiet', '--detach', 'origin/main')
  await other.commit('file', 'unpushed')
  t.match(await fetchMain(t, scene, other, ['--depth=5']), { bypass: 0 }, 'with a new commit')
})

t.test('a client does not get a long answer that it does not need', async (t) => {
  const scene = await setScene(t, 'long')
  const { commits, copy, gatehouse, ada } = scene
  commits.push(await copy.commit('large', randomBytes(400_000)))
  await push(scene, 5)
  const tip = commits.at(-1)
  const folder = await temporaryFolder(t)
  const head = ['command=fetch', 'object-format=sha1'].map(packetLine).join('')
  // The large file is 5 below the tip, and the base for clients 5 below is 6 below it.
  for (const [round, count] of [5, 5, 4, 5, 3, 5].entries()) {
    const lines = ['no-progress', `want ${tip}`, `have ${commits.at(-1 - count)}`]
    const body = Buffer.from(`${head}0001${lines.map((l) => packetLine(`${l}\n`)).join('')}0000`)
    const authorization = `token ${ada.token}`
    const path = '/ada/long.git'
    const answer = await postFetch({ port: gatehouse.port, path, authorization, body })
    const { lines: said, pack, isWhole } = readFetchAnswer(answer.body)
    t.ok(isWhole)
    t.strictSame(said.slice(0, 3), ['acknowledgments', `ACK ${commits.at(-1 - count)}`, 'ready'])
    const objects = await objectsOf(pack, folder)
    const received = count === 3 ? 4 : count
    t.equal(objects.length, 3 * received, `request ${round}, ${count} below`)
  }
})

t.test('the first fetches of each kind after a push start no git', async (t) => {
  const scene = await setScene(t, 'small')
  const { commits } = scene
  const fetchAll = async (former: string) => {
    await fetchMain(t, scene, await newWorkingCopy(t), ['--depth=1'])
    await fetchMain(t, scene, await workspaceAt(t, scene, former))
    const shallow = await shallowWorkspaceAt(t, scene, [former], 1)
    await fetchMain(t, scene, shallow, ['--depth=1'])
  }
  // The second round reads the history.
  for (let round = 0; round < 2; round += 1) await fetchAll(commits.at(-2) ?? '')
  const startedBy = async (work: () => Promise<unknown>) => {
    const before = await countStartedGit(scene)
    await work()
    await untilNoGit(scene.gatehouse)
    return (await countStartedGit(scene)) - before
  }
  const unread = await setScene(t, 'unread')
  const pushed = await startedBy(() => push(unread))
  const former = commits.at(-1) ?? ''
  for (const count of [1, 3]) {
    const started = await startedBy(async () => {
      await push(scene, count)
      await fetchAll(former)
    })
    t.equal(started, pushed, `only the push of ${count} commits`)
  }
})

/** Returns how often git has waited in the queue, as it does before each start for a client. */
async function countStartedGit({ gatehouse }: Scene): Promise<number> {
  const text = await (await fetch(`${gatehouse.url}/metrics`)).text()
  const counts = text.matchAll(/^gatehouse_git_queue_wait_seconds_count(?:\{.*\})? (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

t.test('what a fleet requests after a push is ready when it comes', async (t) => {
  const scene = await setScene(t, 'fleet')
  const { commits } = scene
  /** Sends the fetches of a fleet: clones of depth 1, and fetches into both kinds of workspaces. */
  const round = async (former: string) => ({
    clone: await fetchMain(t, scene, await newWorkingCopy(t), ['--depth=1']),
    increment: await fetchMain(t, scene, await workspaceAt(t, scene, former)),
    shallow: await fetchMain(t, scene, await shallowWorkspaceAt(t, scene, [former], 1), [
      '--depth=1',
    ]),
  })
  let former = commits.at(-2) ?? ''
  for (let clients = 0; clients < 2; clients += 1) await round(former)
  for (const count of [2, 1]) {
    former = commits.at(-1) ?? ''
    await push(scene, count)
    await untilNoGit(scene.gatehouse)
    t.strictSame(await round(former), { clone: HIT, increment: HIT, shallow: HIT })
  }
})

t.test('a partial clone and its checkout are ready after a push', async (t) => {
  const scene = await setScene(t, 'partial')
  const { copy, remote, commits } = scene
  for (const name of ['one', 'two', 'three']) await copy.commit(name)
  await push(scene)
  const clone = () =>
    countOutcomes(scene.gatehouse, async () => {
      const partial = await cloneInto(t, remote, ['--filter=blob:none'])
      t.equal(await partial.git('rev-parse', 'HEAD'), commits.at(-1))
      t.equal(await partial.git('status', '--porcelain'), '')
    })
  t.strictSame(await clone(), { hit: 0, miss: 2, bypass: 0 })
  t.strictSame(await clone(), { hit: 2, miss: 0, bypass: 0 })
  for (let pushes = 0; pushes < 2; pushes += 1) {
    await push(scene)
    await untilNoGit(scene.gatehouse)
    t.strictSame(await clone(), { hit: 2, miss: 0, bypass: 0 })
  }
})
