/** Gateway in which ada's repository `r` has every kind of Git object and ref. */

import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { GatewayOptions } from './gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import type { Answer } from './requests.js'
import { newWorkingCopy, type WorkingCopy } from './working-copy.js'

export interface GatewayWithRepository extends GatewayWithUsers {
  readonly copy: WorkingCopy
  /** Path of the bare repository. */
  readonly folder: string
  /** Commits of main, oldest first. */
  readonly commits: readonly [first: string, second: string, third: string]
  /** Pushes refs of the working copy to the repository. */
  push(...references: readonly string[]): Promise<unknown>
  /** Sends an anonymous API request below ada's repository. */
  get(rest: string): Promise<Answer>
}

/**
 * Starts the gateway. The repository has the branches main and `feature/x`, the tags v1 (annotated)
 * and light, the head of pull request 7, and a hidden ref.
 */
export async function startGatewayWithRepository(
  t: Test,
  options: GatewayOptions = {},
): Promise<GatewayWithRepository> {
  const gateway = await startGatewayWithUsers(t, options)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  const folder = await gateway.pathOf('ada', 'r')
  const copy = await newWorkingCopy(t)
  const push = (...references: readonly string[]) =>
    copy.git('push', '--quiet', '--force', folder, ...references)
  const first = await copy.commit('README.md', '# r\n')
  await fill(copy, first)
  const second = await copy.git('rev-parse', 'HEAD')
  await copy.git('tag', '-m', 'The first', 'v1', first)
  await copy.git('tag', 'light', second)
  await copy.git('branch', 'feature/x', second)
  const third = await copy.commit('README.md', '# r\n\nmore\n')
  await copy.git('update-ref', 'refs/pull/7/head', third)
  await copy.git('update-ref', 'refs/hidden/x', third)
  await push('refs/heads/*', 'refs/tags/*', 'refs/pull/*', 'refs/hidden/*')
  return {
    ...gateway,
    copy,
    folder,
    push,
    commits: [first, second, third],
    get: (rest) => gateway.as('anyone', 'GET', `/repos/ada/r/${rest}`),
  }
}

async function fill({ path, git }: WorkingCopy, first: string): Promise<void> {
  await mkdir(join(path, 'src/deep'), { recursive: true })
  await writeFile(join(path, 'src/main.ts'), 'export {}\n')
  await writeFile(join(path, 'src/deep/ä b#.html'), '<script>alert(1)</script>')
  await writeFile(join(path, 'data.bin'), Buffer.from([0, 255, 1]))
  await chmod(join(path, 'src/main.ts'), 0o755)
  await symlink('src/main.ts', join(path, 'link'))
  const module = '[submodule "m"]\n\tpath = module\n\turl = https://example.com/m.git\n'
  await writeFile(join(path, '.gitmodules'), module)
  await git('add', '.')
  await git('update-index', '--add', '--cacheinfo', `160000,${first},module`)
  await git('commit', '--quiet', '-m', 'Fill\n\nwith everything')
}
