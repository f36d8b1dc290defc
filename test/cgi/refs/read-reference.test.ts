/** Refs in files have the ids that git reads, or are missing; others are left to git. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readReference } from '../../../cgi/refs/read-reference.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const MISSING = { id: undefined }

const idOf = async (path: string, name: string) => (await readReference(path, name))?.id

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`refs are read from their own file or from packed-refs, in ${format}`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const path = join(copy.path, '.git')
    const first = await copy.commit('a')
    await copy.git('tag', '-m', 'A tag', 'v1')
    await copy.git('branch', 'topic/ü')
    const names = ['HEAD', 'refs/heads/main', 'refs/tags/v1', 'refs/heads/topic/ü']
    const expected = async () =>
      Promise.all(names.map((name) => copy.git('rev-parse', '--verify', name)))
    const found = () => Promise.all(names.map((name) => idOf(path, name)))
    t.strictSame(await found(), await expected(), 'loose')
    await copy.git('pack-refs', '--all')
    t.strictSame(await found(), await expected(), 'packed')
    const second = await copy.commit('b')
    t.strictSame(await found(), await expected(), 'loose after packed')
    t.not(second, first)
  })
}

t.test('refs that the files do not have are missing', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  t.strictSame(await readReference(path, 'HEAD'), MISSING, 'without commits')
  await copy.commit('a')
  t.strictSame(await readReference(path, 'refs/heads/absent'), MISSING, 'absent')
  t.strictSame(await readReference(path, 'refs/heads/main/absent'), MISSING, 'below a file')
  await mkdir(join(path, 'refs/heads/folder'))
  t.strictSame(await readReference(path, 'refs/heads/folder'), MISSING, 'a folder')
  await copy.git('pack-refs', '--all')
  t.strictSame(await readReference(path, 'refs/heads/mai'), MISSING, 'the start of a name')
  t.strictSame(await readReference(path, 'heads/main'), MISSING, 'the end of a name')
})

t.test('other refs are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  await copy.commit('a')
  await copy.git('symbolic-ref', 'refs/heads/link', 'refs/heads/main')
  t.equal(await readReference(path, 'refs/heads/link'), undefined, 'symbolic')
  await writeFile(join(path, 'refs/heads/empty'), '')
  t.equal(await readReference(path, 'refs/heads/empty'), undefined, 'an empty file')
  await writeFile(join(path, 'packed-refs'), `# pack-refs\n${'# a comment\n'.repeat(25_000)}`)
  t.equal(await readReference(path, 'refs/heads/absent'), undefined, 'many packed refs')
  await writeFile(join(path, 'other'), `${'1'.repeat(40)}\n`)
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/../../other\n')
  t.equal(await readReference(path, 'HEAD'), undefined, 'a path outside of refs')
  await rm(path, { recursive: true })
  t.equal(await readReference(path, 'refs/heads/main'), undefined, 'no repository')
})
