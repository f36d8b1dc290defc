/** Repositories of actions for a stub of the server. */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary.js'

/** Files by their paths. */
type Files = Readonly<Record<string, string>>

/** Creates a bare repository OWNER/NAME with the tag `v1`. Returns the commit. */
export async function addActionRepository(
  t: Test,
  { repositories, name, files }: { repositories: string; name: string; files: Files },
): Promise<string> {
  const work = await temporaryFolder(t)
  const git = async (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    const { stdout } = await promisify(execFile)('git', [...identity, ...args], { cwd: work })
    return stdout.trim()
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(work, path)), { recursive: true })
    await writeFile(join(work, path), text)
  }
  await git('init', '-q', '-b', 'main')
  await git('add', '.')
  await git('commit', '-q', '-m', 'Add an action')
  await git('tag', 'v1')
  await git('commit', '-q', '--allow-empty', '-m', 'Change nothing')
  await git('clone', '-q', '--bare', work, join(repositories, `${name}.git`))
  return git('rev-parse', 'HEAD')
}
