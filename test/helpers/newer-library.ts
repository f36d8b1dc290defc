/** A repository that a newer git serves, and clients with the same git. */

import { join } from 'node:path'
import type { Test } from 'tap'
import { startGatewayWithUsers } from './gateway-with-users.js'
import { git, tryGit } from './git-client.js'
import { findNewerGit, pathOf } from './newer-git.js'
import { temporaryFolder } from './temporary.js'
import { incompressible, newWorkingCopy, writeHistory } from './working-copy.js'

/** Path of the repository `ada/library` in URLs. */
export const LIBRARY = '/ada/library.git'

/** Size of a file that makes the repository large enough for a bundle. */
const BIG_FILE_BYTES = 5_000_000

/** Starts the server for the test, with a repository that has some history. */
export async function startNewerLibrary(t: Test) {
  const newer = await findNewerGit()
  const environment = pathOf(newer)
  const gateway = await startGatewayWithUsers(t, { git: newer })
  const url = `http://127.0.0.1:${gateway.port}`
  const { plain } = await gateway.addToken(gateway.ada, 'all')
  await gateway.as('ada', 'POST', '/user/repos', { name: 'library' })
  const origin = await newWorkingCopy(t)
  await writeHistory(origin, { commits: 10, branches: 2, tags: 2 })
  await origin.commit('big.bin', incompressible(BIG_FILE_BYTES))
  await origin.git('tag', '-a', 'release', '-m', 'Release')
  const remote = `http://ada:${plain}@127.0.0.1:${gateway.port}${LIBRARY}`
  const push = (...args: readonly string[]) =>
    git(['push', '--quiet', remote, ...args], { cwd: origin.path, environment })
  await push('--mirror')
  const folder = await temporaryFolder(t)
  let clones = 0
  const cloneWith = async (setting: string, address: string, options: readonly string[]) => {
    clones += 1
    const path = join(folder, String(clones))
    const words = ['-c', setting, 'clone', ...options, address, path]
    return { path, ...(await tryGit(words, { cwd: folder, environment })) }
  }
  return {
    ...gateway,
    url,
    remote,
    origin,
    push,
    environment,
    address: `${url}${LIBRARY}`,
    clone: (address: string, ...options: readonly string[]) =>
      cloneWith('transfer.bundleURI=true', address, options),
    plainClone: (address: string, ...options: readonly string[]) =>
      cloneWith('transfer.bundleURI=false', address, options),
  }
}
