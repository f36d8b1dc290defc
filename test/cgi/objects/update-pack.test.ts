/** Packs of what commits have and others lack, with real git. */

import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { smallUpdatePack, updatePack } from '../../../cgi/objects/update-pack.js'
import { findGit } from '../../../cgi/process/git.js'
import { hasOffsetDeltas, objectsOf } from '../../helpers/fetch-answers.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const { signal } = new AbortController()

t.test('a pack has the commits, and the trees and files that the others lack', async (t) => {
  const [git, copy, folder] = [await findGit(), await newWorkingCopy(t), await temporaryFolder(t)]
  const read = async (name: string) => copy.git('rev-parse', name)
  for (const name of ['same', 'folder']) await mkdir(join(copy.path, name))
  await copy.commit('same/file', 'same')
  const first = await copy.commit('folder/file', 'first')
  const second = await copy.commit('folder/file', 'second')
  await copy.git('update-index', '--add', '--cacheinfo', `160000,${first},module`)
  const tip = await copy.commit('folder/file', 'first')
  const make = (pairs: Array<[string, string]>, bytesMax = 10_000) =>
    updatePack(git, copy.path, { pairs, hasOffsetDeltas: false, bytesMax }, signal)
  const objectsIn = async (pairs: Array<[string, string]>) =>
    objectsOf((await make(pairs)) ?? Buffer.alloc(0), folder)
  const own = [tip, await read(`${tip}^{tree}`)]
  const changed = [await read(`${tip}:folder`), await read(`${tip}:folder/file`)]
  t.same(await objectsIn([[tip, first]]), own.toSorted(), 'the file is that of the first commit')
  t.same(await objectsIn([[tip, second]]), [...own, ...changed].toSorted())
  const both: Array<[string, string]> = [
    [tip, first],
    [tip, second],
  ]
  t.same(await objectsIn(both), [...own, ...changed].toSorted(), 'for clients with any of them')
  t.equal(await make(both, 100), undefined, 'too long')
  await t.rejects(make([[tip, '1'.repeat(40)]]), /Could not read 1111/)
})

t.test('deltas name their base by its position only if the client reads such deltas', async (t) => {
  const [git, copy, folder] = [await findGit(), await newWorkingCopy(t), await temporaryFolder(t)]
  const text = Array.from({ length: 500 }, (_, line) => `line ${line}`).join('\n')
  const root = await copy.commit('other')
  await copy.commit('file', text)
  const [one, two] = [await copy.commit('file', `${text}1`), await copy.commit('file', `${text}2`)]
  for (const isOffset of [true, false]) {
    const pairs: Array<[string, string]> = [
      [one, root],
      [two, root],
    ]
    const contents = { pairs, hasOffsetDeltas: isOffset, bytesMax: 100_000 }
    const pack = (await updatePack(git, copy.path, contents, signal)) ?? Buffer.alloc(0)
    t.equal(await hasOffsetDeltas(pack, folder), isOffset)
  }
})

t.test('a small pack has the same objects, and a larger one is left to git', async (t) => {
  const [git, copy, folder] = [await findGit(), await newWorkingCopy(t), await temporaryFolder(t)]
  const path = join(copy.path, '.git')
  const first = await copy.commit('file', 'first')
  const second = await copy.commit('other', 'second')
  const tip = await copy.commit('file', 'third')
  const random = await copy.commit('random', randomBytes(70_000))
  await copy.git('repack', '-a', '-d', '--quiet')
  const make = (pairs: Array<[string, string]>, bytesMax = 10_000) =>
    smallUpdatePack(path, { pairs, bytesMax })
  const pairs: Array<[string, string]> = [
    [tip, first],
    [tip, second],
  ]
  const contents = { pairs, hasOffsetDeltas: false, bytesMax: 10_000 }
  const byGit = (await updatePack(git, path, contents, signal)) ?? Buffer.alloc(0)
  const small = (await make(pairs)) ?? Buffer.alloc(0)
  t.same(await objectsOf(small, folder), await objectsOf(byGit, folder))
  t.equal(await make(pairs, 50), undefined, 'too long')
  t.equal(await make([[random, tip]], 100_000), undefined, 'too long for a pack without deltas')
  const many = Array.from({ length: 65 }, (): [string, string] => [tip, first])
  t.equal(await make(many), undefined, 'many comparisons')
  t.ok(await make(many.slice(1)))
})
