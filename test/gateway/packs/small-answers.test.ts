/** Answers without a git process have the lines and objects of git's, or are left to git. */

import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { readPresentState } from '../../../cgi/repository/repository-state.js'
import type { FetchQuestion } from '../../../gateway/packs/extended-answers.js'
import { writeByGit } from '../../../gateway/packs/git-answer.js'
import { normalFetch, type ObjectFormat } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { SmallAnswers } from '../../../gateway/packs/small-answers.js'
import { readReferenceList } from '../../helpers/asked-upload-pack.js'
import { objectsOf, readFetchAnswer } from '../../helpers/fetch-answers.js'
import { git as runGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const { signal } = new AbortController()

/** Creates a bare repository whose objects are in packs, and a working copy that pushes to it. */
async function aRepository(t: Test, objectFormat: ObjectFormat = 'sha1') {
  const [folder, copy] = [await temporaryFolder(t), await newWorkingCopy(t, objectFormat)]
  const path = join(folder, 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat })
  await copy.git('remote', 'add', 'origin', path)
  const push = async (...refs: readonly string[]) => {
    await copy.git('push', '--quiet', '--force', 'origin', ...refs)
    await runGit(['repack', '-a', '-d', '--quiet'], { cwd: path })
  }
  const questionOf = async (
    lines: readonly string[],
    version: 0 | 2 = 2,
  ): Promise<FetchQuestion> => {
    const request = normalFetch(lines, { version, objectFormat, flags: FETCH_FLAGS })
    const references = await readReferenceList(path, objectFormat)
    const state = readPresentState(path)
    if (request === undefined || state === undefined) throw new Error('this is no fetch')
    return { repositoryPath: path, wanted: { request, references, state } }
  }
  /** Runs `write` with an empty file; returns what it wrote, or undefined if it returns false. */
  const written = async (write: (file: number) => Promise<boolean>) => {
    const name = join(folder, `${process.hrtime.bigint()}`)
    const file = await open(name, 'wx')
    const isWritten = await write(file.fd).finally(() => file.close())
    const bytes = await readFile(name)
    return isWritten ? bytes : bytes.length > 0 ? 'written' : undefined
  }
  const answers = new SmallAnswers()
  const answer = async (...lines: readonly string[]) => {
    const question = await questionOf(lines)
    return written((file) => answers.write(question, { file, signal }))
  }
  const answerOfGit = async (...lines: readonly string[]) => {
    const question = await questionOf(lines)
    const limits = { signal, timeoutMs: 30_000, onStarted: () => {} }
    return written((file) => writeByGit(ours, question, { file, ...limits }))
  }
  /** Checks that an answer has git's lines and objects, and these further ones. */
  const compare = async (t: Test, lines: readonly string[], further: readonly string[] = []) => {
    const parts = async (bytes: Buffer | string | undefined) => {
      const { lines, pack, isWhole } = readFetchAnswer(Buffer.from(bytes ?? ''))
      const objects = await objectsOf(pack, folder, path)
      return { lines: lines.toSorted(), isWhole, objects }
    }
    const [one, other] = [await answer(...lines), await answerOfGit(...lines)]
    const expected = await parts(other)
    const objects = [...expected.objects, ...further].toSorted()
    t.same(await parts(one), { ...expected, objects }, lines.join())
  }
  return { copy, path, push, answer, questionOf, compare, written, answers }
}

t.test('a clone of depth 1 has the lines and objects of git', async (t) => {
  const { copy, push, compare } = await aRepository(t)
  const first = await copy.commit('one')
  const tip = await copy.commit('two')
  await copy.git('branch', 'first', first)
  await push('main', 'first')
  const arguments_ = ['deepen 1', 'done', 'thin-pack', 'ofs-delta', 'no-progress', 'include-tag']
  await compare(t, [`want ${tip}`, ...arguments_])
  await compare(t, [`want ${first}`, ...arguments_])
  await compare(t, [`want ${tip}`, `want ${first}`, 'deepen 1', 'done'])
})

t.test('a fetch after pushes and a merge has the lines and objects of git', async (t) => {
  const { copy, push, compare, answer } = await aRepository(t)
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await copy.git('checkout', '--quiet', '-b', 'topic', first)
  const side = await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'topic')
  const tip = await copy.git('rev-parse', 'HEAD')
  await push('main', 'topic')
  const file = await copy.git('rev-parse', `${side}:side`)
  await compare(t, [`want ${second}`, `have ${first}`, 'done'])
  await compare(t, [`want ${tip}`, `have ${second}`, 'done', 'thin-pack'])
  await compare(t, [`want ${tip}`, `want ${side}`, `have ${first}`, 'done'])
  // The merge is compared with its first parent alone.
  await compare(t, [`want ${tip}`, `have ${side}`, `have ${second}`, 'done'], [file])
  t.equal(await answer(`want ${first}`, `have ${tip}`, 'done'), undefined, 'nothing is new')
})

t.test('a fetch in a repository of sha256 has the objects of git', async (t) => {
  const { copy, path, push, answer } = await aRepository(t, 'sha256')
  const tip = await copy.commit('one')
  await push('main')
  const { pack, lines } = readFetchAnswer(
    Buffer.from((await answer(`want ${tip}`, 'deepen 1', 'done')) ?? ''),
  )
  t.same(lines, ['shallow-info', `shallow ${tip}`, 'packfile'])
  const folder = await temporaryFolder(t)
  await runGit(['init', '--quiet', '--bare', '--object-format=sha256', '.'], { cwd: folder })
  await runGit(['index-pack', '--strict', '--stdin'], { cwd: folder, input: pack })
  const objects = ['rev-list', '--objects', '--no-walk', tip]
  t.equal(await runGit(objects, { cwd: folder }), await runGit(objects, { cwd: path }))
})

t.test('fetches of another form are left to git', async (t) => {
  const { copy, path, push, answer, questionOf, written, answers } = await aRepository(t)
  const first = await copy.commit('one')
  const tip = await copy.commit('two')
  await push('main')
  const want = `want ${tip}`
  t.ok(await answer(want, 'deepen 1', 'done'))
  for (const lines of [
    [want, 'done'],
    [want, 'deepen 1'],
    [want, 'deepen 2', 'done'],
    [want, 'deepen 1', 'done', 'filter blob:none'],
    [want, 'deepen 1', 'done', 'deepen-relative'],
    [want, 'deepen 1', 'done', `shallow ${first}`],
    [want, 'deepen 1', 'done', `have ${first}`],
    [want, 'deepen-since 1', 'done'],
    [want, `have ${first}`, 'done', `shallow ${first}`],
    [want, `have ${first}`],
    [want, `have ${'1'.repeat(40)}`, 'done'],
    [`want ${await copy.git('rev-parse', 'HEAD^{tree}')}`, 'deepen 1', 'done'],
  ]) {
    t.equal(await answer(...lines), undefined, lines.join().replaceAll(/[0-9a-f]{40}/g, '…'))
  }
  const question = await questionOf([want, 'deepen 1', 'done'], 0)
  t.equal(
    await written((file) => answers.write(question, { file, signal })),
    undefined,
    'version 0',
  )
  await writeFile(join(path, 'shallow'), `${tip}\n`)
  t.equal(await answer(want, 'deepen 1', 'done'), undefined, 'a shallow repository')
  await rm(join(path, 'shallow'))
  t.ok(await answer(want, 'deepen 1', 'done'))
})

t.test('a fetch that gets tags of its objects as well is left to git', async (t) => {
  const { copy, push, answer } = await aRepository(t)
  const first = await copy.commit('one')
  const tip = await copy.commit('two')
  await copy.git('tag', 'light')
  await copy.git('tag', '-m', 'A tag of an older commit', 'older', first)
  await push('main', 'light', 'older')
  const clone = (...more: readonly string[]) => answer(`want ${tip}`, 'deepen 1', 'done', ...more)
  t.ok(await clone('include-tag'), 'no tag object is added')
  await copy.git('tag', '-m', 'A tag of a tree', 'tree', `${tip}^{tree}`)
  await push('tree')
  t.equal(await clone('include-tag'), undefined)
  t.ok(await clone())
  t.equal(await answer(`want ${tip}`, `have ${first}`, 'done', 'include-tag'), undefined)
})

t.test('git adds hidden tags, which the list of refs does not have', async (t) => {
  const { copy, path, push, answer } = await aRepository(t)
  const tip = await copy.commit('one')
  await copy.git('tag', '-m', 'A tag', 'v1')
  await push('main', 'v1')
  await runGit(['config', 'transfer.hideRefs', 'refs/tags'], { cwd: path })
  t.equal(await answer(`want ${tip}`, 'deepen 1', 'done', 'include-tag'), undefined)
  t.ok(await answer(`want ${tip}`, 'deepen 1', 'done'))
})

t.test('after a clone with many files, clones of the repository are left to git', async (t) => {
  const { copy, push, answer } = await aRepository(t)
  const first = await copy.commit('one')
  for (let file = 0; file < 500; file += 1) await writeFile(join(copy.path, `${file}`), `${file}`)
  await copy.git('add', '--all')
  const large = await copy.commit('two')
  await copy.git('branch', 'first', first)
  await push('main', 'first')
  const clone = (tip: string) => answer(`want ${tip}`, 'deepen 1', 'done')
  t.ok(await clone(first))
  t.equal(await clone(large), undefined)
  t.equal(await clone(first), undefined)
  t.equal(await answer(`want ${large}`, `have ${first}`, 'done'), undefined, 'many new files')
})
