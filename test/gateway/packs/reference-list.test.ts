/** Answers from a list of references are identical to git's. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { callUploadPack } from '../../../cgi/transfer/upload-pack.js'
import { readBody } from '../../../gateway/http/incoming-body.js'
import type { ChangedTarget } from '../../../gateway/packs/changed-lines.js'
import type { ObjectFormat } from '../../../gateway/packs/normal-fetch.js'
import { normalize } from '../../../gateway/packs/normal-request.js'
import { packetLine } from '../../../gateway/packs/pkt-line.js'
import { ReferenceList, referenceListRequest } from '../../../gateway/packs/reference-list.js'
import { createRandom } from '../../../scripts/benchmarks/random.js'
import { askUploadPack, readReferenceList } from '../../helpers/asked-upload-pack.js'
import { git as runGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Sends the requests to one git over a connection that is kept, as over SSH. */
async function askGitAll(
  repositoryPath: string,
  requests: readonly Buffer[],
): Promise<readonly Buffer[]> {
  async function* body() {
    yield Buffer.concat([...requests, Buffer.from('0000')])
  }
  const { signal } = new AbortController()
  const options = { gitProtocol: 'version=2', isStateful: true, signal, timeoutMs: 30_000 } as const
  const answer = await callUploadPack(ours, { repositoryPath, ...options, body: body() })
  const [, ...answers] = sectionsOf(await readBody(answer.body, 1 << 26))
  return answers
}

/** Returns the parts of a text in packet lines that end with a flush packet. */
function sectionsOf(bytes: Buffer): readonly Buffer[] {
  const sections: Buffer[] = []
  let start = 0
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
    at += Math.max(length, 4)
    if (length > 0) continue
    sections.push(bytes.subarray(start, at))
    start = at
  }
  return sections
}

/** Creates a bare repository with branches, tags of both kinds, and other references. */
async function aRepository(t: Test, objectFormat: ObjectFormat = 'sha1') {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat })
  const copy = await newWorkingCopy(t, objectFormat)
  await copy.git('remote', 'add', 'origin', path)
  const commits = [await copy.commit('one'), await copy.commit('two')] as const
  await copy.git('branch', 'a/b-c', commits[0])
  await copy.git('branch', 'a/b', commits[0])
  await copy.git('branch', 'grün')
  await copy.git('tag', 'light')
  await copy.git('tag', '-a', '-m', 'One', 'v1', commits[0])
  await copy.git('tag', '-a', '-m', 'A tag of a tag', 'v1-tag', 'v1')
  await copy.git('push', '--quiet', 'origin', '--all')
  await copy.git('push', '--quiet', 'origin', '--tags', `${commits[0]}:refs/pull/1/head`)
  const git = (...args: readonly string[]) => runGit(args, { cwd: path })
  await git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
  return { path, commits, git }
}

const FLAGS = ['peel', 'symrefs', 'unborn'] as const
const PREFIXES: readonly (readonly string[])[] = [
  [],
  [''],
  ['HEAD'],
  ['refs/heads/'],
  ['refs/tags/'],
  ['refs/heads/', 'refs/tags/', 'HEAD'],
  ['refs/heads/a/b'],
  ['refs/tags/v1', 'refs/'],
  ['HE'],
  ['main'],
  ['refs/heads/main', 'HEAD'],
  ['refs/nothing'],
  ['refs/pull/', 'refs/heads/grün'],
  ['refs/tags/v1-', 'refs/heads/a'],
]

/** Returns every request that the flags and prefixes form. */
function requestsOf(objectFormat: ObjectFormat): readonly Buffer[] {
  const head = `${packetLine('command=ls-refs\n')}${packetLine(`object-format=${objectFormat}\n`)}`
  return PREFIXES.flatMap((prefixes) =>
    Array.from({ length: 2 ** FLAGS.length }, (_, bits) => {
      const flags = FLAGS.filter((_flag, at) => bits & (1 << at))
      const names = prefixes.map((prefix) => Buffer.from(prefix).toString('latin1'))
      const lines = [...flags, ...names.map((name) => `ref-prefix ${name}`)]
      const tail = lines.map((line) => packetLine(`${line}\n`)).join('')
      return Buffer.from(`${head}0001${tail}0000`, 'latin1')
    }),
  )
}

/** Compares each answer with git's and returns those that differ. */
async function differences(path: string, objectFormat: ObjectFormat = 'sha1') {
  const list = await readReferenceList(path, objectFormat)
  const wrong: { request: string; git: string; list: string }[] = []
  const requests = requestsOf(objectFormat)
  const answers = await askGitAll(path, requests)
  for (const [at, body] of requests.entries()) {
    const request = normalize(body, 2)
    if (request?.command !== 'ls-refs') throw new Error('not understood')
    const answer = () => Buffer.concat(list.answer(request))
    const [told, known] = [answers[at] ?? Buffer.alloc(0), answer()]
    if (known.equals(told) && answer().equals(told)) continue
    wrong.push({ request: body.toString(), git: told.toString(), list: known.toString() })
  }
  return wrong
}

t.test('every form of ls-refs is answered as by git', async (t) => {
  const { path } = await aRepository(t)
  t.strictSame(await differences(path), [])
})

t.test(
  'ls-refs with a detached HEAD, packed and hidden references is answered as by git',
  async (t) => {
    const { path, commits, git } = await aRepository(t)
    await git('update-ref', '--no-deref', 'HEAD', commits[0])
    await git('pack-refs', '--all')
    await git('config', 'uploadpack.hideRefs', 'refs/pull')
    t.strictSame(await differences(path), [])
    t.notMatch(String(await askUploadPack(path, referenceListRequest('sha1'))), 'refs/pull')
  },
)

t.test(
  'ls-refs with an unborn HEAD and in an empty repository is answered as by git',
  async (t) => {
    const { path, git } = await aRepository(t)
    await git('symbolic-ref', 'HEAD', 'refs/heads/unborn')
    t.strictSame(await differences(path), [])
    const empty = join(await temporaryFolder(t), 'empty.git')
    await initRepository(ours, empty, { defaultBranch: 'trunk', objectFormat: 'sha1' })
    t.strictSame(await differences(empty), [])
  },
)

t.test('ls-refs with SHA-256 objects is answered as by git', async (t) => {
  const { path } = await aRepository(t, 'sha256')
  t.strictSame(await differences(path, 'sha256'), [])
})

t.test('tips are the objects that references and peeled tags point to', async (t) => {
  const { path, commits, git } = await aRepository(t)
  await git('update-ref', '-d', 'refs/pull/1/head')
  await git('branch', '-D', 'a/b', 'a/b-c')
  const list = await readReferenceList(path)
  const [tag, tagOfTag] = [await git('rev-parse', 'v1'), await git('rev-parse', 'v1-tag')]
  t.ok(list.areTips([commits[1]]))
  t.ok(list.areTips([tag, tagOfTag, commits[1]]))
  t.ok(list.areTips([commits[0]]), 'a tag points to it')
  t.ok(list.areTips([]))
  t.notOk(list.areTips([commits[1], '1'.repeat(40)]), 'all of them must be tips')
  t.notOk(list.areTips([await git('rev-parse', 'main^{tree}')]))
  await git('tag', '-d', 'v1', 'v1-tag')
  t.notOk((await readReferenceList(path)).areTips([commits[0]]), 'a commit inside the history')
})

t.test('the digest of tags changes with the tags only', async (t) => {
  const { path, commits, git } = await aRepository(t)
  const digest = async () => (await readReferenceList(path)).tagsDigest
  const before = await digest()
  await git('update-ref', 'refs/heads/main', commits[0])
  await git('update-ref', 'refs/heads/new', commits[0])
  await git('symbolic-ref', 'HEAD', 'refs/heads/new')
  t.equal(await digest(), before)
  await git('tag', 'other', commits[0])
  const later = await digest()
  t.not(later, before, 'a new tag')
  await git('tag', '-f', 'other', commits[1])
  t.not(await digest(), later, 'a moved tag')
  await git('tag', '-d', 'other')
  t.equal(await digest(), before, 'the same tags again')
})

t.test('a truncated or malformed list is refused', async (t) => {
  const { path } = await aRepository(t)
  const whole = await askUploadPack(path, referenceListRequest('sha1'))
  t.ok(await ReferenceList.parse(whole))
  const oid = '1'.repeat(40)
  for (const answer of [
    whole.subarray(0, -4),
    whole.subarray(0, -10),
    Buffer.concat([whole, whole]),
    Buffer.alloc(0),
    Buffer.from(`${packetLine('ERR upload-pack: not our ref')}0000`),
    ...[`${oid}`, `${oid} `, `${oid.slice(1)} HEAD`, `${oid} a what:ever`, `x ${oid} a`].map(
      (line) => Buffer.from(`${packetLine(`${line}\n`)}0000`),
    ),
    Buffer.from(`${packetLine(`${oid} HEAD\n`)}00010000${packetLine('x')}`),
  ]) {
    t.equal(await ReferenceList.parse(answer), undefined, answer.toString().slice(0, 60))
  }
})

t.test('formatted answers are cached within the reported weight of the list', async (t) => {
  const list = await ReferenceList.parse(
    Buffer.from(`${packetLine(`${'1'.repeat(40)} HEAD\n`)}0000`),
  )
  if (list === undefined) throw new Error('not a list')
  const ask = (prefix: string) => {
    const [answer = Buffer.alloc(0)] = list.answer({
      command: 'ls-refs',
      objectFormat: 'sha1',
      peel: true,
      symrefs: true,
      unborn: true,
      prefixes: ['HEAD', prefix].toSorted(),
    })
    return answer
  }
  const first = ask('')
  t.equal(ask(''), first, 'the identical object')
  const bytes = first.byteLength + 1_000
  for (let kept = 0; kept < list.weightBytes; kept += bytes) ask(`${kept}`.padStart(1_000, 'x'))
  t.not(ask(''), first, 'it was evicted')
  t.ok(ask('').equals(first))
})

/** Creates a list of branches `b0000000` and so on, each with its own object. */
function branchesOf(count: number, idOf: (at: number) => string): Buffer {
  const lines = Array.from({ length: count }, (_, at) =>
    packetLine(`${idOf(at)} refs/heads/b${String(at).padStart(7, '0')}\n`),
  )
  const head = packetLine(`${idOf(0)} HEAD symref-target:refs/heads/b0000000\n`)
  return Buffer.from(`${head}${lines.join('')}0000`)
}

const idOf = (at: number) => createHash('sha1').update(String(at)).digest('hex')

t.test('a long list is sent in pieces, and is found by prefix', async (t) => {
  const whole = branchesOf(30_000, idOf)
  const list = await ReferenceList.parse(whole)
  if (list === undefined) throw new Error('not a list')
  t.strictSame(list.page('refs/heads/', { offset: 20_000, limit: 1 }), {
    entries: [{ name: 'refs/heads/b0020000', id: idOf(20_000) }],
    total: 30_000,
  })
  const ask = (prefixes: readonly string[]) =>
    list.answer({
      command: 'ls-refs',
      objectFormat: 'sha1',
      peel: true,
      symrefs: true,
      unborn: true,
      prefixes,
    })
  t.ok(ask([]).length > 1)
  t.ok(Buffer.concat(ask([])).equals(whole))
  t.ok(Buffer.concat(ask(['HEAD', 'refs/heads/', 'refs/tags/'])).equals(whole))
  t.equal(
    String(ask(['refs/heads/b0012345'])),
    `${packetLine(`${idOf(12_345)} refs/heads/b0012345\n`)}0000`,
  )
})

t.test('a changed list equals the list that is parsed anew', async (t) => {
  const random = createRandom(7)
  const pick = (count: number) => Math.floor(random() * count)
  const names = [
    ...Array.from({ length: 40 }, (_, at) => `refs/heads/${at % 8}/${at}`),
    ...Array.from({ length: 12 }, (_, at) => `refs/tags/v${at}`),
    'refs/heads/main',
    'refs/pull/1/head',
  ]
  const refs = new Map<string, ChangedTarget>()
  const change = () => {
    const name = names[pick(names.length)] ?? ''
    const peeled = name.startsWith('refs/tags/') && pick(2) === 0 ? idOf(pick(20)) : undefined
    const isDeleted = pick(3) === 0 && name !== 'refs/heads/main'
    return [name, isDeleted ? undefined : { oid: idOf(pick(20)), peeled }] as const
  }
  const apply = (changes: ReadonlyMap<string, ChangedTarget>) => {
    for (const [name, target] of changes) {
      if (target === undefined) refs.delete(name)
      else refs.set(name, target)
    }
  }
  apply(new Map(Array.from({ length: 30 }, change)))
  apply(new Map([['refs/heads/main', { oid: idOf(0), peeled: undefined }]]))
  const first = await ReferenceList.parse(wireOf(refs))
  if (first === undefined) throw new Error('not a list')
  let list = first
  for (let round = 0; round < 30; round += 1) {
    const changes = new Map(Array.from({ length: 1 + pick(4) }, change))
    apply(changes)
    const next = list.withChanges(changes)
    if (next === undefined) throw new Error('not followed')
    list = next
    const parsed = await ReferenceList.parse(wireOf(refs))
    if (parsed === undefined) throw new Error('not a list')
    t.strictSame(viewOf(list, names), viewOf(parsed, names), `round ${round}`)
    const named = Array.from(
      { length: 20 },
      (_, at) => [list.branchAt(idOf(at)), idOf(at)] as const,
    )
    const isRight = ([name, oid]: (typeof named)[number]) =>
      name === undefined || refs.get(name)?.oid === oid
    t.ok(named.every(isRight), 'branches of commits')
  }
})

/** Returns refs as git lists them, with a `HEAD` that points to main. */
function wireOf(refs: ReadonlyMap<string, ChangedTarget>): Buffer {
  const head = `${refs.get('refs/heads/main')?.oid} HEAD symref-target:refs/heads/main`
  const lines = [...refs].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const texts = lines.map(([name, target]) => {
    const peeled = target?.peeled === undefined ? '' : ` peeled:${target.peeled}`
    return `${target?.oid} ${name}${peeled}`
  })
  return Buffer.from(`${[head, ...texts].map((line) => packetLine(`${line}\n`)).join('')}0000`)
}

/** Returns everything that a list shows of its refs. */
function viewOf(list: ReferenceList, names: readonly string[]) {
  const flags = [true, false].flatMap((peel) => [true, false].map((symrefs) => ({ peel, symrefs })))
  const prefixes = [
    [],
    ['refs/heads/'],
    ['refs/heads/1/', 'refs/tags/v1'],
    ['HEAD', 'refs/heads/3'],
  ]
  const requests = flags.flatMap((flag) => prefixes.map((some) => ({ ...flag, prefixes: some })))
  const ids = Array.from({ length: 21 }, (_, at) => idOf(at))
  return {
    answers: requests.map((request) => {
      const whole = { command: 'ls-refs', objectFormat: 'sha1', unborn: true, ...request } as const
      return Buffer.concat(list.answer(whole)).toString()
    }),
    tips: ids.filter((oid) => list.areTips([oid])),
    wanted: ids.filter((oid) => list.areTargets([oid])),
    oids: [...new Set(list.oids)].toSorted(),
    first: list.targetsBelow(['refs/heads/', 'refs/tags/'], 5),
    tags: list.tagsDigest,
    targets: names.map((name) => [list.targetOf(name)?.oid, list.targetOf(name)?.peeled]),
    pages: [0, 3, 9, 60].map((offset) => list.page('refs/heads/', { offset, limit: 4 })),
  }
}

t.test('a list is parsed again if HEAD changes, and after many changes', async (t) => {
  let list = await ReferenceList.parse(branchesOf(50, idOf))
  const change = (name: string, target: ChangedTarget) =>
    list?.withChanges(new Map([[`refs/heads/${name}`, target]]))
  const targetOf = (at: number) => ({ oid: idOf(at), peeled: undefined })
  t.equal(change('b0000000', undefined), undefined, 'the target of HEAD')
  t.equal(change('new', { oid: '1'.repeat(64), peeled: undefined }), undefined, 'another format')
  for (let at = 0; at < 2_000; at += 1) list = change('b0000000', targetOf(1_000 + at))
  t.ok(list?.areTips([idOf(2_999)]), 'one branch may change any number of times')
  let changes = 0
  for (; list !== undefined && changes < 2_000; changes += 1) {
    list = change(`new-${changes}`, targetOf(changes))
  }
  t.ok(changes < 2_000)
  const unborn = Buffer.from(`${packetLine('unborn HEAD symref-target:refs/heads/main\n')}0000`)
  const empty = await ReferenceList.parse(unborn)
  t.equal(empty?.withChanges(new Map([['refs/heads/main', targetOf(1)]])), undefined)
})

t.test('a changed list shares the memory of a long one', async (t) => {
  const list = await ReferenceList.parse(branchesOf(30_000, idOf))
  const changes = new Map([['refs/heads/b0012345', { oid: idOf(1), peeled: undefined }]])
  const before = process.memoryUsage().arrayBuffers
  const lists = Array.from({ length: 20 }, () => list?.withChanges(changes))
  t.ok(lists.every((later) => later?.areTips([idOf(1)])))
  t.ok(process.memoryUsage().arrayBuffers - before < 2_000_000)
})
