/** Refs that are read from files have the ids that git reads; the others are left to git. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readReference } from '../../../cgi/refs/read-reference.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

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
    const found = () => Promise.all(names.map((name) => readReference(path, name)))
    t.strictSame(await found(), await expected(), 'loose')
    await copy.git('pack-refs', '--all')
    t.strictSame(await found(), await expected(), 'packed')
    const second = await copy.commit('b')
    t.strictSame(await found(), await expected(), 'loose after packed')
    t.not(second, first)
  })
}

t.test('other refs are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  t.equal(await readReference(path, 'HEAD'), undefined, 'without commits')
  await copy.commit('a')
  await copy.git('symbolic-ref', 'refs/heads/link', 'refs/heads/main')
  t.equal(await readReference(path, 'refs/heads/link'), undefined, 'symbolic')
  t.equal(await readReference(path, 'refs/heads/absent'), undefined, 'absent')
  t.equal(await readReference(path, 'refs/heads/main/absent'), undefined, 'below a file')
  await mkdir(join(path, 'refs/heads/folder'))
  t.equal(await readReference(path, 'refs/heads/folder'), undefined, 'a folder')
  await writeFile(join(path, 'other'), `${'1'.repeat(40)}\n`)
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/../../other\n')
  t.equal(await readReference(path, 'HEAD'), undefined, 'a path outside of refs')
  await copy.git('symbolic-ref', 'HEAD', 'refs/heads/main')
  await copy.git('pack-refs', '--all')
  t.equal(await readReference(path, 'refs/heads/mai'), undefined, 'the start of a name')
  t.equal(await readReference(path, 'heads/main'), undefined, 'the end of a name')
})
