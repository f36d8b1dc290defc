/** The pack of new objects: exactly those that the former tips do not reach, or none. */

import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { findGit, type Git } from '../../../cgi/process/git.js'
import { type NewObjects, packNewObjects } from '../../../cgi/transfer/new-objects.js'
import { git as runGit } from '../../helpers/git-client.js'
import { findNewerGit } from '../../helpers/newer-git.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

/** Creates a repository with a bitmap of two commits, of which the second has no file `one`. */
async function aRepository(t: Test, git?: Git) {
  const ours = git ?? (await findGit())
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('one', 'one')
  await copy.git('rm', '-q', 'one')
  const second = await copy.commit('two', randomBytes(3_000).toString('base64'))
  const path = await temporaryFolder(t)
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  await server('init', '--quiet', '--bare')
  await server('config', 'transfer.unpackLimit', '1')
  const push = async (name: string, content: string | Uint8Array) => {
    const commit = await copy.commit(name, content)
    await copy.git('push', '--quiet', path, 'main')
    return commit
  }
  await copy.git('push', '--quiet', path, 'main')
  await server('repack', '-a', '-d', '-q', '--write-bitmap-index')
  const pack = (objects: Pick<NewObjects, 'wants' | 'known'> & Partial<NewObjects>) =>
    packNewObjects(ours, path, {
      withoutFiles: false,
      includesTags: false,
      hasOffsetDeltas: false,
      bytesMax: 100_000,
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      ...objects,
    })
  return { copy, server, push, first, second, pack }
}

/** Returns the number of objects of a pack (gitformat-pack(5)). */
function countOf(pack: Buffer | undefined): number | undefined {
  return pack?.readUInt32BE(8)
}

t.test('a file that is back in an old version is not new', async (t) => {
  const { server, push, first, second, pack } = await aRepository(t)
  const third = await push('one', 'one')
  t.equal(countOf(await pack({ wants: [third], known: [second] })), 2, 'a commit and a tree')
  t.equal(countOf(await pack({ wants: [third], known: [first] })), 5)
  t.equal(countOf(await pack({ wants: [], known: [first] })), 0)
  await server('repack', '-a', '-d', '-q', '--no-write-bitmap-index')
  t.equal(await pack({ wants: [third], known: [second] }), undefined, 'without a bitmap')
})

t.test('a newer git excludes former objects exactly as well', async (t) => {
  const { server, push, pack } = await aRepository(t, await findNewerGit())
  await push('one', 'one')
  await push('one', 'two')
  const known = [await push('three', 'three')]
  await server('repack', '-a', '-d', '-q', '--write-bitmap-index')
  known.push(await push('four', 'four'))
  const wants = [await push('one', 'one')]
  t.equal(countOf(await pack({ wants, known })), 2, 'a commit and a tree')
})

t.test('a large set is left to git', async (t) => {
  const { push, second, pack } = await aRepository(t)
  const third = await push('three', randomBytes(5_000))
  const objects = { wants: [third], known: [second] }
  t.equal(countOf(await pack({ ...objects, bytesMax: 6_000 })), 3)
  t.equal(await pack({ ...objects, bytesMax: 4_000 }), undefined, 'by its length')
  t.equal(await pack({ ...objects, bytesMax: 20 }), undefined, 'by its number of objects')
})

t.test('files, tags and deltas are as the client wants them', async (t) => {
  const { copy, server, push, second, pack } = await aRepository(t)
  const text = await copy.git('show', 'HEAD:two')
  const third = await push('two', `${text}\n`)
  const objects = { wants: [third], known: [second] }
  t.equal(countOf(await pack({ ...objects, withoutFiles: true })), 2)
  t.ok(((await pack(objects))?.length ?? 0) < 1_000, 'the file is a delta to a known one')
  t.equal(countOf(await pack({ ...objects, includesTags: true })), 3)
  await server('tag', '-a', '-m', 'Two', 'v2', 'main')
  t.equal(await pack({ ...objects, includesTags: true }), undefined, 'a tag would come along')
  const tag = await server('rev-parse', 'v2')
  t.equal(countOf(await pack({ ...objects, wants: [tag], includesTags: true })), 4)
})

t.test('replacements of objects are not followed', async (t) => {
  const { server, first, second, pack } = await aRepository(t)
  const other = await server('commit-tree', '-m', 'other', `${first}^{tree}`)
  const child = await server('commit-tree', '-p', other, '-m', 'child', `${first}^{tree}`)
  await server('replace', other, second)
  t.equal(countOf(await pack({ wants: [child], known: [second] })), 2)
})
