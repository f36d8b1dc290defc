/** Bare repositories: creation, removal, and inexpensive checks. */

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import {
  commitFirstFiles,
  type FirstCommit,
  initRepository,
  isEmptyRepository,
  removeRepository,
  repositorySizeKib,
  setDefaultBranch,
} from '../../../cgi/repository/repository.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()

async function aRepository(t: Test): Promise<string> {
  const path = repositoryPath(await temporaryFolder(t), newStorageKey())
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  return path
}

const README: FirstCommit = {
  branch: 'main',
  files: [{ name: 'README.md', content: '# Größe\n\ndone\n' }],
  author: { name: 'Ada\n<Lovelace>', email: 'ada@example.com>' },
  message: 'Begin\n\nWith a ü and no end of line',
  when: new Date('2024-02-29T12:00:00Z'),
}

t.test('a new repository is bare and empty, with the given branch and object format', async (t) => {
  const path = await aRepository(t)
  t.equal(await git(['rev-parse', '--is-bare-repository'], { cwd: path }), 'true')
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: path }), 'refs/heads/main')
  t.same((await readdir(path)).sort(), ['HEAD', 'config', 'objects', 'refs'])
  t.same(await readdir(dirname(path)), [path.slice(dirname(path).length + 1)], 'no other file')
  const other = `${path}-256`
  await initRepository(ours, other, { defaultBranch: 'trunk/x', objectFormat: 'sha256' })
  t.equal(await git(['rev-parse', '--show-object-format'], { cwd: other }), 'sha256')
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: other }), 'refs/heads/trunk/x')
})

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`all new repositories of ${objectFormat} have the files that git makes`, async (t) => {
    const folder = await temporaryFolder(t)
    const options = ['--bare', '--template=', '-b', 'main', `--object-format=${objectFormat}`]
    await git(['init', '--quiet', ...options, join(folder, 'git')], { cwd: folder })
    const right = await entriesOf(join(folder, 'git'))
    for (const [name, branch] of [
      ['first', 'main'],
      ['second', 'trunk/x'],
      ['third', 'main'],
    ] as const) {
      const path = join(folder, name)
      await initRepository(ours, path, { defaultBranch: branch, objectFormat })
      const expected = new Map(right).set('HEAD', [MODE_OF_FILES, `ref: refs/heads/${branch}\n`])
      t.strictSame(await entriesOf(path), expected, name)
    }
  })
}

const MODE_OF_FILES = 0o100_644

/** Returns the mode of each file and folder below a folder, and the contents of files. */
async function entriesOf(folder: string) {
  const entries = new Map<string, readonly [mode: number, content: string | undefined]>()
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    const { mode } = await stat(join(folder, name))
    const isFile = mode === MODE_OF_FILES
    const content = isFile ? await readFile(join(folder, name), 'utf8') : undefined
    entries.set(name, [mode, content])
  }
  return entries
}

t.test(
  'a repository is not created over an existing one, and no temporary folder is left',
  async (t) => {
    const path = await aRepository(t)
    await commitFirstFiles(ours, path, README)
    await t.rejects(initRepository(ours, path, { defaultBranch: 'x', objectFormat: 'sha1' }))
    t.equal(await isEmptyRepository(path), false)
    t.equal((await readdir(dirname(path))).length, 1)
  },
)

t.test('the first files are one commit with the given author, in one pack', async (t) => {
  const path = await aRepository(t)
  t.equal(await isEmptyRepository(path), true)
  await commitFirstFiles(ours, path, README)
  t.equal(await isEmptyRepository(path), false)
  const format = '%an|%ae|%cn|%at|%B'
  t.equal(
    await git(['log', '-1', `--format=${format}`, 'main'], { cwd: path }),
    `AdaLovelace|ada@example.com|AdaLovelace|1709208000|${README.message}`,
  )
  t.equal(await git(['show', 'main:README.md'], { cwd: path }), README.files[0]?.content.trim())
  await git(['fsck', '--strict'], { cwd: path })
  const packs = await readdir(join(path, 'objects', 'pack'))
  t.equal(packs.filter((name) => name.endsWith('.pack')).length, 1)
})

t.test('the first file does not replace an existing branch', async (t) => {
  const path = await aRepository(t)
  await commitFirstFiles(ours, path, README)
  const tip = await git(['rev-parse', 'main'], { cwd: path })
  const again = commitFirstFiles(ours, path, { ...README, files: [] })
  await t.rejects(again, /git fast-import failed/)
  t.equal(await git(['rev-parse', 'main'], { cwd: path }), tip)
})

t.test('a file name that fast-import would parse as a command is refused', async (t) => {
  const path = await aRepository(t)
  for (const name of ['a b', 'a\nreset x', '"x"', '../x', 'a/b', '']) {
    await t.rejects(
      commitFirstFiles(ours, path, { ...README, files: [{ name, content: '' }] }),
      /plain name/,
    )
  }
  await t.rejects(commitFirstFiles(ours, path, { ...README, branch: 'x\nreset y' }), /parsed/)
  t.equal(await isEmptyRepository(path), true)
})

t.test(
  'a repository with packed or loose references is not empty; lock files do not count',
  async (t) => {
    const path = await aRepository(t)
    await mkdir(join(path, 'refs/heads/deep'))
    await writeFile(join(path, 'refs/heads/deep/x.lock'), '')
    await writeFile(join(path, 'packed-refs'), '# pack-refs with: peeled fully-peeled sorted \n')
    t.equal(await isEmptyRepository(path), true)
    await commitFirstFiles(ours, path, { ...README, branch: 'deep/y' })
    await git(['pack-refs', '--all'], { cwd: path })
    t.notOk(existsSync(join(path, 'refs/heads/deep/y')))
    t.equal(await isEmptyRepository(path), false)
    await t.rejects(isEmptyRepository(`${path}x`), /ENOENT/)
  },
)

t.test('the default branch can be set to a branch that does not exist', async (t) => {
  const path = await aRepository(t)
  await setDefaultBranch(ours, path, 'next')
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: path }), 'refs/heads/next')
})

t.test('the size is the sum of the file sizes', async (t) => {
  const path = await aRepository(t)
  const before = await repositorySizeKib(path)
  await writeFile(join(path, 'objects', 'x'), Buffer.alloc(10 * 1_024))
  t.equal(await repositorySizeKib(path), before + 10)
  t.equal(await repositorySizeKib(`${path}x`), 0)
})

t.test('a removed repository leaves no file and can be removed again', async (t) => {
  const path = await aRepository(t)
  await removeRepository(path)
  t.same(await readdir(dirname(path)), [])
  await removeRepository(path)
})
