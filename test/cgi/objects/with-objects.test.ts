/** Objects are read from files or by one process; unsafe names are not passed to git. */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { countedGit } from '../../helpers/counted-git.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Folder in which objects are read by git: it is not the Git folder, whose files could be read. */
const BY_GIT = '.'
const FROM_FILES = '.git'

for (const format of ['sha1', 'sha256'] as const) {
  for (const folder of [BY_GIT, FROM_FILES]) {
    t.test(`objects of ${format} in ${folder} are read by id and by reference`, (t) =>
      readAll(t, format, folder),
    )
  }
}

async function readAll(t: Test, format: 'sha1' | 'sha256', folder: string): Promise<void> {
  const copy = await newWorkingCopy(t, format)
  const tip = await copy.commit('a', 'first\n')
  await copy.git('tag', '-m', 'A tag', 'v1')
  await withObjects(ours, join(copy.path, folder), async (objects) => {
    const blobId = await copy.git('rev-parse', 'HEAD:a')
    const [blob, commit, tree, tag, peeled] = await Promise.all(
      [blobId, tip, `${tip}^{tree}`, 'refs/tags/v1', 'refs/tags/v1^{commit}'].map((name) =>
        objects.read(name),
      ),
    )
    t.match(blob, { id: blobId, type: 'blob', sizeBytes: 6, content: Buffer.from('first\n') })
    t.match(commit, { id: tip, type: 'commit' })
    t.match(tree, { type: 'tree' })
    t.match(tag, { type: 'tag' })
    t.match(peeled, { id: tip, type: 'commit' })
    t.equal(await objects.read(tip.slice(0, 10)).then((found) => found?.id), tip)
    t.equal(await objects.read('refs/heads/absent'), undefined)
    t.equal(await objects.read(`${blobId}^{commit}`), undefined)
    t.match(await objects.read(blobId, 0), { sizeBytes: 6, content: undefined })
  })
}

t.test('a replaced object is read as it was stored', async (t) => {
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('a')
  const tip = await copy.commit('b')
  await copy.git('replace', tip, first)
  t.equal(await copy.git('log', '-1', '--format=%s', tip), 'Write a', 'git shows the other one')
  for (const folder of [BY_GIT, FROM_FILES]) {
    await withObjects(ours, join(copy.path, folder), async (objects) => {
      t.match((await objects.read(tip))?.content?.toString(), /Write b/, folder)
    })
  }
})

t.test('small objects and refs are read without a process', async (t) => {
  const git = await countedGit(await temporaryFolder(t))
  const copy = await newWorkingCopy(t)
  await copy.commit('packed')
  await copy.git('repack', '-a', '-d', '--quiet')
  const tip = await copy.commit('loose')
  const path = join(copy.path, FROM_FILES)
  const names = ['HEAD', 'refs/heads/main^{tree}', 'refs/heads/absent', tip, `${tip}^{tree}`]
  await withObjects(git, path, async (objects) => {
    for (const name of names) await objects.read(name)
    const [packed = '', loose = ''] = await Promise.all(
      ['packed', 'loose'].map((file) => copy.git('rev-parse', `HEAD:${file}`)),
    )
    t.strictSame([...(await objects.readSizes([packed, loose])).values()], [7, 6])
  })
  t.strictSame(await git.started(), [])
  await withObjects(git, path, (objects) => objects.read('0'.repeat(40)))
  t.strictSame(await git.started(), ['cat-file'], 'git looks for a missing object')
})

t.test('a thousand concurrent reads are answered in their order', async (t) => {
  const copy = await newWorkingCopy(t)
  const contents = Array.from({ length: 200 }, (_, index) => `${index}\n`.repeat(index))
  await Promise.all(
    contents.map((content, index) => writeFile(join(copy.path, `f${index}`), content)),
  )
  const paths = contents.map((_, index) => `f${index}`)
  const ids = (await copy.git('hash-object', '-w', ...paths)).split('\n')
  await withObjects(ours, copy.path, async (objects) => {
    const wanted = Array.from({ length: 1_000 }, (_, index) => index % 200)
    const found = await Promise.all(wanted.map((index) => objects.read(ids[index] ?? '')))
    t.strictSame(
      found.map((object) => object?.content?.toString()),
      wanted.map((index) => contents[index]),
    )
  })
})

t.test('an object that is too large is skipped and the next one is still read', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('large', randomBytes(1_000_000))
  await copy.commit('small', 'small')
  await withObjects(ours, copy.path, async (objects) => {
    const [large, small] = await Promise.all([
      copy.git('rev-parse', 'HEAD:large').then((id) => objects.read(id, 999_999)),
      copy.git('rev-parse', 'HEAD:small').then((id) => objects.read(id, 5)),
    ])
    t.match(large, { type: 'blob', sizeBytes: 1_000_000, content: undefined })
    t.equal(small?.content?.toString(), 'small')
  })
})

t.test('sizes are read without contents, and missing objects have none', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a', 'text')
  const id = await copy.git('rev-parse', 'HEAD:a')
  await withObjects(ours, copy.path, async (objects) => {
    t.strictSame([...(await objects.readSizes([id, '0'.repeat(40), id]))], [[id, 4]])
    t.equal((await objects.readSizes([])).size, 0)
    await t.rejects(objects.readSizes(['HEAD']), { message: /full id/ })
  })
})

t.test('a name that is more than an object to git is a bug and is not passed on', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a')
  const names = [
    '',
    'main',
    '-h',
    '--batch',
    'HEAD:a',
    'HEAD~1',
    'refs/heads/main:a',
    'refs/heads/a..b',
    'HEAD\nHEAD',
    'refs/heads/a\n',
    'HEAD^',
    'HEAD^{/a}',
    'refs/heads/@{1}',
    ':/a',
    '@',
  ]
  await withObjects(ours, copy.path, async (objects: ObjectReader) => {
    for (const name of names) await t.rejects(objects.read(name), /not an object id/, name)
    t.match(await objects.read('HEAD'), { type: 'commit' })
  })
})

t.test('a missing repository is an error, not a missing object', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, 'absent')
  const read = withObjects(ours, path, (objects) => objects.read('HEAD'))
  await t.rejects(read, /git did not start|git cat-file/)
})
