/** `actions/checkout`, which is built into the runner, so that a site needs no copy of it. */

import { resolve } from 'node:path'
import { gitEnvironment, isPlainRef } from './git-access.js'
import type { Isolate } from './isolation.js'
import { JobFault } from './job-fault.js'
import { runProgram } from './run-program.js'
import type { TaskLog } from './task-log.js'

/** Input of a checkout. */
export interface CheckoutInput {
  /** Values of `with`. */
  readonly inputs: Readonly<Record<string, string>>
  readonly instance: string
  /** Repository, commit and token of the task. */
  readonly repository: string
  readonly sha: string
  readonly token: string
  readonly workspace: string
  readonly environment: Readonly<Record<string, string>>
  readonly isolate: Isolate
  readonly log: TaskLog
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Returns true for `actions/checkout` in any version, on any server. */
export function isCheckout(uses: string): boolean {
  return /^(?:https?:\/\/[^/\s]+\/)?actions\/checkout@\S+$/.test(uses)
}

const KNOWN_INPUTS = ['repository', 'ref', 'path', 'fetch-depth', 'token', 'submodules']

/** Checks a repository out. Returns false if git has failed. Throws JobFault for wrong input. */
export async function checkOut(input: CheckoutInput): Promise<boolean> {
  const { inputs, workspace, isolate, log, signal, timeoutMs } = input
  const { folder, url, target, depth } = parseInputs(input)
  log.add('actions/checkout is built into this runner; its code is not downloaded.')
  for (const name of Object.keys(inputs).filter((name) => !KNOWN_INPUTS.includes(name))) {
    log.add(`The input '${name}' of actions/checkout is ignored by this runner.`)
  }
  const access = gitEnvironment(input.instance, inputs['token'] || input.token)
  const environment = { ...input.environment, ...access }
  const options = { cwd: workspace, environment, isolate, timeoutMs, signal, log }
  const run = async (...command: readonly string[]) =>
    (await runProgram(command, options)).exitCode === 0
  const git = (...args: readonly string[]) => run('git', '-C', folder, ...args)
  const shallow = depth === 0 ? [] : [`--depth=${depth}`]
  const branches = '+refs/heads/*:refs/remotes/origin/*'
  const tags = '+refs/tags/*:refs/tags/*'
  const isInitialized =
    // A step may have made a link of a parent folder, so the runner itself creates no folder there.
    (await run('git', 'init', '--quiet', '--', folder)) &&
    (await git('config', 'remote.origin.url', url)) &&
    (await git('config', 'remote.origin.fetch', branches))
  if (!isInitialized) return false
  log.add(`Fetching ${target} of ${url}`)
  return (
    (depth !== 0 || (await git('fetch', '--quiet', '--', 'origin', branches, tags))) &&
    (await git('fetch', '--quiet', '--no-tags', ...shallow, '--', 'origin', target)) &&
    (await git('checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD')) &&
    (await git('log', '-1', '--format=%H %s'))
  )
}

interface Target {
  readonly folder: string
  readonly url: string
  /** Commit or ref to check out. */
  readonly target: string
  /** Number of commits; 0 means all. */
  readonly depth: number
}

function parseInputs({ inputs, instance, workspace, ...task }: CheckoutInput): Target {
  const repository = inputs['repository'] || task.repository
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new JobFault(`the repository '${repository}' is not OWNER/NAME`)
  }
  // The commit of the task belongs to the task's repository; of another, the default branch.
  const target = inputs['ref'] || (repository === task.repository ? task.sha : 'HEAD')
  if (!isPlainRef(target)) {
    throw new JobFault(`the ref '${target}' is malformed`)
  }
  const depth = inputs['fetch-depth'] || '1'
  if (!/^\d{1,9}$/.test(depth)) {
    throw new JobFault(`the fetch-depth '${depth}' is not a number; 0 means all commits`)
  }
  const submodules = inputs['submodules'] || 'false'
  if (submodules !== 'false') {
    throw new JobFault('submodules of actions/checkout are not supported by this runner yet')
  }
  const folder = resolve(workspace, inputs['path'] ?? '')
  if (folder !== workspace && !folder.startsWith(`${workspace}/`)) {
    throw new JobFault(`the path '${inputs['path']}' is outside the workspace`)
  }
  return { folder, url: `${instance}/${repository}.git`, target, depth: Number(depth) }
}
