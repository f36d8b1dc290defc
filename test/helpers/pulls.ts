/** Gateway with a repository of ada and a working copy that writes its branches. */

import type { Test } from 'tap'
import type { GatewayOptions } from './gateway.js'
import { type GatewayWithUsers, type Name, startGatewayWithUsers } from './gateway-with-users.js'
import { git } from './git-client.js'
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
  /** Opens a pull request into main. Throws if it is refused. */
  open(head: string, body?: Fields): Promise<Fields>
}

/** Starts the gateway, with a first commit on main. */
export async function startGatewayWithPull(
  t: Test,
  options: GatewayOptions = {},
): Promise<GatewayWithPull> {
  const gateway = await startGatewayWithUsers(t, options)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  const bare = await gateway.pathOf('ada', 'r')
  const copy = await newWorkingCopy(t)
  // Branches are written without the index, so a first checkout must find no branch of HEAD.
  await copy.git('symbolic-ref', 'HEAD', 'refs/heads/none')
  const tips = new Map<string, string>()
  const of: GatewayWithPull['of'] = (name, method, path, body) =>
    gateway.as(name, method, `/repos/ada/r${path}`, body)
  const gatewayWithPull: GatewayWithPull = {
    ...gateway,
    copy,
    bare,
    of,
    async write(branch, file, content = `${file}\n`) {
      const start = tips.get(branch) ?? tips.get('main')
      const input = commitInput({ branch, file, content, start })
      const [tip] = await Promise.all([copy.path, bare].map((cwd) => importCommit(cwd, input)))
      if (tip === undefined) throw new Error('there is no commit')
      tips.set(branch, tip)
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

interface CommitInput {
  readonly branch: string
  readonly file: string
  readonly content: string
  readonly start: string | undefined
}

/** Returns the input of `git fast-import` for a commit with the same id in each repository. */
function commitInput({ branch, file, content, start }: CommitInput): string {
  const message = `Write ${file}\n`
  return [
    `commit refs/heads/${branch}\nmark :1`,
    `committer Ada <ada@example.com> ${Math.floor(Date.now() / 1_000)} +0000`,
    `data ${Buffer.byteLength(message)}\n${message}`,
    ...(start === undefined ? [] : [`from ${start}`]),
    `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}`,
    'get-mark :1\n',
  ].join('\n')
}

/** Moves the branch to the commit, as a forced push does, and returns the commit. */
async function importCommit(cwd: string, input: string): Promise<string> {
  return await git(['fast-import', '--quiet', '--force'], { cwd, input })
}
