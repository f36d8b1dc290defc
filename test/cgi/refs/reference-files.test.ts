/** Ref files show which branches moved; for any other change the result is undefined. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  movedBranches,
  type ReferenceFiles,
  readReferenceFiles,
} from '../../../cgi/refs/reference-files.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git as runGit } from '../../helpers/git-client.js'
import { diskFolder, temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('branches that have moved are returned, whichever program moved them', async (t) => {
  const { path, git, first, second } = await aRepository(t)
  const before = filesOf(path)
  await git('update-ref', 'refs/heads/main', first)
  await git('update-ref', 'refs/heads/a/topic', second)
  const moved = movedBranches(before, filesOf(path))
  t.strictSame(Object.fromEntries(moved ?? []), {
    'refs/heads/main': first,
    'refs/heads/a/topic': second,
  })
  t.equal(movedBranches(before, before)?.size, 0)
})

t.test('any other change of the refs returns undefined', async (t) => {
  const { path, git, first, second } = await aRepository(t)
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'a new branch': () => git('update-ref', 'refs/heads/new', first),
    'a deleted branch': () => git('update-ref', '-d', 'refs/heads/new'),
    'a branch in place of another': async () => {
      await git('update-ref', '-d', 'refs/heads/a/topic')
      await git('update-ref', 'refs/heads/other', first)
    },
    'a tag that moved': () => git('update-ref', 'refs/tags/light', second),
    'a pull request': () => git('update-ref', 'refs/pull/1/head', first),
    'another default branch': () => git('symbolic-ref', 'HEAD', 'refs/heads/other'),
    'a detached HEAD': () => git('update-ref', '--no-deref', 'HEAD', first),
    'packed references': () => git('pack-refs', '--all'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = filesOf(path)
    await change()
    t.equal(movedBranches(before, filesOf(path)), undefined, name)
  }
})

t.test('symbolic refs, locks and too many files return undefined', async (t) => {
  const { path, git } = await aRepository(t)
  await git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
  t.equal(readReferenceFiles(path), undefined, 'a symbolic ref')
  await git('symbolic-ref', '--delete', 'refs/heads/alias')
  t.not(readReferenceFiles(path), undefined)
  await writeFile(join(path, 'refs/heads/main.lock'), '')
  t.equal(readReferenceFiles(path), undefined, 'a ref with a lock')
  t.equal(readReferenceFiles(join(path, 'absent')), undefined)
  const many = await aRepository(t)
  for (let at = 0; at < 64; at += 1) await many.git('update-ref', `refs/heads/${at}`, many.first)
  t.equal(readReferenceFiles(many.path), undefined)
  await many.git('pack-refs', '--all')
  t.equal(readReferenceFiles(many.path)?.loose.size, 0)
})

/** Creates a bare repository with the branches main and a/topic and the tag light, all loose. */
async function aRepository(t: Parameters<typeof temporaryFolder>[0]) {
  const path = join(await temporaryFolder(t, diskFolder()), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await copy.git('push', '--quiet', path, 'main', `${first}:refs/heads/a/topic`)
  await copy.git('push', '--quiet', path, `${first}:refs/tags/light`)
  return { path, first, second, git: (...args: readonly string[]) => runGit(args, { cwd: path }) }
}

function filesOf(path: string): ReferenceFiles {
  const files = readReferenceFiles(path)
  if (files === undefined) throw new Error(`the references of ${path} cannot be read`)
  return files
}
