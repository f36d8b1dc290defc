/** Threat: replies from the pack cache differ from git's replies after random changes. */

import { randomBytes, randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { findGit, type Git } from '../../cgi/process/git.js'
import { callUploadPack, UploadPackError } from '../../cgi/transfer/upload-pack.js'
import {
  hasOffsetDeltas,
  isAcknowledgment,
  isExtended,
  isKept,
  isReady,
  isRefusal,
  objectsOf,
  postFetch,
  readAnswerV0,
  readFetchAnswer,
} from '../helpers/fetch-answers.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { packetLine } from '../helpers/git-requests.js'
import { countPackCache, untilAllCached } from '../helpers/pack-cache-counts.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Number of changes and requests in all repositories. */
const STEPS = isFullSize ? 2_400 : 240
const REPOSITORIES = 3
/** Number of concurrent requests after each change. */
const REQUESTS = 5

t.test("replies from the pack cache equal git's replies after random changes", async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 2 })
  const ada = await gatehouse.addUser('ada')
  const ours = await findGit()
  const scenes: Scene[] = []
  for (let index = 0; index < REPOSITORIES; index += 1) {
    scenes.push(await setScene(t, { gatehouse, ada, ours, name: `r${index}` }))
  }
  const tally = { same: 0, refused: 0 }
  const faults = await Promise.all(scenes.map((scene) => play(scene, tally)))
  t.strictSame(faults.flat(), [], 'no reply differs')
  t.ok(tally.same > STEPS / 3, `${tally.same} requests were answered`)
  const counts = await countPackCache(gatehouse)
  t.comment(`${tally.same} equal replies, ${tally.refused} equal refusals`)
  t.comment(JSON.stringify(counts))
  t.ok(counts.hit + counts.join > STEPS / 20, 'many requests were answered without a git process')
})

/** Number of changes before complete clones. */
const PUSHES = isFullSize ? 400 : 24

t.test('complete clones have the same objects as those of git after random changes', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const scene = await setScene(t, { gatehouse, ada, ours: await findGit(), name: 'r' })
  // Only long replies are extended.
  const input = randomBytes(4_300_000).toString('base64')
  const large = await git(['commit-tree', 'main^{tree}', '-F', '-'], { cwd: scene.path, input })
  await inBare(scene, 'update-ref', 'refs/heads/large', large)
  await inBare(scene, 'repack', '-a', '-d', '-q', '--write-bitmap-index')
  let extended = 0
  for (let pushes = 0; pushes < PUSHES; pushes += 1) {
    const change = pick(CHANGES.filter(({ name }) => !/hidden|show|HEAD/.test(name)))
    await change.make(scene)
    for (const argument of ['ofs-delta', 'filter blob:none']) {
      const question = await cloneOf(scene, argument)
      const warm = (await ask(scene, question)) ?? Buffer.alloc(0)
      const right = (await askGit(scene, question)) ?? Buffer.alloc(0)
      if (isExtended(warm)) extended += 1
      const [ours, theirs] = await Promise.all(
        [warm, right].map((answer) => objectsOf(readFetchAnswer(answer).pack, scene.work)),
      )
      t.strictSame(ours, theirs, `${argument}, after ${change.name}`)
    }
  }
  t.ok(extended > 0, `${extended} replies are a stored one with new objects`)
})

/** Lines of fetches in which the removal of one changes the reply; wants and haves are named. */
const TEMPLATES = {
  'the parts of a shallow workspace': {
    version: 2,
    lines: 'include-tag no-progress filter_blob:none deepen_3 shallow_OLD want_TIP have_OLD done',
  },
  'a thin pack': { version: 2, lines: 'ofs-delta thin-pack no-progress want_TIP have_OLD done' },
  'a pack with deltas': { version: 2, lines: 'ofs-delta no-progress want_TIP done' },
  'a shallow workspace of version 0': {
    version: 0,
    lines: 'want_TIP shallow_OLD deepen_3 flush have_OLD done',
  },
} as const

t.test("the reply to a fetch that has one line more or less equals git's", async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const scene = await setScene(t, { gatehouse, ada, ours: await findGit(), name: 'r' })
  for (const [name, { version, lines }] of Object.entries(TEMPLATES)) {
    let pairs = 0
    for (const at of packetsOf((await fetchFrom(scene, version, lines)).body).keys()) {
      for (const isShorterFirst of [true, false]) {
        const { whole, shorter } = await newPair(scene, { version, lines, at })
        if (shorter === undefined) continue
        pairs += 1
        const [first, second] = isShorterFirst ? [shorter, whole] : [whole, shorter]
        await ask(scene, first)
        await untilAllCached(gatehouse.dataDir)
        const warm = await ask(scene, second)
        const fault = await differ(scene, second, { warm, right: await askGit(scene, second) })
        const line = packetsOf(whole.body)[at]?.trim()
        t.equal(fault, undefined, `${name}: ${line}, ${isShorterFirst ? 'added' : 'removed'}`)
      }
    }
    t.ok(pairs > 3, `${name}: ${pairs} pairs`)
  }
})

/** Text whose versions git stores as deltas. */
const TEXT = randomBytes(6_000).toString('base64')

/** Adds a tip, so that no reply is stored, and returns a fetch of it with and without a line. */
async function newPair(
  scene: Scene,
  { version, lines, at }: { readonly version: 0 | 2; readonly lines: string; readonly at: number },
) {
  for (let commits = 0; commits < 2; commits += 1) {
    await commitTo(scene, 'main', TEXT + randomBytes(4).toString('hex'))
  }
  await inBare(scene, 'tag', '-f', '-a', '-m', 'x', 'tip', 'main')
  await tryGit(['push', '--quiet', scene.archive, '+refs/*:refs/*'], { cwd: scene.path })
  const whole = await fetchFrom(scene, version, lines)
  return { whole, shorter: without(whole, at) }
}

/** Returns a fetch with these lines, in which TIP is main and OLD the commit two before. */
async function fetchFrom(scene: Scene, version: 0 | 2, text: string): Promise<Question> {
  const read = (name: string) => git(['rev-parse', name], { cwd: scene.path })
  const named = text.replace('TIP', await read('main')).replaceAll('OLD', await read('main~2'))
  const lines = named.split(' ').map((line) => line.replace('_', ' '))
  if (version === 2) return command('fetch', lines)
  const [want = '', ...others] = lines
  const capabilities = 'side-band-64k multi_ack_detailed no-progress ofs-delta'
  const packets = [`${want} ${capabilities}`, ...others]
    .map((line) => (line === 'flush' ? '0000' : packetLine(`${line}\n`)))
    .join('')
  return { version, body: Buffer.from(packets) }
}

/** A request to upload-pack, and the version of its protocol. */
interface Question {
  readonly version: 0 | 2
  readonly body: Buffer
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly ours: Git
  /** Path of the URL, such as `/ada/r0.git`. */
  readonly address: string
  /** Path of the bare repository. */
  readonly path: string
  readonly work: string
  /** Path of a repository in which every object stays that this one ever had. */
  readonly archive: string
  /** Earlier requests, which are sent again because most clients send equal requests. */
  readonly requests: Question[]
  /** Commits that are or were the tip of a ref. */
  readonly tips: string[]
}

interface Setting extends Pick<Scene, 'gatehouse' | 'ada' | 'ours'> {
  readonly name: string
}

async function setScene(t: Test, { gatehouse, ada, ours, name }: Setting): Promise<Scene> {
  const before = new Set(await repositoriesIn(gatehouse.dataDir).catch(() => []))
  const address = `/${await makeRepository(ada, name, { auto_init: true })}.git`
  const path = (await repositoriesIn(gatehouse.dataDir)).find((found) => !before.has(found)) ?? ''
  const work = await temporaryFolder(t)
  await git(['init', '--quiet', '--bare', 'objects.git'], { cwd: work })
  await git(['init', '--quiet', '--bare', 'archive.git'], { cwd: work })
  const archive = join(work, 'archive.git')
  await git(['config', 'gc.auto', '0'], { cwd: archive })
  const scene = { gatehouse, ada, ours, address, path, work, archive, requests: [], tips: [] }
  for (let commits = 0; commits < 8; commits += 1) await commitTo(scene, 'main')
  return scene
}

/** Makes changes and sends requests; returns the replies that differ from git's. */
async function play(
  scene: Scene,
  tally: { same: number; refused: number },
): Promise<readonly string[]> {
  const faults: string[] = []
  const { path, archive } = scene
  for (let step = 0; step < STEPS / REPOSITORIES; step += 1 + REQUESTS) {
    const change = pick(CHANGES)
    await change.make(scene)
    await tryGit(['push', '--quiet', archive, '+refs/*:refs/*'], { cwd: path })
    // Equal and different requests reach both workers, also while git answers an equal one.
    const wanted = await Promise.all(Array.from({ length: REQUESTS }, () => nextRequest(scene)))
    const first = wanted[0] ?? lsRefs()
    if (randomInt(3) === 0) wanted.fill(first)
    else wanted[1] = vary(first)
    const answers = await Promise.all(wanted.map((question) => ask(scene, question)))
    for (const [index, question] of wanted.entries()) {
      const answer = answers[index]
      const right = await askGit(scene, question)
      const fault = await differ(scene, question, { warm: answer, right })
      if (right === undefined) tally.refused += 1
      else tally.same += 1
      const about = () =>
        `${change.name}: ${question.body.toString('latin1').replaceAll('\n', ' ')}`
      if (fault !== undefined) faults.push(`after ${about()}: ${fault}`)
    }
  }
  return faults
}

/** Returns the difference between two replies; undefined if a client ends up with the same. */
async function differ(
  scene: Scene,
  { version, body }: Question,
  { warm, right }: { readonly warm: Buffer | undefined; readonly right: Buffer | undefined },
): Promise<string | undefined> {
  if (warm === undefined || right === undefined) {
    const refusal = right ? 'answers' : `refuses (${refusals.get(scene)})`
    return warm === right ? undefined : `git ${refusal}, and we do not`
  }
  if (warm.equals(right) || [warm, right].every(isRefusal)) return undefined
  const read = version === 2 ? readFetchAnswer : readAnswerV0
  const [one, other] = [read(warm), read(right)]
  // We may end a negotiation that git continues: its answer to a client that is done is the same.
  const isEarly = version === 2 && one.pack.length > 0 && other.pack.length === 0
  const last = isEarly ? await askGit(scene, { version, body: withDone(body) }) : undefined
  const final = last === undefined ? other : read(last)
  // The shallow commits are a set, which git lists in the order of the request.
  const [lines, rightLines] = [one, final].map((answer) => answer.lines.filter(isKept).toSorted())
  if (lines?.join() !== rightLines?.join()) return `${lines} is not ${rightLines}`
  const common = one.lines.flatMap((line) => /^ACK ([0-9a-f]+)/.exec(line)?.[1] ?? [])
  const foreign = common.filter((oid) => !body.includes(`have ${oid}`))
  if (foreign.length > 0) return `${foreign} was not sent`
  const [isNegotiating, isRight] = [one, other].map(({ lines }) =>
    lines.includes('acknowledgments'),
  )
  if (isNegotiating !== isRight) return 'one of the replies has no acknowledgments'
  if (one.isWhole !== other.isWhole) return `whole: ${one.isWhole}, git: ${other.isWhole}`
  if (one.pack.equals(final.pack)) return undefined
  // A client goes on to negotiate after a reply without a pack.
  if (one.pack.length === 0) return other.lines.some(isReady) ? undefined : 'no pack'
  // Only a client that says so can complete a thin pack.
  const bases = body.includes('thin-pack') ? scene.archive : undefined
  if (!body.includes('ofs-delta') && bases === undefined) {
    if (await hasOffsetDeltas(one.pack, scene.work)) return 'deltas that the client cannot read'
  }
  const here = await objectsOf(one.pack, scene.work, bases)
  const there = final.pack.length === 0 ? [] : await objectsOf(final.pack, scene.work, bases)
  if (here.join() === there.join()) return undefined
  // A stored reply may be for fewer common commits than git sees now, or for more. A reply to a
  // request with `done` does not name them.
  const sent = [...body.toString('latin1').matchAll(/have ([0-9a-f]+)/g)].map(([, oid = '']) => oid)
  const known = one.lines.some(isAcknowledgment) ? common : sent
  const shallow = [...body.toString('latin1').matchAll(/shallow ([0-9a-f]+)/g)].map(
    ([, oid]) => oid,
  )
  const has = new Set([...here, ...(await objectsBehind(scene, known, shallow))])
  const missing = there.filter((oid) => !has.has(oid))
  // A client fetches a missing tag of a commit that it has with its next request.
  const targets = missing.map((oid) => git(['rev-parse', `${oid}^{}`], { cwd: scene.archive }))
  const lost = (await Promise.all(targets)).filter((oid) => !has.has(oid))
  return lost.length === 0 ? undefined : `${lost.length} objects are missing`
}

/** Returns the request of version 2 of a client that sends no more commits. */
function withDone(body: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, -4), Buffer.from(`${packetLine('done\n')}0000`)])
}

/** Returns the objects of a client that has commits, some of which may be shallow. */
async function objectsBehind(
  { archive, work }: Scene,
  commits: readonly string[],
  shallow: readonly (string | undefined)[],
): Promise<readonly string[]> {
  if (commits.length === 0) return []
  const file = join(work, 'shallow')
  await writeFile(file, shallow.map((oid) => `${oid}\n`).join(''))
  const listed = await git(['rev-list', '--objects', '--ignore-missing', ...commits], {
    cwd: archive,
    environment: { GIT_SHALLOW_FILE: file },
  })
  return listed.split('\n').map((line) => line.slice(0, 40))
}

async function ask(scene: Scene, { version, body }: Question): Promise<Buffer | undefined> {
  const { address: path, gatehouse, ada } = scene
  const answer = await postFetch({
    port: gatehouse.port,
    path,
    body,
    authorization: `token ${ada.token}`,
    headers: { 'git-protocol': `version=${version}` },
  })
  if (answer.status === 200) return answer.body
  if (answer.status === 400) return undefined
  throw new Error(`status ${answer.status}: ${answer.body}`)
}

/** Last errors of git. */
const refusals = new WeakMap<Scene, string>()

/** Returns git's reply, or its refusal of a commit that no visible ref reaches. */
async function askGit(scene: Scene, { version, body }: Question): Promise<Buffer | undefined> {
  const { ours, path } = scene
  for (const [, want = ''] of body.toString('latin1').matchAll(/want ([0-9a-f]{40})/g)) {
    if (version === 2 && (await isHidden(scene, want))) {
      return Buffer.from(packetLine(`ERR upload-pack: not our ref ${want}`))
    }
  }
  async function* only() {
    yield body
  }
  try {
    const answer = await callUploadPack(ours, {
      repositoryPath: path,
      gitProtocol: `version=${version}`,
      body: only(),
      signal: new AbortController().signal,
      timeoutMs: 60_000,
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    if (!(error instanceof UploadPackError)) throw error
    refusals.set(scene, error.message)
    return undefined
  }
}

/** True for an existing commit that is not reachable from a visible ref. */
async function isHidden({ path }: Scene, want: string): Promise<boolean> {
  const commit = await tryGit(['rev-parse', '--verify', `${want}^{commit}`], { cwd: path })
  if (commit.exitCode !== 0) return false
  // HEAD is visible also when its branch is hidden.
  const inHead = await tryGit(['merge-base', '--is-ancestor', want, 'HEAD'], { cwd: path })
  if (inHead.exitCode === 0) return false
  const hidden = await tryGit(['config', '--get-all', 'uploadpack.hideRefs'], { cwd: path })
  const prefixes = hidden.output.split('\n').filter(Boolean)
  const format = '--format=%(refname)'
  const listed = [
    ...(await git(['for-each-ref', format, '--contains', want], { cwd: path })).split('\n'),
    ...(await git(['for-each-ref', format, '--points-at', want], { cwd: path })).split('\n'),
  ].filter(Boolean)
  return listed.every((name) => prefixes.some((prefix) => name.startsWith(`${prefix}/`)))
}

async function nextRequest(scene: Scene): Promise<Question> {
  if (scene.requests.length > 0 && randomInt(2) === 0) {
    const earlier = pick(scene.requests)
    return randomInt(2) === 0 ? earlier : vary(earlier)
  }
  const question = randomInt(3) === 0 ? lsRefs() : await fetchOf(scene)
  if (scene.requests.length > 20) scene.requests.shift()
  scene.requests.push(question)
  return question
}

/** A line whose removal changes the answer to a fetch. */
const REMOVABLE = /^.{4}(?:have |shallow |deepen|filter |include-tag|thin-pack|ofs-delta|done)/

/** Returns the request without one of its lines, so that its answer differs only by that line. */
function vary(question: Question): Question {
  const all = packetsOf(question.body).map((_, at) => without(question, at))
  const shorter = all.filter((one) => one !== undefined)
  return shorter.length === 0 ? question : pick(shorter)
}

/** Returns the request without one of its packets; undefined if it must have that packet. */
function without({ version, body }: Question, at: number): Question | undefined {
  const packets = packetsOf(body)
  const packet = packets[at] ?? ''
  if (!REMOVABLE.test(packet)) return undefined
  // In version 0, a request without `done` ends with a flush packet.
  const isEnd = version === 0 && packet.includes('done')
  return { version, body: Buffer.from(packets.with(at, isEnd ? '0000' : '').join(''), 'latin1') }
}

function packetsOf(body: Buffer): readonly string[] {
  const packets: string[] = []
  for (let at = 0; at < body.length; ) {
    const length = Math.max(4, Number.parseInt(body.toString('latin1', at, at + 4), 16))
    packets.push(body.toString('latin1', at, at + length))
    at += length
  }
  return packets
}

function lsRefs(): Question {
  const lines = [...some(['peel', 'symrefs', 'unborn'])]
  const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/', 'refs/heads/b1', 'refs/', 'refs/heads/x/']
  return command('ls-refs', [...lines, ...some(prefixes).map((prefix) => `ref-prefix ${prefix}`)])
}

async function fetchOf(scene: Scene): Promise<Question> {
  const listed = await git(['for-each-ref', '--format=%(objectname)'], { cwd: scene.path })
  const tips = [...new Set(listed.split('\n'))].filter(Boolean)
  for (const tip of tips) if (!scene.tips.includes(tip)) scene.tips.push(tip)
  // Most wants are current tips, and some are former ones.
  const mostlyTips = () => pick(randomInt(4) === 0 ? scene.tips : tips)
  const wants = Array.from({ length: 1 + randomInt(2) }, mostlyTips)
  const shape = pick([[], [], ['deepen 1'], ['deepen 2'], ['filter blob:none'], ['filter tree:0']])
  const cut = randomInt(12) === 0 ? ['deepen-since 1500000000'] : shape
  const flags = some(['include-tag', 'ofs-delta', 'thin-pack'])
  if (randomInt(3) === 0) return keptWorkspace(scene, pick(tips))
  if (randomInt(3) === 0) return fetchV0(scene, { wants, cut, flags })
  if (randomInt(5) === 0) wants.splice(0, wants.length, ...(await contentsOf(scene, wants)))
  return command('fetch', [
    ...flags,
    'no-progress',
    ...cut,
    ...wants.map((oid) => `want ${oid}`),
    ...(randomInt(2) === 0 ? ['done'] : negotiation(scene)),
  ])
}

/** Returns a fetch into a workspace that has former tips, each to some depth. */
async function keptWorkspace({ archive, tips }: Scene, tip: string): Promise<Question> {
  const depth = randomInt(4)
  const haves = Array.from({ length: 1 + randomInt(2) }, () => pick(tips))
  const ends = haves.map((oid) =>
    tryGit(['rev-parse', '--verify', '-q', `${oid}~${depth - 1}^{commit}`], { cwd: archive }),
  )
  const shallow = depth === 0 ? [] : (await Promise.all(ends)).map(({ output }) => output)
  return command('fetch', [
    'no-progress',
    ...some(['ofs-delta', 'thin-pack']),
    ...(depth === 0 ? [] : [`deepen ${pick([1, depth])}`]),
    `want ${tip}`,
    ...[...new Set(haves)].map((oid) => `have ${oid}`),
    ...[...new Set(shallow)].filter(Boolean).map((oid) => `shallow ${oid}`),
    ...some(['done']),
  ])
}

/** Returns a complete clone of the refs that are never hidden. */
async function cloneOf({ path }: Scene, argument: string): Promise<Question> {
  const refs = ['refs/heads/large', 'refs/heads/main', 'refs/heads/b1', 'refs/heads/b2']
  const format = '--format=%(objectname)'
  const listed = await git(['for-each-ref', format, ...refs, 'refs/tags'], { cwd: path })
  const wants = [...new Set(listed.split('\n'))].map((oid) => `want ${oid}`)
  return command('fetch', [argument, 'no-progress', ...wants, 'done'])
}

/** Returns lines of a client that has commits, some of which the server has never seen. */
function negotiation({ tips }: Scene): readonly string[] {
  const unknown = randomBytes(20).toString('hex')
  const haves = Array.from({ length: 1 + randomInt(3) }, () => pick(tips))
  const shallow = randomInt(4) === 0 ? haves.slice(0, 1).map((oid) => `shallow ${oid}`) : []
  return [
    ...haves.map((oid) => `have ${oid}`),
    ...(randomInt(4) === 0 ? [`have ${unknown}`] : []),
    ...shallow,
    ...some(['done']),
  ]
}

/** Returns the trees and files of the first commit that has any, as partial clones want them. */
async function contentsOf({ path }: Scene, commits: readonly string[]): Promise<readonly string[]> {
  const trees = await tryGit(['ls-tree', '-r', '-t', commits[0] ?? ''], { cwd: path })
  const oids = [...trees.output.matchAll(/\b[0-9a-f]{40}\b/g)].map(([oid]) => oid)
  return oids.length === 0 ? commits : oids
}

interface FetchLines {
  readonly wants: readonly string[]
  readonly cut: readonly string[]
  readonly flags: readonly string[]
}

/** Returns a fetch of a client of protocol v0 that supports what git has supported since 2010. */
function fetchV0(scene: Scene, { wants, cut, flags }: FetchLines): Question {
  const needed = ['side-band-64k', 'no-progress', 'deepen-since', 'filter']
  const capabilities = [...needed, ...flags, ...some(['multi_ack_detailed', 'no-done'])].join(' ')
  const [first, ...others] = wants.map((oid) => `want ${oid}`)
  const lines = [`${first} ${capabilities}`, ...others, ...cut].map((line) => `${line}\n`)
  const rest = randomInt(2) === 0 ? ['done'] : negotiation(scene)
  const haves = rest.filter((line) => line.startsWith('have '))
  const end = rest.includes('done') ? packetLine('done\n') : '0000'
  const text = `${lines.map(packetLine).join('')}0000${haves.map(packetLine).join('')}${end}`
  return { version: 0, body: Buffer.from(text) }
}

function command(name: string, lines: readonly string[]): Question {
  const head = packetLine(`command=${name}`) + packetLine(`agent=test/${randomInt(3)}`)
  const format = packetLine('object-format=sha1')
  const body = Buffer.from(
    `${head}${format}0001${lines.map((line) => packetLine(`${line}\n`)).join('')}0000`,
  )
  return { version: 2, body }
}

interface Change {
  readonly name: string
  readonly make: (scene: Scene) => Promise<unknown>
}

const BRANCHES = ['main', 'b1', 'b2', 'x/y', 'x/z'] as const

/** Changes of a repository, by a push and by git commands of an administrator. */
const CHANGES: readonly Change[] = [
  { name: 'nothing', make: async () => {} },
  { name: 'a commit', make: (scene) => commitTo(scene, pick(BRANCHES)) },
  { name: 'a commit', make: (scene) => commitTo(scene, pick(BRANCHES)) },
  { name: 'a push', make: pushTo },
  {
    name: 'a branch that goes back',
    make: (scene) => inBare(scene, 'update-ref', `refs/heads/${pick(BRANCHES)}`, 'main~1'),
  },
  {
    name: 'a deleted branch',
    make: (scene) => inBare(scene, 'update-ref', '-d', `refs/heads/${pick(BRANCHES.slice(1))}`),
  },
  {
    name: 'a tag',
    make: (scene) => inBare(scene, 'tag', '-f', '-a', '-m', 'x', `v${randomInt(4)}`, 'main'),
  },
  { name: 'a deleted tag', make: (scene) => inBare(scene, 'tag', '-d', `v${randomInt(4)}`) },
  { name: 'packed references', make: (scene) => inBare(scene, 'pack-refs', '--all', '--prune') },
  { name: 'git gc', make: (scene) => inBare(scene, 'gc', '-q', '--prune=now') },
  { name: 'git repack', make: (scene) => inBare(scene, 'repack', '-a', '-d', '-q', '-n') },
  {
    name: 'git repack without a bitmap',
    make: (scene) => inBare(scene, 'repack', '-a', '-d', '-q', '-n', '--no-write-bitmap-index'),
  },
  {
    name: 'hidden references',
    make: (scene) => inBare(scene, 'config', '--add', 'uploadpack.hideRefs', 'refs/heads/x'),
  },
  {
    name: 'references that show again',
    make: (scene) => inBare(scene, 'config', '--unset-all', 'uploadpack.hideRefs'),
  },
  {
    name: 'another HEAD',
    make: (scene) => inBare(scene, 'symbolic-ref', 'HEAD', `refs/heads/${pick(BRANCHES)}`),
  },
]

/** Runs git in the bare repository. Failures, such as a missing branch, are ignored. */
function inBare({ path }: Scene, ...words: readonly string[]): Promise<unknown> {
  return tryGit(words, { cwd: path })
}

async function commitTo(scene: Scene, branch: string, text?: string): Promise<void> {
  await inBare(scene, 'update-ref', `refs/heads/${branch}`, await makeCommit(scene.path, text))
}

async function pushTo(scene: Scene): Promise<void> {
  const cwd = join(scene.work, 'objects.git')
  const remote = scene.ada.remote(scene.address.slice(1))
  const commit = await makeCommit(cwd)
  await git(['push', '--quiet', remote, `+${commit}:refs/heads/${pick(BRANCHES)}`], { cwd })
}

/** Texts of files: few, so that later commits have files of earlier ones again. */
const TEXTS = Array.from({ length: 8 }, () => randomBytes(400).toString('base64'))

/**
 * Creates a commit on top of main, if main exists, with one file of another text. The other files
 * are those of main.
 */
async function makeCommit(cwd: string, text?: string): Promise<string> {
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: text ?? pick(TEXTS) })
  const name = text === undefined ? `f${randomInt(9)}` : 'text'
  const present = await tryGit(['ls-tree', 'main'], { cwd })
  const others = present.output.split('\n').filter((line) => !line.endsWith(`\t${name}`))
  const lines = [...others, `100644 blob ${blob}\t${name}`, ''].filter(Boolean)
  const tree = await git(['mktree'], { cwd, input: `${lines.join('\n')}\n` })
  const { output, exitCode } = await tryGit(['rev-parse', '--verify', '-q', 'main'], { cwd })
  const parents = exitCode === 0 ? ['-p', output] : []
  return git(['commit-tree', tree, ...parents, '-m', randomBytes(4).toString('hex')], { cwd })
}

function pick<T>(list: readonly T[]): T {
  return list[randomInt(list.length)] as T
}

function some<T>(list: readonly T[]): T[] {
  return list.filter(() => randomInt(2) === 0)
}
