/** The version of the program, with the commit only if the folder is the checkout itself. */

import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { programVersion } from '../../../scripts/commands/program-version.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']

async function aPackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"version":"1.2.3"}')
}

/** Makes the folder a repository with one commit, and returns the first twelve digits of its id. */
function commit(folder: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...AUTHOR, ...args], { encoding: 'utf8' })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'Begin')
  return git('rev-parse', 'HEAD').slice(0, 12)
}

t.test('a folder without a repository has no commit', async (t) => {
  const folder = await temporaryFolder(t)
  await aPackage(folder)
  t.equal(await programVersion(folder), 'gatehouse 1.2.3')
})

t.test('a checkout has its commit, also through a symbolic link', async (t) => {
  const folder = await temporaryFolder(t)
  const program = join(folder, 'program')
  await aPackage(program)
  execFileSync('git', ['init', '--quiet', program])
  t.equal(await programVersion(program), 'gatehouse 1.2.3', 'a repository without commits')
  const id = commit(program)
  t.equal(await programVersion(program), `gatehouse 1.2.3 (${id})`)
  await symlink(program, join(folder, 'link'))
  t.equal(await programVersion(`${join(folder, 'link')}/`), `gatehouse 1.2.3 (${id})`)
})

t.test('the commit of a repository that surrounds the folder is not shown', async (t) => {
  const folder = await temporaryFolder(t)
  await aPackage(join(folder, 'vendor/gatehouse'))
  commit(folder)
  t.equal(await programVersion(join(folder, 'vendor/gatehouse')), 'gatehouse 1.2.3')
})

t.test('the default is the version of the running package', async (t) => {
  t.match(await programVersion(), /^gatehouse \d+\.\d+\.\d+(?: \([0-9a-f]{12}\))?$/)
})
