/** Packs of what commits have and others lack, with real git. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { updatePack } from '../../../cgi/objects/update-pack.js'
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
