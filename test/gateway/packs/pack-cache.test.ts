/** The pack cache with real git: requests answered from the cache and requests left to git. */

import { readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { initRepository } from '../../../cgi/repository/repository.js'
import { createLocalCoordinator, createPackCache, packFolder } from '../../../gateway/packs/warm.js'
import type { WarmAnswer } from '../../../gateway/packs/warm-answer.js'
import { countedGit } from '../../helpers/counted-git.js'
import { openContext } from '../../helpers/gateway.js'
import { git as runGit } from '../../helpers/git-client.js'
import { packetLine } from '../../helpers/git-requests.js'
import { deferred } from '../../helpers/listening.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

function requestOf(
  command: string,
  lines: readonly string[],
  capabilities: readonly string[] = [],
) {
  const head = [`command=${command}`, 'object-format=sha1', ...capabilities].map(packetLine)
  const tail = lines.map((line) => packetLine(`${line}\n`))
  return Buffer.from(`${head.join('')}0001${tail.join('')}0000`)
}

async function readAll({ body }: WarmAnswer): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString('latin1')
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('latin1')
}

/** Creates a repository with two commits, main and topic at the second one, and a cache. */
async function aCache(t: Test) {
  const { context, fixture } = await openContext(t)
  const { settings, log, queue } = context
  const git = await countedGit(settings.data.dir)
  const repositoryPath = join(settings.data.dir, 'one.git')
  await initRepository(git, repositoryPath, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  await copy.git('remote', 'add', 'origin', repositoryPath)
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  await copy.git('push', '--quiet', 'origin', 'main', 'main:topic')
  const newLink = () => createLocalCoordinator(settings.cache.dir)
  /** Creates the cache of another gateway with the same data folder. */
  const newCache = (link = newLink()) =>
    createPackCache({ git, log, queue, settings: () => settings, link })
  const cache = newCache()
  const ask = async (body: Buffer, asked = cache, version: 0 | 2 = 2) => {
    const request = new AbortController()
    const before = (await git.started()).length
    const question = { repositoryPath, repositoryBytes: 0, client: () => 'ada', request }
    const answer = await asked.answer(question, body, version)
    const text = answer === undefined ? '' : await readAll(answer)
    return { outcome: answer?.outcome, text, starts: (await git.started()).length - before }
  }
  const folder = packFolder(settings.cache.dir)
  return {
    ask,
    queue,
    path: repositoryPath,
    /** Path of the script that starts git. */
    gitFile: git.file,
    /** Begins to make the answers that are expected after a push. */
    prepare: () => cache.prepareAfter({ repositoryPath, repositoryBytes: 0 }),
    /** Checks the wants of a request that git is to answer. */
    refuse: (...wants: readonly string[]) => {
      const request = new AbortController()
      return cache.refuse(
        { repositoryPath, repositoryBytes: 0, client: () => 'ada', request },
        wants,
      )
    },
    copy,
    first,
    second,
    newCache,
    newLink,
    lines: fixture.lines,
    fetch: (...lines: readonly string[]) => ask(requestOf('fetch', [...lines, 'done'])),
    server: (...args: readonly string[]) => runGit(args, { cwd: repositoryPath }),
    /** Returns the files of stored answers once none is being written. */
    async kept(count: number): Promise<readonly string[]> {
      // Some tests stop the other clock.
      const deadlineMs = performance.now() + 10_000
      while (performance.now() < deadlineMs) {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true })
        const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.sums'))
        const isDone = files.every(({ name }) => !name.endsWith('.part'))
        if (isDone && files.length === count) {
          return files.map((file) => join(file.parentPath, file.name))
        }
      }
      throw new Error(`there were never ${count} answers`)
    },
  }
}

/** Stops the clock, so that every change appears to be recent. */
function stopClock(t: Test): void {
  const { now } = Date
  const stoppedAtMs = now()
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => stoppedAtMs
}

t.test('a second clone needs no process, in this worker and in another', async (t) => {
  const { ask, newCache, second, kept } = await aCache(t)
  const list = requestOf('ls-refs', ['peel', 'symrefs', 'ref-prefix refs/heads/'])
  const clone = requestOf('fetch', ['ofs-delta', 'no-progress', `want ${second}`, 'done'])
  t.match(await ask(list), { outcome: 'miss', text: `${second} refs/heads/main\n`, starts: 1 })
  t.match(await ask(list), { outcome: 'hit', starts: 0 })
  const cold = await ask(clone)
  t.match(cold, { outcome: 'miss', text: /^000dpackfile\n.*PACK.*0000$/s, starts: 1 })
  await kept(1)
  t.strictSame(await ask(clone), { outcome: 'hit', text: cold.text, starts: 0 })
  const agent = requestOf(
    'fetch',
    ['done', `want ${second}`, 'no-progress', 'ofs-delta'],
    ['agent=x'],
  )
  t.strictSame(await ask(agent), { outcome: 'hit', text: cold.text, starts: 0 })
  const other = newCache()
  t.match(await ask(list, other), { outcome: 'miss', starts: 1 })
  t.strictSame(await ask(clone, other), { outcome: 'hit', text: cold.text, starts: 0 })
})

t.test('answers with few objects are made without git, once, and stored', async (t) => {
  const { ask, first, second, server, kept } = await aCache(t)
  await server('repack', '-a', '-d', '--quiet')
  await ask(requestOf('ls-refs', []))
  const clone = requestOf('fetch', [`want ${second}`, 'deepen 1', 'done'])
  const answers = await Promise.all([clone, clone, clone].map((body) => ask(body)))
  const outcomes = answers.map(({ outcome }) => outcome)
  t.strictSame(outcomes.toSorted(), ['join', 'join', 'made'])
  const [made, ...others] = answers
  t.match(made?.text, new RegExp(`^0011shallow-info\n0034shallow ${second}0001.*PACK.*0000$`, 's'))
  for (const { text, starts } of others) t.same([text, starts], [made?.text, 0])
  await kept(1)
  t.match(await ask(clone), { outcome: 'hit', text: made?.text, starts: 0 })
  const fetch = requestOf('fetch', [`want ${second}`, `have ${first}`, 'done'])
  t.match(await ask(fetch), { outcome: 'made', starts: 0 })
  await kept(2)
})

t.test('concurrent clones share one process', async (t) => {
  const { ask, second } = await aCache(t)
  await ask(requestOf('ls-refs', []))
  const odd = requestOf('fetch', [`want ${second}`, 'done'], ['session-id=none'])
  const plain = requestOf('fetch', ['done', `want ${second}`])
  const all = await Promise.all([odd, plain, plain, plain, odd].map((body) => ask(body)))
  t.strictSame(all.map(({ outcome }) => outcome).toSorted(), [
    'join',
    'join',
    'join',
    'join',
    'miss',
  ])
  t.equal(new Set(all.map(({ text }) => text)).size, 1)
  t.match(all[1]?.text, /PACK/, 'although the first request had an unknown argument')
})

t.test('concurrent clones from gateways with one data folder share one process', async (t) => {
  const { ask, newCache, second } = await aCache(t)
  const list = requestOf('ls-refs', [])
  const clone = requestOf('fetch', [`want ${second}`, 'done'])
  const others = [newCache(), newCache()]
  await Promise.all([ask(list), ...others.map((other) => ask(list, other))])
  const all = await Promise.all([ask(clone), ...others.map((other) => ask(clone, other))])
  t.strictSame(all.map(({ outcome }) => outcome).toSorted(), ['join', 'join', 'miss'])
  t.equal(new Set(all.map(({ text }) => text)).size, 1)
})

t.test('an answer that another gateway has just stored is not made again', async (t) => {
  const { ask, newCache, newLink, second, kept } = await aCache(t)
  const clone = requestOf('fetch', [`want ${second}`, 'done'])
  const link = newLink()
  const stored = deferred()
  const late = newCache({
    ...link,
    report: (report) => {
      if (report.act === 'want') void stored.promise.then(() => link.report(report))
      else link.report(report)
    },
  })
  const waiting = ask(clone, late)
  const cold = await ask(clone)
  await kept(1)
  stored.resolve()
  const { outcome, text } = await waiting
  t.strictSame([outcome, text], ['hit', cold.text])
})

t.test('an answer in advance is made when no request waits for git', async (t) => {
  const { copy, second, fetch, queue, prepare, kept } = await aCache(t)
  for (let clients = 0; clients < 2; clients += 1) await fetch(`want ${second}`)
  const third = await copy.commit('three')
  await copy.git('push', '--quiet', 'origin', 'main', 'main:topic')
  const { signal } = new AbortController()
  const entered: Promise<() => void>[] = []
  while (queue.load.waiting === 0) {
    const visitor = { repository: 'other', client: `client ${entered.length}` }
    entered.push(queue.enter(signal, visitor))
    await sleep(1)
  }
  prepare()
  await sleep(200)
  await kept(1)
  for (const free of entered) (await free)()
  await kept(2)
  t.match(await fetch(`want ${third}`), { outcome: 'hit', starts: 0 })
})

t.test('a push to one branch keeps the answers for others', async (t) => {
  const { fetch, copy, second, kept } = await aCache(t)
  await fetch(`want ${second}`)
  await kept(1)
  const third = await copy.commit('three')
  await copy.git('push', '--quiet', 'origin', 'main')
  t.match(await fetch(`want ${second}`), { outcome: 'hit', starts: 0 })
  t.match(await fetch(`want ${third}`), { outcome: 'miss' })
})

t.test(
  'directly after a change references are read again, and the new answers are stored',
  async (t) => {
    const { ask, fetch, copy, server, first, kept } = await aCache(t)
    const list = requestOf('ls-refs', ['ref-prefix refs/heads/main'])
    await ask(list)
    stopClock(t)
    const third = await copy.commit('three')
    await copy.git('push', '--quiet', 'origin', 'main')
    t.match(await ask(list), { outcome: 'hit', text: `${third} refs/heads/main\n`, starts: 0 })
    const clone = [`want ${third}`, 'include-tag', 'no-progress']
    const cold = await fetch(...clone)
    t.match(cold, { outcome: 'miss', text: /PACK/, starts: 1 })
    await kept(1)
    t.strictSame(await fetch(...clone), { outcome: 'hit', text: cold.text, starts: 0 })
    await server('update-ref', 'refs/heads/main', first)
    t.match(await ask(list), { outcome: 'hit', text: `${first} refs/heads/main\n`, starts: 0 })
    t.match(await fetch(...clone), NOT_OUR_REF, 'no reference reaches the commit any more')
    const since = [`want ${first}`, 'deepen-not refs/heads/topic']
    t.match(await fetch(...since), { outcome: undefined }, 'the answer depends on other references')
    await server('tag', 'v1', first)
    t.match(await ask(list), { outcome: undefined }, 'there is a new tag')
  },
)

/** Refusal of a commit that no visible reference reaches. */
const NOT_OUR_REF = { text: /^[0-9a-f]{4}ERR upload-pack: not our ref [0-9a-f]{40}$/ }

t.test('a commit that is no tip is sent only if a visible reference reaches it', async (t) => {
  const { fetch, server, first, second, kept } = await aCache(t)
  t.match(await fetch(`want ${second}`), { outcome: 'miss' })
  t.match(await fetch(`want ${first}`), { outcome: 'miss', text: /PACK/, starts: 2 })
  await kept(2)
  t.match(await fetch(`want ${first}`), { outcome: 'hit', text: /PACK/, starts: 0 })
  t.match(await fetch(`want ${'1'.repeat(40)}`), { outcome: undefined }, 'git names the fault')
  const tree = await server('rev-parse', `${second}^{tree}`)
  t.match(await fetch(`want ${tree}`), { outcome: 'miss', text: /PACK/, starts: 3 })
  await kept(3)
  t.match(await fetch(`want ${tree}`), { outcome: 'hit', starts: 0 }, 'a tree of a tip')
  const older = await server('rev-parse', `${first}^{tree}`)
  t.match(await fetch(`want ${older}`), { outcome: undefined }, 'git sends older trees and files')
  await server('update-ref', 'refs/heads/main', first)
  t.match(await fetch(`want ${second}`), { outcome: 'hit' }, 'the other branch has it')
  await server('update-ref', '-d', 'refs/heads/topic')
  t.match(await fetch(`want ${second}`), NOT_OUR_REF, 'no branch has it')
  t.match(await fetch(`want ${second}`), { ...NOT_OUR_REF, starts: 0 })
  await server('update-ref', 'refs/heads/topic', second)
  t.match(await fetch(`want ${second}`), { outcome: 'hit' })
  await server('config', 'uploadpack.hideRefs', 'refs/heads/topic')
  t.match(await fetch(`want ${second}`), NOT_OUR_REF, 'hidden')
})

t.test('a request for git is refused if it wants a commit that no reference reaches', async (t) => {
  const { refuse, server, first, second } = await aCache(t)
  t.equal(await refuse(second), undefined, 'a tip')
  t.equal(await refuse(first), undefined, 'below a tip')
  t.equal(await refuse('1'.repeat(40)), undefined, 'git names the fault')
  for (const name of ['main', 'topic']) await server('update-ref', `refs/heads/${name}`, first)
  const refusal = await refuse(first, second)
  t.match(refusal?.body.toString(), `ERR upload-pack: not our ref ${second}`)
})

t.test('equal incremental fetches, deepenings and negotiations share an answer', async (t) => {
  const { ask, copy, first, second, kept } = await aCache(t)
  const third = await copy.commit('three')
  await copy.git('push', '--quiet', 'origin', 'main')
  const unknown = `have ${'1'.repeat(40)}`
  const answers = [
    [['thin-pack', `want ${third}`, `have ${second}`, `have ${first}`], /ready\n.*PACK/s],
    [[`want ${third}`, unknown], /^0014acknowledgments\n0008NAK\n0000$/],
    [[`want ${third}`, unknown, `have ${first}`, 'done'], /^000dpackfile\n.*PACK/s],
    [[`want ${third}`, `have ${second}`, 'wait-for-done'], /ACK [0-9a-f]{40}\n0000$/],
    [[`want ${third}`, `shallow ${third}`, 'deepen 2', 'done'], /unshallow [0-9a-f]{40}.*PACK/s],
    [[`want ${third}`, `shallow ${third}`, 'deepen 1', 'deepen-relative', 'done'], /PACK/],
  ] as const
  for (const [at, [lines, expected]] of answers.entries()) {
    const cold = await ask(requestOf('fetch', lines))
    t.match(cold, { outcome: 'miss', text: expected }, lines.join())
    await kept(at + 1)
    const warm = await ask(requestOf('fetch', lines.toReversed()))
    t.strictSame(warm, { outcome: 'hit', text: cold.text, starts: 0 }, lines.join())
  }
})

t.test('equal requests of versions 0 and 1 share an answer', async (t) => {
  const { ask, copy, server, first, second, kept, newCache } = await aCache(t)
  const cache = newCache()
  const send = (...lines: readonly string[]) =>
    ask(
      Buffer.from(lines.map((line) => (line === '' ? '0000' : packetLine(line))).join('')),
      cache,
      0,
    )
  const flags = 'multi_ack_detailed no-done side-band-64k thin-pack no-progress ofs-delta'
  const clone = await send(`want ${second} ${flags} agent=git/1`, '', 'done\n')
  t.match(clone, { outcome: 'miss', text: /^0008NAK\n.{4}\u0001PACK/s })
  await kept(1)
  const other = await send(`want ${second} agent=git/2 ${flags}\n`, '', 'done')
  t.strictSame(other, { outcome: 'hit', text: clone.text, starts: 0 })
  t.match(await send(`want ${first} ${flags}`, '', 'done\n'), { outcome: undefined }, 'no tip')
  await server('tag', '-a', '-m', 'One', 'one', first)
  const peeled = await send(`want ${first} ${flags}`, '', 'done\n')
  t.match(peeled, { outcome: undefined }, 'the commit of a tag')
  const third = await copy.commit('three')
  await copy.git('push', '--quiet', 'origin', 'main')
  const haves = [`have ${first}\n`, `have ${second}\n`]
  const fetch = await send(`want ${third} ${flags}\n`, '', ...haves, '')
  t.match(fetch, { outcome: 'miss', text: /ACK [0-9a-f]{40} ready\n.*PACK/s })
  await kept(2)
  const again = await send(`want ${third} ${flags}\n`, '', ...haves.toReversed(), '')
  t.strictSame(again, { outcome: 'hit', text: fetch.text, starts: 0 })
  const shallow = await send(`want ${third} ${flags}\n`, 'deepen 1', '')
  t.match(shallow, { outcome: 'miss', text: /^0034shallow [0-9a-f]{40}0000/ })
})

t.test('a new tag invalidates only answers that include tags', async (t) => {
  const { fetch, server, second, kept } = await aCache(t)
  const [plain, tagged] = [[`want ${second}`], [`want ${second}`, 'include-tag', 'no-progress']]
  const before = await fetch(...tagged)
  await fetch(...plain)
  await kept(2)
  await server('tag', '-a', '-m', 'One', 'v1', second)
  t.match(await fetch(...plain), { outcome: 'hit' })
  const after = await fetch(...tagged)
  t.match(after, { outcome: 'miss' })
  t.ok(after.text.length > before.text.length + 50, 'the tag is included')
})

/** Sends a fetch, and makes a change while it waits for a free git process. */
async function fetchDuring(
  { fetch, queue }: Pick<Awaited<ReturnType<typeof aCache>>, 'fetch' | 'queue'>,
  lines: readonly string[],
  change: () => Promise<unknown>,
) {
  const entered: Promise<() => void>[] = []
  while (queue.load.waiting === 0) {
    const visitor = { repository: 'other', client: `client ${entered.length}` }
    entered.push(queue.enter(new AbortController().signal, visitor))
  }
  const waiting = fetch(...lines)
  while (queue.load.waiting === 1) await sleep(1)
  await change()
  for (const free of entered) (await free)()
  return await waiting
}

t.test('an answer is not stored if a tag is pushed before git reads the refs', async (t) => {
  const cache = await aCache(t)
  const { fetch, server, second, kept } = cache
  await fetch(`want ${second}`)
  const files = await kept(1)
  const tagged = [`want ${second}`, 'include-tag', 'no-progress']
  const addTag = () => server('tag', '-a', '-m', 'One', 'v1', second)
  const withTag = await fetchDuring(cache, tagged, addTag)
  await server('tag', '-d', 'v1')
  t.strictSame(await kept(1), files)
  const after = await fetch(...tagged)
  t.match([withTag, after], [{ outcome: 'miss' }, { outcome: 'miss' }])
  t.ok(after.text.length < withTag.text.length - 50, 'only the first answer has the tag')
})

t.test('an answer is not stored if settings or other refs change before git reads', async (t) => {
  const cache = await aCache(t)
  const { ask, fetch, server, first, second, kept } = cache
  await server('update-ref', 'refs/tags/old', first)
  await fetch(`want ${first}`)
  const files = await kept(1)
  const since = [`want ${second}`, 'deepen-not refs/tags/old']
  const addBranch = () => server('update-ref', 'refs/heads/any', second)
  t.match(await fetchDuring(cache, since, addBranch), { outcome: 'miss' })
  t.strictSame(await kept(1), files, 'other refs')
  // The fetch waits for git, and not the list of refs.
  await ask(requestOf('ls-refs', []))
  const plain = [`want ${second}`]
  const configure = () => server('config', 'core.compression', '0')
  t.match(await fetchDuring(cache, plain, configure), { outcome: 'miss' })
  await server('config', '--unset', 'core.compression')
  t.strictSame(await kept(1), files, 'settings')
  t.match(await fetch(...plain), { outcome: 'miss' })
})

t.test('an answer is not stored if a change could be in the same tick of the clock', async (t) => {
  const cache = await aCache(t)
  const { ask, fetch, copy, server, path, first, second, kept } = cache
  for (const name of ['v1', 'v2']) await server('tag', '-a', '-m', 'One', name, second)
  const [one, two] = [await server('rev-parse', 'v1'), await server('rev-parse', 'v2')]
  await fetch(`want ${first}`)
  await kept(1)
  await ask(requestOf('ls-refs', []))
  stopClock(t)
  await copy.commit('three')
  await copy.git('push', '--quiet', 'origin', 'main')
  const tagged = [`want ${second}`, 'include-tag', 'no-progress']
  // A file that is written in place leaves the times of its folder, as a change in one tick may.
  const writeTag = (oid: string) => writeFile(join(path, 'refs/tags/v1'), `${oid}\n`)
  t.match(await fetchDuring(cache, tagged, () => writeTag(two)), { outcome: 'miss' })
  await writeTag(one)
  await kept(1)
  t.match(await fetch(...tagged), { outcome: 'miss' })
  await kept(2)
})

t.test('a refusal of git is not stored', async (t) => {
  const { ask, fetch, path, second, kept } = await aCache(t)
  await ask(requestOf('ls-refs', []))
  const object = join(path, 'objects', second.slice(0, 2), second.slice(2))
  await rename(object, `${object}.lost`)
  t.match(await fetch(`want ${second}`), { outcome: 'miss', text: /^.{4}ERR / })
  await kept(0)
  await rename(`${object}.lost`, object)
  t.match(await fetch(`want ${second}`), { outcome: 'miss', text: /PACK/ })
})

t.test(
  'settings, a shallow file and other references invalidate the answers that depend on them',
  async (t) => {
    const { fetch, server, first, second, kept } = await aCache(t)
    await fetch(`want ${second}`)
    await kept(1)
    await server('config', 'core.compression', '0')
    t.match(await fetch(`want ${second}`), { outcome: 'miss' })
    await kept(2)
    await server('update-ref', 'refs/tags/old', first)
    const since = [`want ${second}`, 'deepen-not refs/tags/old']
    t.match(await fetch(...since), { outcome: 'miss', text: /shallow-info/ })
    await kept(3)
    t.match(await fetch(...since), { outcome: 'hit' })
    await server('update-ref', 'refs/heads/any', second)
    t.match(await fetch(...since), { outcome: 'miss' })
  },
)

t.test('a damaged answer is made again', async (t) => {
  const { fetch, newCache, ask, second, kept, lines } = await aCache(t)
  const whole = await fetch(`want ${second}`)
  const [path = ''] = await kept(1)
  await truncate(path, 100)
  const again = await ask(requestOf('fetch', [`want ${second}`, 'done']), newCache())
  for (const { outcome, text } of [whole, again]) {
    t.match({ outcome, text }, { outcome: 'miss', text: /^000dpackfile\n.*PACK.*0000$/s })
  }
  t.ok(lines.some(({ msg }) => msg === 'stored answer is damaged and is removed'))
})

t.test('an answer is not stored if git is killed while it writes a pack', async (t) => {
  const { fetch, gitFile, second, kept } = await aCache(t)
  await fetch(`want ${second}`, 'deepen 1')
  await kept(1)
  const script = await readFile(gitFile, 'utf8')
  const part = "printf '000dpackfile\\n'; head -c 100000 /dev/zero; kill -9 $$"
  await writeFile(gitFile, `#!/bin/sh\n${part}\n`)
  await t.rejects(fetch(`want ${second}`), /did not finish/)
  await kept(1)
  await writeFile(gitFile, script)
  const whole = await fetch(`want ${second}`)
  t.match(whole, { outcome: 'miss', text: /^000dpackfile\n.*PACK.*0000$/s })
  await kept(2)
})

t.test(
  'a request that is not protocol v2 is left to git without reading the repository',
  async (t) => {
    const { ask, fetch, second } = await aCache(t)
    t.match(await ask(Buffer.from('hello')), { outcome: undefined, starts: 0 })
    t.match(await fetch(`want ${second}`, 'sideband-all'), { outcome: undefined, starts: 0 })
    t.match(await ask(Buffer.alloc(0)), { outcome: undefined, starts: 0 })
  },
)
