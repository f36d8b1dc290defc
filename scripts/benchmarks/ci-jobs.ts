/** Kinds of jobs of CI runners: the workspace that each begins with, and its git commands. */

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { runGitAsUser } from './user-git.js'

/** Commit that a job checks out. */
export interface Target {
  readonly branch: string
  readonly oid: string
}

export interface JobKind {
  readonly label: string
  /** Share of the jobs, in percent. */
  readonly percent: number
  /** Workspace of the job: a new and empty one, or one of those that runners keep. */
  readonly workspace: 'new' | 'complete' | 'shallow'
  /** True for a job that checks out a commit of an earlier push. */
  readonly isRerun?: boolean
  /** Commands of git; only those that contact the server are measured. */
  readonly commands: (target: Target, url: string) => ReadonlyArray<readonly string[]>
}

const FETCH = ['fetch', '--quiet', '--no-tags'] as const

const tracking = (branch: string) => `refs/remotes/origin/${branch}`
const init = (url: string) =>
  [
    ['init', '--quiet'],
    ['remote', 'add', 'origin', url],
  ] as const
const fetchTip = ({ branch, oid }: Target) =>
  [...FETCH, '--depth=1', 'origin', `+${oid}:${tracking(branch)}`] as const
const checkout = ({ branch }: Target) =>
  ['checkout', '--quiet', '--force', '-B', branch, tracking(branch)] as const
const clone = ({ branch }: Target, url: string, ...args: readonly string[]) =>
  ['clone', '--quiet', ...args, `--branch=${branch}`, url, '.'] as const

export const JOB_KINDS: readonly JobKind[] = [
  {
    label: 'new workspace, depth 1, as actions/checkout',
    percent: 36,
    workspace: 'new',
    commands: (target, url) => [...init(url), fetchTip(target), checkout(target)],
  },
  {
    label: 'new workspace, depth 20, as GitLab runner',
    percent: 16,
    workspace: 'new',
    commands(target, url) {
      const { branch, oid } = target
      const refs = [`+${oid}:refs/pipelines/1`, `+refs/heads/${branch}:${tracking(branch)}`]
      return [...init(url), [...FETCH, '--depth=20', 'origin', ...refs], checkout(target)]
    },
  },
  {
    label: 'kept workspace, complete',
    percent: 22,
    workspace: 'complete',
    commands(target) {
      const { branch } = target
      const ref = `+refs/heads/${branch}:${tracking(branch)}`
      return [[...FETCH, 'origin', ref], checkout(target)]
    },
  },
  {
    label: 'kept workspace, depth 1',
    percent: 14,
    workspace: 'shallow',
    commands: (target) => [fetchTip(target), checkout(target)],
  },
  {
    label: 'clone of blob:none with checkout',
    percent: 5,
    workspace: 'new',
    commands: (target, url) => [clone(target, url, '--filter=blob:none')],
  },
  {
    label: 'clone, complete',
    percent: 2,
    workspace: 'new',
    commands: (target, url) => [clone(target, url)],
  },
  {
    label: 're-run of an older commit by id, depth 1',
    percent: 5,
    workspace: 'new',
    isRerun: true,
    commands: (target, url) => [...init(url), fetchTip(target), checkout(target)],
  },
]

export interface JobOptions {
  readonly target: Target
  readonly url: string
  /** Kept workspace; absent for a new one, which is removed afterwards. */
  readonly workspace: string | undefined
  /** Folder for new workspaces. */
  readonly folder: string
  readonly signal: AbortSignal
}

/**
 * Runs a job and returns the duration of its commands that contact the server, in ms. Throws if a
 * command fails or if the workspace is not at the commit afterwards.
 */
export async function runJob(kind: JobKind, options: JobOptions): Promise<number> {
  const { target, url, workspace, folder, signal } = options
  const cwd = workspace ?? (await mkdtemp(join(folder, 'job-')))
  let ms = 0
  for (const command of kind.commands(target, url)) {
    const startedAt = performance.now()
    await runGitAsUser(command, { cwd, signal })
    if (CONTACTS_SERVER.has(command[0] ?? '')) ms += performance.now() - startedAt
  }
  const head = (await runGitAsUser(['rev-parse', 'HEAD'], { cwd, signal })).trim()
  if (head !== target.oid) {
    throw new Error(`${kind.label}: the workspace is at ${head}, not at ${target.oid} of ${url}`)
  }
  if (workspace === undefined) await rm(cwd, { recursive: true })
  return ms
}

const CONTACTS_SERVER: ReadonlySet<string> = new Set(['fetch', 'clone'])
