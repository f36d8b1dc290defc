/** Threat: replies from the pack cache differ from git's replies after random changes. */

import { randomBytes, randomInt } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { findGit } from '../../cgi/process/git.js'
import { ask, askGit, differ } from '../helpers/compared-answers.js'
import { archiveObjects, inBare, readInBare, type Scene } from '../helpers/compared-repository.js'
import { isExtended, isRefusal, objectsOf, readFetchAnswer } from '../helpers/fetch-answers.js'
import { command, packetsOf, type Question, vary, without } from '../helpers/fetch-questions.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { packetLine } from '../helpers/git-requests.js'
import { countPackCache, untilAllCached } from '../helpers/pack-cache-counts.js'
import { pick, shuffle } from '../helpers/random.js'
import { aFile, CHANGES, commitFiles } from '../helpers/random-changes.js'
import { lsRefs, nextRequest } from '../helpers/random-fetches.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Number of changes and requests in all repositories. */
const STEPS = isFullSize ? 5_000 : 120
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

/** Changes before complete clones; each kind is made as often as the others. */
const CLONED_CHANGES = CHANGES.filter(({ name }) => !/hidden|show|HEAD/.test(name))
/** Lines of the clones after each change. */
const CLONES = ['ofs-delta', 'filter blob:none']
const ROUNDS = isFullSize ? 8 : 1

const isRepack = ({ name }: { readonly name: string }) => name === 'git repack'

t.test('replies of one worker', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const ours = await findGit()
  await t.test('complete clones have the same objects as those of git', async (t) =>
    compareClones(t, await setScene(t, { gatehouse, ada, ours, name: 'clones' })),
  )
  const scene = await setScene(t, { gatehouse, ada, ours, name: 'fetches' })
  await t.test("the reply to a fetch that has one line more or less equals git's", (t) =>
    comparePairs(t, scene),
  )
  await t.test('a tag that exists only while git answers is not sent afterwards', (t) =>
    sendWithPassingTags(t, scene),
  )
  await t.test('a tag is sent with the next equal fetch', (t) => sendWithNewTag(t, scene))
  await t.test('a negotiation that git ends is also ended by the replies that clients share', (t) =>
    endNegotiations(t, scene),
  )
  await t.test('a commit that no visible ref reaches is refused, also if it is stored', (t) =>
    refuseInvisible(t, scene),
  )
})

/** Compares complete clones with those of git after random changes. */
async function compareClones(t: Test, scene: Scene): Promise<void> {
  // Only long replies are extended.
  const input = randomBytes(3_300_000).toString('base64')
  // Without compression, git reads the commit much faster.
  const plain = ['-c', 'core.compression=0']
  const words = [...plain, 'commit-tree', 'main^{tree}', '-F', '-']
  const large = await git(words, { cwd: scene.path, input })
  await inBare(scene, 'update-ref', 'refs/heads/large', large)
  await inBare(scene, ...plain, 'repack', '-a', '-d', '-q', '--write-bitmap-index')
  let extended = 0
  const changes = Array.from({ length: ROUNDS }, () => CLONED_CHANGES).flat()
  // Without a bitmap or without new objects no reply is extended.
  const last = { name: 'a commit on main', make: () => commitFiles(scene, [aFile()]) }
  const all = [...shuffle(changes), ...CHANGES.filter(isRepack), last]
  for (const [at, change] of all.entries()) {
    await change.make(scene)
    // Each clone takes long, so most changes are followed by one of the two kinds.
    const isShort = !isFullSize && at < all.length - 2
    for (const argument of isShort ? [CLONES[at % CLONES.length] ?? ''] : CLONES) {
      const question = await cloneOf(scene, argument)
      const warm = (await ask(scene, question)) ?? Buffer.alloc(0)
      const right = (await askGit(scene, question)) ?? Buffer.alloc(0)
      if (isExtended(warm)) extended += 1
      t.ok(right.length > 0, `${argument}, git answers after ${change.name}`)
      if (warm.equals(right)) continue
      const [ours, theirs] = await Promise.all(
        [warm, right].map((answer) => objectsOf(readFetchAnswer(answer).pack, scene.work)),
      )
      t.strictSame(ours, theirs, `${argument}, after ${change.name}`)
    }
  }
  t.ok(extended > 0, `${extended} replies are a stored one with new objects`)
}

/**
 * Lines of fetches in which the removal of one changes the reply; wants and haves are named. At the
 * normal size, only the lines that match `removed` are removed: others are in another fetch too.
 */
const TEMPLATES = {
  'the parts of a shallow workspace': {
    version: 2,
    lines: 'include-tag no-progress filter_blob:none deepen_3 shallow_OLD want_TIP have_OLD done',
    removed: /./,
  },
  'a thin pack': {
    version: 2,
    lines: 'ofs-delta thin-pack no-progress want_TIP have_OLD done',
    removed: /thin-pack|ofs-delta/,
  },
  'a pack with deltas': {
    version: 2,
    lines: 'ofs-delta no-progress want_TIP done',
    removed: /ofs-delta/,
  },
  'a shallow workspace of version 0': {
    version: 0,
    lines: 'want_TIP shallow_OLD deepen_3 flush have_OLD done',
    removed: /./,
  },
} as const

/** Sends each fetch with and without each of its lines, in both orders. */
async function comparePairs(t: Test, scene: Scene): Promise<void> {
  for (const [name, template] of Object.entries(TEMPLATES)) {
    const pairs = await makePairs(scene, template)
    for (const { whole, shorter, at, isShorterFirst } of pairs) {
      const [first, second] = isShorterFirst ? [shorter, whole] : [whole, shorter]
      await ask(scene, first)
      await untilAllCached(scene.gatehouse.dataDir)
      const warm = await ask(scene, second)
      const fault = await differ(scene, second, { warm, right: await askGit(scene, second) })
      const line = packetsOf(whole.body)[at]?.trim()
      t.equal(fault, undefined, `${name}: ${line}, ${isShorterFirst ? 'added' : 'removed'}`)
    }
    t.ok(pairs.length > 1, `${name}: ${pairs.length} pairs`)
  }
}

/** Fetches a commit while a branch has it, while a hidden ref has it, and while none has it. */
async function refuseInvisible(t: Test, scene: Scene): Promise<void> {
  await commitFiles(scene, [aFile()])
  const question = await fetchOfMain(scene, 'no-progress want_TIP done')
  const isRefused = async () =>
    [await ask(scene, question), await askGit(scene, question)].map(
      (reply) => reply === undefined || isRefusal(reply),
    )
  t.strictSame(await isRefused(), [false, false], 'while it is the tip of main')
  await inBare(scene, 'update-ref', 'refs/heads/x/y', 'main')
  await inBare(scene, 'update-ref', 'refs/heads/main', 'main~1')
  t.strictSame(await isRefused(), [false, false], 'while it is the tip of a branch')
  await inBare(scene, 'config', '--add', 'uploadpack.hideRefs', 'refs/heads/x')
  t.strictSame(await isRefused(), [true, true], 'while it is the tip of a hidden ref')
  await inBare(scene, 'update-ref', '-d', 'refs/heads/x/y')
  t.strictSame(await isRefused(), [true, true], 'after the ref was deleted')
}

/** Sends fetches of one commit by clients that have different former commits. */
async function endNegotiations(t: Test, scene: Scene): Promise<void> {
  await commitFiles(scene, [aFile()])
  const range = ['rev-list', '--max-count=5', 'main']
  const [tip, ...former] = (await git(range, { cwd: scene.path })).split('\n')
  for (const oid of former) {
    const question = command('fetch', ['no-progress', `want ${tip}`, `have ${oid}`])
    for (const reply of [await askGit(scene, question), await ask(scene, question)]) {
      const { lines, pack } = readFetchAnswer(reply ?? Buffer.alloc(0))
      t.ok(lines.includes('ready') && pack.length > 0, `have ${oid}`)
    }
  }
}

/** Factor by which each tag is added later than the one before, and the maximum number of tags. */
const LATER_FACTOR = isFullSize ? 1.1 : 1.5
const PASSING_TAGS = isFullSize ? 100 : 20
/** Number of tags that git did not see, after which the others would be too late as well. */
const LATE_TAGS = 2

/**
 * Adds a tag while git makes a reply, removes it, and compares the replies to the next fetch. Tags
 * are added later and later, so that some are added after the gateway and before git read the refs.
 */
async function sendWithPassingTags(t: Test, scene: Scene): Promise<void> {
  const file = join(scene.path, 'refs/tags/passing')
  let [sent, late] = [0, 0]
  for (let at = 0; at < PASSING_TAGS && late < LATE_TAGS; at += 1) {
    await commitFiles(scene, [aFile()])
    await inBare(scene, 'tag', '-a', '-m', 'x', 'passing', 'main')
    const tag = await readFile(file)
    await rm(file)
    const question = await fetchOfMain(scene, 'include-tag no-progress want_TIP done')
    const reply = ask(scene, question)
    await sleep(LATER_FACTOR ** at)
    await writeFile(file, tag)
    const first = await packedObjects(scene, await reply)
    await rm(file)
    if (first.includes(tag.toString().trim())) sent += 1
    else late += 1
    t.strictSame(await objectsOfReply(scene, question), await objectsOfGit(scene, question))
  }
  t.comment(`${sent} tags were sent while they existed, and ${late} were not`)
}

/** Compares the replies to equal fetches before and after a tag of their commit is added. */
async function sendWithNewTag(t: Test, scene: Scene): Promise<void> {
  await commitFiles(scene, [aFile()])
  const question = await fetchOfMain(scene, 'include-tag no-progress want_TIP done')
  for (const name of ['without', 'with']) {
    for (const attempt of ['first', 'second']) {
      const [ours, theirs] = [
        await objectsOfReply(scene, question),
        await objectsOfGit(scene, question),
      ]
      t.strictSame(ours, theirs, `${attempt} reply ${name} the tag`)
    }
    await inBare(scene, 'tag', '-a', '-m', 'x', 'newest', 'main')
  }
}

async function packedObjects(scene: Scene, answer: Buffer | undefined): Promise<readonly string[]> {
  return await objectsOf(readFetchAnswer(answer ?? Buffer.alloc(0)).pack, scene.work)
}

async function objectsOfReply(scene: Scene, question: Question): Promise<readonly string[]> {
  return await packedObjects(scene, await ask(scene, question))
}

async function objectsOfGit(scene: Scene, question: Question): Promise<readonly string[]> {
  return await packedObjects(scene, await askGit(scene, question))
}

/** Text whose versions git stores as deltas. */
const TEXT = randomBytes(6_000).toString('base64')

interface FetchLines {
  readonly version: 0 | 2
  readonly lines: string
}

interface Template extends FetchLines {
  readonly removed: RegExp
}

/** A fetch with and without one of its packets. */
interface Pair {
  readonly whole: Question
  readonly shorter: Question
  /** Position of the packet. */
  readonly at: number
  readonly isShorterFirst: boolean
}

/** Returns a pair for each packet and order, of a branch of its own, so that no reply is stored. */
async function makePairs(scene: Scene, template: Template): Promise<readonly Pair[]> {
  const sample = fetchWith(template, { tip: UNKNOWN, old: UNKNOWN })
  const isRemoved = (packet: string) => isFullSize || template.removed.test(packet)
  const places = packetsOf(sample.body).flatMap((packet, at) =>
    !isRemoved(packet) || without(sample, at) === undefined
      ? []
      : [true, false].map((first) => [at, first] as const),
  )
  const tips = await addBranches(scene, places.length)
  return places.map(([at, isShorterFirst], number) => {
    const whole = fetchWith(template, { old: tips[number] ?? '', tip: tips[number + 1] ?? '' })
    const shorter = without(whole, at)
    if (shorter === undefined) throw new Error(`packet ${at} was not removed`)
    return { whole, shorter, at, isShorterFirst }
  })
}

const UNKNOWN = '1'.repeat(40)

/**
 * Adds branches with a tag each, on top of each other and of main: each two commits ahead of the
 * branch before. Returns the commits of main and of the branches.
 */
async function addBranches(scene: Scene, count: number): Promise<readonly string[]> {
  const { path: cwd } = scene
  const prefix = randomBytes(4).toString('hex')
  const branches = Array.from({ length: count }, (_, at) => `refs/heads/${prefix}-${at}`)
  const signature = `Ada <ada@example.com> ${Math.floor(Date.now() / 1_000)} +0000`
  const commands = branches.flatMap((branch, at) => [
    ...['first', 'second'].map((message) => {
      const text = TEXT + randomBytes(4).toString('hex')
      return [
        `commit ${branch}`,
        `committer ${signature}`,
        `data ${message.length}\n${message}`,
        ...(message === 'first' ? [`from ${branches[at - 1] ?? 'refs/heads/main^0'}`] : []),
        `M 100644 inline text\ndata ${text.length}\n${text}\n`,
      ].join('\n')
    }),
    `tag ${prefix}-${at}\nfrom ${branch}\ntagger ${signature}\ndata 1\nx\n`,
  ])
  // Git makes deltas itself only of loose objects.
  const words = ['-c', 'fastimport.unpackLimit=10000', 'fast-import', '--quiet']
  await git(words, { cwd, input: commands.join('') })
  await archiveObjects(scene)
  return (await git(['rev-parse', 'main', ...branches], { cwd })).split('\n')
}

/** Returns a fetch of version 2 with these lines, in which TIP is main. */
async function fetchOfMain(scene: Scene, lines: string): Promise<Question> {
  const tip = await git(['rev-parse', 'main'], { cwd: scene.path })
  return fetchWith({ version: 2, lines }, { tip, old: UNKNOWN })
}

/** Returns a fetch with the lines of a template, in which TIP and OLD are commits. */
function fetchWith(
  { version, lines: text }: FetchLines,
  { tip, old }: { readonly tip: string; readonly old: string },
): Question {
  const named = text.replace('TIP', tip).replaceAll('OLD', old)
  const lines = named.split(' ').map((line) => line.replace('_', ' '))
  if (version === 2) return command('fetch', lines)
  const [want = '', ...others] = lines
  const capabilities = 'side-band-64k multi_ack_detailed no-progress ofs-delta'
  const packets = [`${want} ${capabilities}`, ...others]
    .map((line) => (line === 'flush' ? '0000' : packetLine(`${line}\n`)))
    .join('')
  return { version, body: Buffer.from(packets) }
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
  const scene = { gatehouse, ada, ours, address, path, work, archive, requests: [], tips: [] }
  await commitFiles(scene, Array.from({ length: 8 }, aFile))
  return scene
}

/** Makes changes and sends requests; returns the replies that differ from git's. */
async function play(
  scene: Scene,
  tally: { same: number; refused: number },
): Promise<readonly string[]> {
  const faults: string[] = []
  for (let step = 0; step < STEPS / REPOSITORIES; step += 1 + REQUESTS) {
    const change = pick(CHANGES)
    await change.make(scene)
    await archiveObjects(scene)
    // Equal and different requests reach both workers, also while git answers an equal one.
    const wanted = await Promise.all(Array.from({ length: REQUESTS }, () => nextRequest(scene)))
    const first = wanted[0] ?? lsRefs()
    if (randomInt(3) === 0) wanted.fill(first)
    else wanted[1] = vary(first)
    const answers = await Promise.all(wanted.map((question) => ask(scene, question)))
    const rights = new Map<Question, Buffer | undefined>()
    for (const [index, question] of wanted.entries()) {
      const answer = answers[index]
      const isRepeated = rights.has(question)
      const right = isRepeated ? rights.get(question) : await askGit(scene, question)
      rights.set(question, right)
      if (right === undefined) tally.refused += 1
      else tally.same += 1
      // Equal replies to one request are compared once.
      const before = isRepeated ? answers[wanted.indexOf(question)] : undefined
      if (before !== undefined && answer?.equals(before) === true) continue
      const fault = await differ(scene, question, { warm: answer, right })
      if (fault === undefined) continue
      const lines = question.body.toString('latin1').replaceAll('\n', ' ')
      faults.push(`after ${change.name}: ${lines}: ${fault}; ${await describe(scene)}`)
    }
  }
  return faults
}

/** Returns the refs, the branch of `HEAD`, the hidden refs, and what git finds incomplete. */
async function describe({ path }: Scene): Promise<string> {
  const commands = [
    ['for-each-ref'],
    ['symbolic-ref', 'HEAD'],
    ['config', '--get-all', 'uploadpack.hideRefs'],
    ['fsck', '--connectivity-only', '--no-progress'],
  ]
  const ends = await Promise.all(commands.map((words) => tryGit(words, { cwd: path })))
  return ends.map(({ output, errorText }) => output + errorText).join('; ')
}

/** Returns a complete clone of the refs that are never hidden. */
async function cloneOf(scene: Scene, argument: string): Promise<Question> {
  const refs = ['refs/heads/large', 'refs/heads/main', 'refs/heads/b1', 'refs/heads/b2']
  const format = '--format=%(objectname)'
  const listed = await readInBare(scene, 'for-each-ref', format, ...refs, 'refs/tags')
  const wants = [...new Set(listed.split('\n'))].map((oid) => `want ${oid}`)
  return command('fetch', [argument, 'no-progress', ...wants, 'done'])
}
