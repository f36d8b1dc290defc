/** Fetches the repositories of actions from the server, once for each ref in a job. */

import { mkdir } from 'node:fs/promises'
import { MIRROR_ADVICE, type SitePlace } from './action-place.js'
import { gitEnvironment } from './git-access.js'
import { JobFault } from './job-fault.js'
import { runProgram } from './run-program.js'
import type { StepRun } from './step-program.js'
import { leftMs } from './time-limit.js'

const FETCH_WITHIN_MS = 300_000

/** Returns the folder with the files of a repository at a ref. Throws JobFault. */
export async function fetchAction(
  { repository, ref }: SitePlace,
  { scope, env, signal, limit }: StepRun,
): Promise<string> {
  const { job } = scope
  const { instance, isolate, log, task } = job.input
  const name = `${repository}@${ref}`
  const fetched = job.actionFolders.get(name)
  if (fetched !== undefined) return fetched
  const token = String(task.context?.['token'] ?? '')
  // Earlier steps can make links of folders, so the new one is directly in that of the task.
  const cwd = job.nextFolder('action')
  await mkdir(cwd)
  log.add(`Fetching the action ${name}`)
  const git = async (...args: readonly string[]) => {
    const { exitCode } = await runProgram(['git', ...args], {
      cwd,
      environment: { ...job.outsideEnvironment(env), ...gitEnvironment(instance, token) },
      isolate,
      timeoutMs: Math.min(FETCH_WITHIN_MS, leftMs(limit)),
      signal,
      log,
    })
    return exitCode === 0
  }
  const url = `${instance}/${repository}.git`
  const isFetched =
    (await git('init', '--quiet')) &&
    (await git('fetch', '--quiet', '--no-tags', '--depth=1', '--', url, ref)) &&
    (await git('checkout', '--quiet', '--detach', 'FETCH_HEAD'))
  if (!isFetched) {
    const reason = `the action ${name} was not fetched from this server`
    throw new JobFault(`${reason}; if it is one of another server, ${MIRROR_ADVICE}`)
  }
  job.actionFolders.set(name, cwd)
  return cwd
}
