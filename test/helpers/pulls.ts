/** Gateway with a repository of ada and a working copy that writes its branches. */

import { join } from 'node:path'
import type { Test } from 'tap'
import type { GatewayOptions } from './gateway.js'
import { type GatewayWithUsers, type Name, startGatewayWithUsers } from './gateway-with-users.js'
import { moveBranch, writeBlob, writeCommit } from './loose-objects.js'
import type { Answer } from './requests.js'
import { newWorkingCopy, type WorkingCopy } from './working-copy.js'

export type Fields = Record<string, unknown>

export interface GatewayWithPull extends GatewayWithUsers {
  readonly copy: WorkingCopy
  /** Path of the bare repository `ada/r`. */
  readonly bare: string
  /** Sends an API request below `ada/r`: `of('ada', 'GET', '/pulls')`. */
  of(name: Name, method: string, path: string, body?: unknown): Promise<Answer>
  /** Commits a file to a branch, which starts at main if it is new, and pushes it to `ada/r`. */
  write(branch: string, file: string, content?: string): Promise<string>
  /**
   * Commits a file to a branch of a fork, on top of `parent` or of main. The working copy has the
   * commit too.
   */
  writeTo(fork: string, branch: string, input: ForkCommit): Promise<string>
  /** Opens a pull request into main. Throws if it is refused. */
  open(head: string, body?: Fields): Promise<Fields>
}

export interface ForkCommit {
  readonly file: string
  readonly content: string
  readonly parent?: string | undefined
}

/** Starts the gateway, with a first commit on main. */
export async function startGatewayWithPull(
  t: Test,
  options: GatewayOptions = {},
): Promise<GatewayWithPull> {
  return await addPullRepository(t, await startGatewayWithUsers(t, options))
}

/** Creates the repository `ada/r` of a gateway that has none, with a first commit on main. */
export async function addPullRepository(
  t: Test,
  gateway: GatewayWithUsers,
): Promise<GatewayWithPull> {
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  const bare = await gateway.pathOf('ada', 'r')
  const copy = await newWorkingCopy(t)
  // Branches are written without the index, so a first checkout must find no branch of HEAD.
  await copy.git('symbolic-ref', 'HEAD', 'refs/heads/none')
  const work = join(copy.path, '.git')
  const tips = new Map<string, string>()
  const trees = new Map<string | undefined, ReadonlyMap<string, string>>()
  const commit = async (folders: readonly string[], { file, content, parent }: ForkCommit) => {
    const files = new Map(trees.get(parent))
    files.set(file, await writeBlob(folders, content))
    const tip = await writeCommit(folders, { files, parent, message: `Write ${file}\n` })
    trees.set(tip, files)
    return tip
  }
  const of: GatewayWithPull['of'] = (name, method, path, body) =>
    gateway.as(name, method, `/repos/ada/r${path}`, body)
  const gatewayWithPull: GatewayWithPull = {
    ...gateway,
    copy,
    bare,
    of,
    async write(branch, file, content = `${file}\n`) {
      const parent = tips.get(branch) ?? tips.get('main')
      const tip = await commit([work, bare], { file, content, parent })
      await moveBranch([work, bare], branch, tip)
      tips.set(branch, tip)
      return tip
    },
    async writeTo(fork, branch, { parent = tips.get('main'), ...fields }) {
      const tip = await commit([work, fork], { ...fields, parent })
      await moveBranch([fork], branch, tip)
      return tip
    },
    async open(head, body = {}) {
      const sent = { title: `Bring ${head}`, head, base: 'main', ...body }
      const { status, text, json } = await of('ada', 'POST', '/pulls', sent)
      if (status !== 201) throw new Error(`${status} ${text}`)
      return json as Fields
    },
  }
  await gatewayWithPull.write('main', 'root')
  return gatewayWithPull
}
