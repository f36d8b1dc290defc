/** Gateway with a repository of ada and a working copy that writes its branches. */

import type { Test } from 'tap'
import type { GatewayOptions } from './gateway.js'
import { type GatewayWithUsers, type Name, startGatewayWithUsers } from './gateway-with-users.js'
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
  const of: GatewayWithPull['of'] = (name, method, path, body) =>
    gateway.as(name, method, `/repos/ada/r${path}`, body)
  const gatewayWithPull: GatewayWithPull = {
    ...gateway,
    copy,
    bare,
    of,
    async write(branch, file, content) {
      const full = `refs/heads/${branch}`
      const known = await copy.try(['rev-parse', '--verify', '--quiet', full])
      const start = known.exitCode === 0 ? known.output : 'refs/heads/main'
      const isFirst = (await copy.try(['rev-parse', '--verify', '--quiet', start])).exitCode !== 0
      if (!isFirst) await copy.git('checkout', '--quiet', '--detach', start)
      const tip = await copy.commit(file, content)
      await copy.git('update-ref', full, tip)
      await copy.git('push', '--quiet', '--force', bare, `${tip}:${full}`)
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
