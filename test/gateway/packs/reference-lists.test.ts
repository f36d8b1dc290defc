/** Reference lists are read from git once per state and cached within a limit. */

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { readSettledState } from '../../../cgi/repository/repository-state.js'
import { Failure } from '../../../conf/failures.js'
import { packetLine } from '../../../gateway/packs/pkt-line.js'
import { referenceListRequest } from '../../../gateway/packs/reference-list.js'
import { git as runGit } from '../../helpers/git-client.js'
import { EVERYTHING, LISTS_BYTES_MAX, listBy, someLists } from '../../helpers/reference-lists.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

const listOf = (oid: string) => Buffer.from(`${packetLine(`${oid} refs/heads/main\n`)}0000`)

t.test('git is run once for each state, also for concurrent requests', async (t) => {
  const { asked, newRepository, get } = await someLists(t, async () => listOf('1'.repeat(40)))
  const path = await newRepository()
  await get(path)
  t.match(await get(path), { isKnown: true })
  t.equal(asked.length, 1)
  await writeFile(join(path, 'packed-refs'), '')
  await readSettledState(path)
  const all = await Promise.all([get(path), get(path), get(path)])
  t.strictSame(
    all.map((list) => list?.isKnown),
    [false, false, false],
  )
  t.equal(new Set(all.map((list) => list?.references)).size, 1)
  t.equal(asked.length, 2)
  await get(path, 'sha256')
  t.equal(asked.length, 3, 'another object format is another request')
  await mkdir(join(path, 'refs', 'heads'))
  await readSettledState(path)
  await Promise.all([get(path), get(path, 'sha256')])
  t.equal(asked.length, 5, 'also of concurrent clients')
})

t.test('an answer given while the references changed is not cached', async (t) => {
  let change = async () => {}
  const { asked, newRepository, get } = await someLists(t, async () => {
    await change()
    return listOf('1'.repeat(40))
  })
  const path = await newRepository()
  change = () => writeFile(join(path, 'packed-refs'), 'new')
  t.equal(await get(path), undefined)
  change = async () => {}
  t.match(await get(path), { isKnown: false })
  t.match(await get(path), { isKnown: true })
  t.equal(asked.length, 2)
})

t.test('directly after a push, all requests share the list that follows it', async (t) => {
  const [before, after, later] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [
    string,
    string,
    string,
  ]
  const { asked, newRepository, get, followed } = await someLists(t, async () => listOf(before))
  const path = await newRepository()
  const main = join(path, 'refs', 'heads', 'main')
  await mkdir(join(path, 'refs', 'heads'))
  await mkdir(join(path, 'objects', 'pack'), { recursive: true })
  for (const oid of [after, later]) {
    await mkdir(join(path, 'objects', oid.slice(0, 2)))
    await writeFile(join(path, 'objects', oid.slice(0, 2), oid.slice(2)), '')
  }
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/main\n')
  const move = async (oid: string) => {
    await writeFile(`${main}.lock`, `${oid}\n`)
    await rename(`${main}.lock`, main)
  }
  await move(before)
  await get(path)
  await move(after)
  const first = followed(path)
  t.ok(first?.areTips([after]))
  t.equal(followed(path), first, 'the identical list')
  await move(later)
  t.ok(followed(path)?.areTips([later]))
  t.equal(asked.length, 1, 'git is run once')
})

t.test('an invalid answer is not cached, and an error is thrown', async (t) => {
  const answers = [
    undefined,
    Buffer.from('0009ERR x0000'),
    new Error('no git'),
    listOf('2'.repeat(40)),
  ]
  const { newRepository, get } = await someLists(t, async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  })
  const path = await newRepository()
  t.equal(await get(path), undefined)
  t.equal(await get(path), undefined)
  await t.rejects(get(path), /no git/)
  t.match(await get(path), { isKnown: false })
})

/** Returns a list of long names, whose size in memory exceeds this by one cached answer. */
function longList(bytes: number): Buffer {
  const lines = Array.from({ length: Math.ceil(bytes / 10_000) }, (_, at) =>
    packetLine(`${'3'.repeat(40)} refs/heads/${String(at).padStart(10_000, '0')}\n`),
  )
  return Buffer.from(`${lines.join('')}0000`)
}

t.test('a list that is too long is left to git for a while', async (t) => {
  let answer: Buffer | 'too long' = 'too long'
  const { asked, newRepository, get } = await someLists(t, async () => answer)
  const [one, other] = [await newRepository(), await newRepository()]
  t.equal(await get(one), undefined)
  answer = longList(LISTS_BYTES_MAX)
  t.equal(await get(one), undefined)
  t.equal(asked.length, 1, 'git does not list the refs in vain')
  t.equal(await get(other), undefined)
  t.equal(await get(other), undefined)
  t.equal(asked.length, 2)
  await get(other, 'sha256')
  t.equal(asked.length, 3, 'another object format is another request')
})

t.test('the cache is limited: the least recently used lists are evicted', async (t) => {
  const { asked, newRepository, get } = await someLists(t, async () => longList(450_000))
  const paths: string[] = []
  for (let number = 0; number < 5; number += 1) paths.push(await newRepository())
  for (const path of paths) {
    await get(path)
    await get(paths[0] ?? '')
  }
  t.equal(asked.length, 5)
  t.match(await get(paths[0] ?? ''), { isKnown: true }, 'used all the time')
  t.match(await get(paths[4] ?? ''), { isKnown: true })
  t.match(await get(paths[1] ?? ''), { isKnown: false }, 'the oldest')
})

t.test('a client over its share of processes is refused, and other clients are not', async (t) => {
  const { asked, newRepository, get } = await someLists(t, async ({ client }) => {
    await sleep(20)
    if (client === 'greedy') throw new Failure('throttled', 'too many')
    return listOf('1'.repeat(40))
  })
  const path = await newRepository()
  // Makes the first caller the first one to run git.
  await readSettledState(path)
  const all = ['greedy', 'ada', 'bo'].map((client) => get(path, 'sha1', client))
  const [greedy, ...others] = await Promise.allSettled(all)
  t.match(greedy, { status: 'rejected', reason: { failure: 'throttled' } })
  t.match(others, [{ value: { isKnown: false } }, { value: { isKnown: false } }])
  t.equal(asked.length, 2)
})

t.test("after changes of refs the list equals git's, which lists only what changed", async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  const push = (...names: readonly string[]) =>
    copy.git('push', '--quiet', '--force', path, ...names)
  const first = await copy.commit('one')
  await copy.git('tag', '-m', 'One', 'v1')
  await push('main', 'main:a/topic', 'v1')
  const listed = async () => await listBy(path)
  const bodies: string[] = []
  const { get } = await someLists(t, async (_question, body) => {
    bodies.push(body.toString())
    return await listBy(path, body)
  })
  const seen = async () => (await get(path))?.references.answer(EVERYTHING).toString()
  /** Checks the list, and how often git has listed all refs and some refs. */
  const isRight = async (whole: number, some: number, name: string) => {
    t.equal(await seen(), (await listed()).toString(), name)
    const narrow = bodies.filter((body) => body.includes('ref-prefix'))
    t.strictSame([bodies.length - narrow.length, narrow.length], [whole, some], name)
  }
  const update = (...args: readonly string[]) => runGit(['update-ref', ...args], { cwd: path })
  await isRight(1, 0, 'at first')
  await copy.commit('two')
  await push('main')
  await isRight(1, 0, 'the default branch and HEAD')
  await push(`${first}:main`, 'main:a/topic')
  await isRight(1, 0, 'two branches in one push, one by force')
  await push('main:new')
  await isRight(1, 0, 'a new branch')
  await runGit(['pack-refs', '--all'], { cwd: path })
  await isRight(1, 0, 'packed refs')
  await push('main:a/topic', `${first}:new`, 'main:newer')
  await isRight(1, 0, 'branches that were packed')
  await update('-d', 'refs/heads/a/topic')
  await isRight(1, 1, 'a deleted branch that was packed')
  await update('-d', 'refs/heads/newer')
  await isRight(1, 2, 'a deleted branch that was not packed')
  await runGit(['tag', '-f', '-m', 'Two', 'v1', 'main'], { cwd: path })
  await isRight(1, 3, 'a tag')
  await copy.commit('three')
  await push('main', 'main:later')
  await runGit(['tag', '-m', 'Three', 'v3', 'main'], { cwd: path })
  await runGit(['pack-refs', '--all'], { cwd: path })
  await isRight(1, 4, 'packed refs that also changed')
  await push(`${first}:later`)
  await update('-d', 'refs/tags/v3')
  await isRight(1, 5, 'a branch that is loose over its packed value')
  await update('refs/hidden/one', first)
  await isRight(1, 6, 'a hidden ref')
  await runGit(['pack-refs', '--all'], { cwd: path })
  await isRight(1, 6, 'a packed hidden ref')
  await push('main:grün')
  await isRight(2, 6, 'a name that is not of ASCII')
  await runGit(['symbolic-ref', 'HEAD', 'refs/heads/new'], { cwd: path })
  await isRight(3, 6, 'another default branch')
  await runGit(['symbolic-ref', 'HEAD', 'refs/heads/later'], { cwd: path })
  await runGit(['pack-refs', '--all'], { cwd: path })
  await isRight(4, 6, 'another default branch and packed refs')
  await update('-d', 'refs/tags/v1')
  await isRight(4, 7, 'the last ref of packed-refs is deleted')
  await runGit(['config', 'transfer.hideRefs', 'refs/heads/a'], { cwd: path })
  await update('refs/heads/a/second', first)
  await isRight(5, 7, 'after a change of the settings')
  await update('refs/heads/a/third', first)
  await isRight(5, 8, 'a new branch under settings that hide refs')
  await writeFile(join(path, 'part'), `${'1'.repeat(40)}\n`)
  await rename(join(path, 'part'), join(path, 'refs/heads/new'))
  await isRight(5, 9, 'a branch that points to a missing commit')
})

t.test('git lists the refs that changed if more than 64 branches were written', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  await copy.commit('one')
  await copy.git('push', '--quiet', path, 'main')
  const { asked, get } = await someLists(t, async (_question, body) => await listBy(path, body))
  const asksAfter = async (...names: readonly string[]) => {
    await copy.git('push', '--quiet', path, ...names.map((name) => `main:${name}`))
    const before = asked.length
    const found = await get(path)
    const expected = (await listBy(path)).toString()
    t.equal(found?.references.answer(EVERYTHING).toString(), expected)
    return asked.length - before
  }
  t.equal(await asksAfter('first'), 1)
  t.equal(await asksAfter(...Array.from({ length: 64 }, (_, at) => `a/${at}`)), 0)
  t.equal(await asksAfter(...Array.from({ length: 65 }, (_, at) => `b/${at}`)), 1)
})

t.test('the first list of a few refs is made from their files, without git', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  await server('config', 'receive.unpackLimit', '1')
  const copy = await newWorkingCopy(t)
  await copy.commit('one')
  await copy.git('tag', '-m', 'One', 'v1')
  /** Compares the list of a new cache with git's; returns how often it ran git. */
  const asksOf = async (name: string) => {
    const { asked, get } = await someLists(t, async (_question, body) => await listBy(path, body))
    const found = await get(path)
    const expected = (await listBy(path)).toString()
    t.equal(found?.references.answer(EVERYTHING).toString(), expected, name)
    t.equal(found?.isKnown, asked.length === 0, name)
    return asked.length
  }
  t.equal(await asksOf('no refs'), 1)
  await copy.git('push', '--quiet', path, 'main', 'main:a/topic', 'v1')
  t.equal(await asksOf('branches and a tag'), 0)
  await server('symbolic-ref', 'HEAD', 'refs/heads/absent')
  t.equal(await asksOf('a HEAD without its branch'), 0)
  await server('config', 'transfer.hideRefs', 'refs/heads/a')
  t.equal(await asksOf('settings that hide refs'), 1)
})

t.test('refs of sha256 are read from their files, and not for clients of sha1', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha256' })
  const copy = await newWorkingCopy(t, 'sha256')
  await copy.commit('one')
  await copy.git('tag', '-m', 'One', 'v1')
  await copy.git(
    'push',
    '--quiet',
    '--receive-pack=git -c receive.unpackLimit=1 receive-pack',
    path,
    '--tags',
    'main',
  )
  const { asked, get } = await someLists(t, async () => undefined)
  const found = await get(path, 'sha256')
  const body = referenceListRequest('sha256')
  t.equal(found?.references.answer(EVERYTHING).toString(), (await listBy(path, body)).toString())
  t.equal(asked.length, 0)
  t.equal(await get(path, 'sha1'), undefined)
  t.equal(asked.length, 1)
})

t.test('a hidden branch that HEAD names is deleted from packed-refs', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  const copy = await newWorkingCopy(t)
  await copy.commit('one')
  await copy.git('push', '--quiet', path, 'main', 'main:hidden/one')
  await server('config', 'uploadpack.hideRefs', 'refs/heads/hidden')
  await server('symbolic-ref', 'HEAD', 'refs/heads/hidden/one')
  await server('pack-refs', '--all')
  const { get } = await someLists(t, async (_question, body) => await listBy(path, body))
  const asText = async () => (await get(path))?.references.answer(EVERYTHING).toString()
  const before = await asText()
  t.equal(before, (await listBy(path)).toString())
  await server('update-ref', '-d', 'refs/heads/hidden/one')
  const after = await asText()
  t.not(after, before)
  t.equal(after, (await listBy(path)).toString())
})
