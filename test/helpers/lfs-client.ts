/** The real git-lfs, isolated from the machine's configuration. */

import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type GitClientResult, tryGit } from './git-client.js'
import { temporaryFolder } from './temporary.js'
import { newWorkingCopy, type WorkingCopy, workingCopyAt } from './working-copy.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Configuration of `git lfs install`, which clones read before there is a repository. */
const FILTERS = {
  'filter.lfs.process': 'git-lfs filter-process',
  'filter.lfs.clean': 'git-lfs clean -- %f',
  'filter.lfs.smudge': 'git-lfs smudge -- %f',
  'filter.lfs.required': 'true',
}
const ENVIRONMENT = Object.fromEntries([
  ['GIT_CONFIG_COUNT', String(Object.keys(FILTERS).length)],
  ...Object.entries(FILTERS).flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]),
])

/** Clones with the filters of git-lfs; returns the result, and the working copy. */
export async function cloneLfs(
  t: Teardown,
  address: string,
  environment: Record<string, string> = {},
) {
  const folder = await temporaryFolder(t)
  const options = { cwd: folder, environment: { ...ENVIRONMENT, ...environment } }
  const result = await tryGit(['clone', '--quiet', address, 'clone'], options)
  return { ...result, copy: workingCopyAt(join(folder, 'clone')) }
}

/** Runs git with the filters of git-lfs. */
export function runLfs(
  copy: WorkingCopy,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<GitClientResult> {
  return copy.try(args, { environment: { ...ENVIRONMENT, ...environment } })
}

/**
 * Writes the filters and the hook of `git lfs install --local`, without the hooks that set the
 * permissions of files after each commit and checkout.
 */
export async function installLfs({ path }: WorkingCopy): Promise<void> {
  const filter = Object.entries(FILTERS).map(([key, value]) => {
    const name = key.slice('filter.lfs.'.length)
    return `\t${name} = ${value}\n`
  })
  await appendFile(join(path, '.git/config'), `[filter "lfs"]\n${filter.join('')}`)
  const hook = join(path, '.git/hooks/pre-push')
  await mkdir(dirname(hook), { recursive: true })
  await writeFile(hook, '#!/bin/sh\nexec git lfs pre-push "$@"\n', { mode: 0o755 })
}

/** Creates a working copy that pushes to an address, with `*.bin` in Git LFS. */
export async function lfsCopy(t: Teardown, address: string): Promise<WorkingCopy> {
  const copy = await newWorkingCopy(t)
  await copy.git('remote', 'add', 'origin', address)
  await installLfs(copy)
  // The line that `git lfs track '*.bin' --lockable` writes.
  const line = '*.bin filter=lfs diff=lfs merge=lfs -text lockable\n'
  await writeFile(join(copy.path, '.gitattributes'), line)
  await copy.git('add', '.gitattributes')
  return copy
}
