/** Packs complete a branch only if git too finds all objects of its new commit. */

import { cp, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t, { t as root, type Test } from 'tap'
import { checkComplete } from '../../../cgi/objects/connectivity.js'
import { withQuarantine } from '../../../cgi/repository/quarantine.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import {
  cloneInto,
  newWorkingCopy,
  type WorkingCopy,
  workingCopyAt,
} from '../../helpers/working-copy.js'

const START = { 'a.txt': 'a', 'deep/er/b.txt': 'b', 'deep/c.txt': 'c', 'd.txt': 'd' }

/** Writes and removes files, and commits all. */
async function change({ path, git }: WorkingCopy, files: Readonly<Record<string, string | null>>) {
  for (const [name, text] of Object.entries(files)) {
    if (text === null) await git('rm', '--quiet', name)
    else {
      await mkdir(join(path, name, '..'), { recursive: true })
      await writeFile(join(path, name), text)
    }
  }
  await git('add', '--all')
  await git('commit', '--quiet', '-m', 'Change files')
}

interface Scene {
  /** A working copy with the branches main and other. */
  readonly copy: WorkingCopy
  /** A bare clone of it. */
  readonly path: string
  /** The commit of main. */
  readonly before: string
}

async function makeScene(t: Test, format: 'sha1' | 'sha256'): Promise<Scene> {
  const copy = await newWorkingCopy(t, format)
  await change(copy, { ...START, 'a.txt': 'an older text' })
  await change(copy, START)
  await copy.git('checkout', '--quiet', '-b', 'other', 'HEAD~')
  await change(copy, { 'd.txt': 'other', 'side/s.txt': 's' })
  await copy.git('checkout', '--quiet', 'main')
  const { path } = await cloneInto(t, copy.path, ['--bare', '--quiet', '--no-local'])
  await copy.git('fetch', '--quiet', path, 'refs/heads/*:refs/remotes/bare/*')
  return { copy, path, before: await copy.git('rev-parse', 'HEAD') }
}

const scenes = new Map<string, Promise<Scene>>()

/** Returns a scene of the test, copied from one that all tests share. */
async function scene(t: Test, format: 'sha1' | 'sha256' = 'sha1'): Promise<Scene> {
  const made = scenes.get(format) ?? makeScene(root, format)
  scenes.set(format, made)
  const [{ copy, path, before }, folder] = [await made, await temporaryFolder(t)]
  const [newCopy, newPath] = [join(folder, 'copy'), join(folder, 'bare')]
  await cp(copy.path, newCopy, { recursive: true })
  await cp(path, newPath, { recursive: true })
  return { copy: workingCopyAt(newCopy), path: newPath, before }
}

interface Received {
  readonly before: string
  readonly after: string
  readonly ids: readonly string[]
}

/**
 * Receives the objects as a pack, as pushes do. Returns the result; `refused` if git's check of the
 * pack fails. Also returns whether git finds all objects.
 */
async function check({ path: source }: WorkingCopy, path: string, received: Received) {
  const { before, after, ids } = received
  return await withQuarantine(path, async ({ folder, variables }) => {
    await mkdir(join(folder, 'pack'))
    const input = ids.map((id) => `${id}\n`).join('')
    const name = join(folder, 'pack', 'pack')
    const hash = await git(['pack-objects', '--quiet', name], { cwd: source, input })
    const pack = relative(join(path, 'objects', 'pack'), `${name}-${hash}.pack`)
    const run = (...args: readonly string[]) => tryGit(args, { cwd: path, environment: variables })
    const indexed = await run('index-pack', '--strict', `${name}-${hash}.pack`)
    const listed = await run('rev-list', '--objects', '--quiet', after, '--not', '--all')
    const isRefused = indexed.exitCode !== 0
    return {
      found: isRefused ? 'refused' : await checkComplete(path, { pack, before, after }),
      isCompleteForGit: listed.exitCode === 0,
    }
  })
}

/** Lists the objects that the bare clone lacks; a new file if there are none. */
async function newIds({ path, git }: WorkingCopy, before: string, after = 'HEAD') {
  const args = ['rev-list', '--objects', '--no-object-names', after, '--not', before, '--remotes']
  const text = await git(...args)
  if (text !== '') return text.split('\n')
  await writeFile(join(path, 'unrelated'), 'unrelated')
  return [await git('hash-object', '-w', 'unrelated')]
}

const COMPLETE: Readonly<Record<string, (copy: WorkingCopy) => Promise<unknown>>> = {
  'a changed file': (copy) => change(copy, { 'deep/er/b.txt': 'new' }),
  'an added, a changed and a removed file': (copy) =>
    change(copy, { 'a.txt': 'new', 'new/deep/x.txt': 'x', 'd.txt': null }),
  'a changed mode only': (copy) =>
    copy
      .git('update-index', '--chmod=+x', 'a.txt')
      .then(() => copy.git('commit', '--quiet', '-m', 'Change the mode')),
  'several commits': async (copy) => {
    for (const text of ['one', 'two', 'three']) await change(copy, { 'deep/c.txt': text })
  },
  'a submodule': async (copy) => {
    const entry = `160000,${'1'.repeat(40)},module`
    await copy.git('update-index', '--add', '--cacheinfo', entry)
    await copy.git('commit', '--quiet', '-m', 'Add a module')
  },
  'a merge of new commits': async (copy) => {
    await copy.git('checkout', '--quiet', '-b', 'side')
    await change(copy, { 'side.txt': 'side' })
    await copy.git('checkout', '--quiet', 'main')
    await change(copy, { 'a.txt': 'main' })
    await copy.git('merge', '--quiet', '--no-edit', 'side')
  },
  'a new history': async (copy) => {
    await copy.git('checkout', '--quiet', '--orphan', 'new')
    await change(copy, { 'a.txt': 'of the new history' })
  },
  'a commit of the same tree': (copy) => copy.git('commit', '--quiet', '--allow-empty', '-m', 'x'),
  'a renamed file': (copy) => change(copy, { 'a.txt': null, 'deep/moved.txt': 'a' }),
  'a copied file': (copy) => change(copy, { 'b.txt': 'a' }),
  'a file as in an older commit': (copy) => change(copy, { 'a.txt': 'an older text' }),
  'a changed last commit': async (copy) => {
    await writeFile(join(copy.path, 'a.txt'), 'a changed text')
    await copy.git('commit', '--quiet', '--all', '--amend', '-m', 'Change it')
  },
  'a merge of an older commit': async (copy) => {
    await copy.git('checkout', '--quiet', '-b', 'older', 'HEAD~')
    await change(copy, { 'older.txt': 'older' })
    await copy.git('checkout', '--quiet', 'main')
    await copy.git('merge', '--quiet', '--no-edit', 'older')
  },
  'a commit on another branch': async (copy) => {
    await copy.git('checkout', '--quiet', 'other')
    await change(copy, { 'a.txt': 'on the other branch' })
  },
}

for (const [what, commit] of Object.entries(COMPLETE)) {
  t.test(`a pack with ${what} completes the branch`, async (t) => {
    const { copy, path, before } = await scene(t)
    await commit(copy)
    const after = await copy.git('rev-parse', 'HEAD')
    const ids =
      what === 'a new history'
        ? (await copy.git('rev-list', '--objects', '--no-object-names', after)).split('\n')
        : await newIds(copy, before)
    const complete = { found: 'complete', isCompleteForGit: true }
    t.strictSame(await check(copy, path, { before, after, ids }), complete)
    for (const id of ids) {
      const others = ids.filter((other) => other !== id)
      if (id === after) others.push(await copy.git('rev-parse', `${before}:a.txt`))
      const { found, isCompleteForGit } = await check(copy, path, { before, after, ids: others })
      if (id === after) t.equal(found, 'no-commit')
      // The repository may have the file elsewhere.
      const isSound = found !== 'complete' || isCompleteForGit
      t.ok(isSound, `not without ${await copy.git('cat-file', '-t', id)} ${id}`)
    }
  })
}

t.test('a branch is not moved to another object than a commit', async (t) => {
  const { copy, path, before } = await scene(t)
  await change(copy, { 'a.txt': 'new' })
  await copy.git('tag', '-m', 'Tag', 'v1')
  const ids = [...(await newIds(copy, before)), await copy.git('rev-parse', 'v1')]
  for (const name of ['main^{tree}', 'main:a.txt', 'v1']) {
    const after = await copy.git('rev-parse', name)
    t.match(await check(copy, path, { before, after, ids }), { found: 'no-commit' }, name)
  }
})

t.test('git must look for the objects of a tree that something removed has left', async (t) => {
  const { copy, path, before } = await scene(t)
  await change(copy, { 'deep/er/b.txt': 'missing', 'a.txt': 'new' })
  const after = await copy.git('rev-parse', 'HEAD')
  const [file, ...trees] = await Promise.all(
    ['HEAD:deep/er/b.txt', 'HEAD:deep/er', 'HEAD:deep', 'HEAD^{tree}'].map((name) =>
      copy.git('rev-parse', name),
    ),
  )
  const left = new Set([file])
  for (const id of trees) {
    const name = join(path, 'objects', 'pack', 'pack')
    await copy.try(['pack-objects', '--quiet', name], { input: `${id}\n` })
    left.add(id)
    const ids = (await newIds(copy, before)).filter((other) => !left.has(other))
    const expected = { found: 'unproven', isCompleteForGit: false }
    t.strictSame(await check(copy, path, { before, after, ids }), expected)
  }
})

t.test('a branch can move to its last 20 commits, and to those that refs name', async (t) => {
  const { copy, path, before } = await scene(t)
  const commits = Array.from({ length: 24 }, (_, at) => {
    const from = at === 0 ? `from ${before}\n` : ''
    return `commit refs/heads/main\ncommitter A <a@b> ${at} +0000\ndata 0\n${from}`
  })
  await copy.try(['fast-import', '--quiet'], { input: commits.join('') })
  await copy.git('branch', 'named', 'main~23')
  await git(['fetch', '--quiet', copy.path, 'main:main', 'named:named'], { cwd: path })
  const present = await copy.git('rev-parse', 'main')
  const ids = [await copy.git('rev-parse', 'main:a.txt')]
  const checkAll = async (expected: Readonly<Record<string, string>>) => {
    for (const [name, found] of Object.entries(expected)) {
      const after = await copy.git('rev-parse', name)
      const result = await check(copy, path, { before: present, after, ids })
      t.strictSame(result, { found, isCompleteForGit: true }, name)
    }
  }
  const complete = { main: 'complete', 'main~20': 'complete', 'main~23': 'complete' }
  await checkAll({ ...complete, 'main~21': 'unproven' })
  await git(['pack-refs', '--all'], { cwd: path })
  await checkAll(complete)
  await git(['update-ref', 'refs/heads/named', present], { cwd: path })
  await checkAll({ 'main~23': 'unproven' })
})

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a pack of ${format} completes a branch whose objects are packed or not`, async (t) => {
    const { copy, path, before } = await scene(t, format)
    await change(copy, { 'deep/er/b.txt': 'new' })
    const after = await copy.git('rev-parse', 'HEAD')
    const received = { before, after, ids: await newIds(copy, before) }
    const complete = { found: 'complete', isCompleteForGit: true }
    t.strictSame(await check(copy, path, received), complete)
    const packs = join(path, 'objects', 'pack')
    for (const name of await readdir(packs)) {
      const input = await readFile(join(packs, name))
      await rm(join(packs, name))
      if (name.endsWith('.pack')) await git(['unpack-objects', '-q'], { cwd: path, input })
    }
    t.strictSame(await readdir(packs), [])
    t.strictSame(await check(copy, path, received), complete)
  })
}

/** Pushes that are complete, but whose packs lack objects that the repository has elsewhere. */
const LEFT_TO_GIT: Readonly<Record<string, (copy: WorkingCopy) => Promise<unknown>>> = {
  'a folder is moved': async (copy) => {
    await copy.git('mv', 'deep/er', 'there')
    await copy.git('commit', '--quiet', '-m', 'Move a folder')
  },
  'a branch with a new folder is merged': async (copy) => {
    await change(copy, { 'a.txt': 'main' })
    await copy.git('merge', '--quiet', '--no-edit', 'other')
  },
  'the files are those of an older commit': (copy) => change(copy, { 'a.txt': 'an older text' }),
}

for (const [reason, commit] of Object.entries(LEFT_TO_GIT)) {
  t.test(`git must look for objects if ${reason}`, async (t) => {
    const { copy, path, before } = await scene(t)
    await commit(copy)
    const after = await copy.git('rev-parse', 'HEAD')
    const ids: string[] = []
    for (const id of await newIds(copy, before)) {
      const { exitCode } = await tryGit(['cat-file', '-e', id], { cwd: path })
      if (exitCode !== 0) ids.push(id)
    }
    const received = { before, after, ids }
    const left = { found: 'unproven', isCompleteForGit: true }
    t.strictSame(await check(copy, path, received), left)
  })
}

t.test(
  'git must look for the objects of many commits, and in a repository with grafts',
  async (t) => {
    const { copy, path, before } = await scene(t)
    await change(copy, { 'a.txt': 'new' })
    const after = await copy.git('rev-parse', 'HEAD')
    const received = { before, after, ids: await newIds(copy, before) }
    t.match(await check(copy, path, received), { found: 'complete' })
    await writeFile(join(path, 'shallow'), `${before}\n`)
    t.match(await check(copy, path, received), { found: 'unproven' })
    await rm(join(path, 'shallow'))
    const commits = Array.from({ length: 101 }, (_, at) => {
      const from = at === 0 ? `from ${before}\n` : ''
      return `commit refs/heads/many\ncommitter A <a@b> ${at} +0000\ndata 0\n${from}`
    })
    await copy.try(['fast-import', '--quiet'], { input: commits.join('') })
    for (const [name, found] of [
      ['many~', 'complete'],
      ['many', 'unproven'],
    ] as const) {
      const tip = await copy.git('rev-parse', name)
      const ids = await newIds(copy, before, name)
      const expected = { found, isCompleteForGit: true }
      t.strictSame(await check(copy, path, { before, after: tip, ids }), expected, name)
    }
  },
)

t.test('the newest packs of a repository are read, which have the present commit', async (t) => {
  const { copy, path } = await scene(t)
  await git(['remote', 'add', 'source', copy.path], { cwd: path })
  const packs = join(path, 'objects', 'pack')
  for (let pushes = 0; pushes < 20; pushes += 1) {
    await change(copy, { 'a.txt': `text ${pushes}` })
    const known = new Set(await readdir(packs))
    await git(['-c', 'transfer.unpackLimit=1', 'fetch', '--quiet', 'source', 'main:main'], {
      cwd: path,
    })
    const added = (await readdir(packs)).filter((name) => !known.has(name))
    for (const name of added) await utimes(join(packs, name), pushes, pushes)
  }
  t.ok((await readdir(packs)).filter((name) => name.endsWith('.pack')).length > 16)
  const before = await copy.git('rev-parse', 'HEAD')
  await change(copy, { 'a.txt': 'new' })
  const after = await copy.git('rev-parse', 'HEAD')
  const received = { before, after, ids: await newIds(copy, before) }
  t.match(await check(copy, path, received), { found: 'complete' })
  const other = join(packs, `pack-${'1'.repeat(40)}`)
  for (let many = 0; many < 200; many += 1) await writeFile(`${other}-${many}.pack`, '')
  t.match(await check(copy, path, received), { found: 'unproven' }, 'not of hundreds')
})
