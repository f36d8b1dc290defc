/** Ref files show which branches changed; for any other change the result is undefined. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  changedReferences,
  type ReferenceFiles,
  readReferenceFiles,
  writtenBranches,
} from '../../../cgi/refs/reference-files.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git as runGit } from '../../helpers/git-client.js'
import { diskFolder, temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('branches that were written are returned, also new and packed ones', async (t) => {
  const { path, git, first, second } = await aRepository(t)
  const before = filesOf(path)
  await git('update-ref', 'refs/heads/main', first)
  await git('update-ref', 'refs/heads/a/topic', second)
  t.strictSame(written(before, path), { 'refs/heads/main': first, 'refs/heads/a/topic': second })
  await git('pack-refs', '--all')
  const packed = filesOf(path)
  t.strictSame(written(packed, path), {})
  await git('update-ref', 'refs/heads/a/topic', first)
  await git('update-ref', 'refs/heads/new', second)
  t.strictSame(written(packed, path), { 'refs/heads/a/topic': first, 'refs/heads/new': second })
})

t.test('other changes of files are returned by name, and not as branches', async (t) => {
  const { path, git, first, second } = await aRepository(t)
  await git('update-ref', 'refs/heads/gone', first)
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'refs/heads/gone': () => git('update-ref', '-d', 'refs/heads/gone'),
    'refs/heads/grün': () => git('update-ref', 'refs/heads/grün', first),
    'refs/tags/light': () => git('update-ref', 'refs/tags/light', second),
    'refs/pull/1/head': () => git('update-ref', 'refs/pull/1/head', first),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = filesOf(path)
    await change()
    const changed = changedReferences(before, filesOf(path))
    t.strictSame([...(changed?.keys() ?? [])], [name])
    t.equal(changed && writtenBranches(changed), undefined, name)
  }
})

t.test('a change of HEAD or of packed references returns undefined', async (t) => {
  const { path, git, first } = await aRepository(t)
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'another default branch': () => git('symbolic-ref', 'HEAD', 'refs/heads/other'),
    'a detached HEAD': () => git('update-ref', '--no-deref', 'HEAD', first),
    'packed references': () => git('pack-refs', '--all'),
    'a deleted packed branch': () => git('update-ref', '-d', 'refs/heads/a/topic'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = filesOf(path)
    await change()
    t.equal(changedReferences(before, filesOf(path)), undefined, name)
  }
})

t.test('symbolic refs and too many files return undefined, and locks are left out', async (t) => {
  const { path, git, first } = await aRepository(t)
  await git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
  t.equal(readReferenceFiles(path), undefined, 'a symbolic ref')
  await git('symbolic-ref', '--delete', 'refs/heads/alias')
  const before = filesOf(path)
  await writeFile(join(path, 'refs/heads/main.lock'), `${first}\n`)
  t.strictSame(filesOf(path), before)
  await rm(join(path, 'refs/heads/main.lock'))
  t.equal(readReferenceFiles(join(path, 'absent')), undefined)
  const write = async (from: number, to: number) => {
    for (let at = from; at < to; at += 1) {
      await writeFile(join(path, 'refs/heads', 'x'.repeat(200) + at), `${first}\n`)
    }
  }
  await write(0, 500)
  t.not(readReferenceFiles(path), undefined)
  await write(500, 1_100)
  t.equal(readReferenceFiles(path), undefined)
  await git('pack-refs', '--all')
  t.equal(readReferenceFiles(path)?.loose.size, 0)
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

/** Returns the branches that were written since. */
function written(before: ReferenceFiles, path: string): Readonly<Record<string, string>> {
  const changed = changedReferences(before, filesOf(path))
  return Object.fromEntries((changed && writtenBranches(changed)) ?? [])
}
