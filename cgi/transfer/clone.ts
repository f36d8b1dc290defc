/** Clones and updates from repositories on other servers: all branches and tags. */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { type Git, runGit } from '../process/git.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { initRepository, repositorySizeKib, setDefaultBranch } from '../repository/repository.js'
import { callRemote, type Remote, type RemoteBounds, RemoteError } from './remote.js'

/** Summary of a remote repository. */
export interface RemoteSummary {
  /** `sha1` for an empty repository, because it does not announce its format. */
  readonly objectFormat: 'sha1' | 'sha256'
  /** Undefined if there is no branch. */
  readonly defaultBranch: string | undefined
  /** True if there is no branch and no tag. */
  readonly isEmpty: boolean
}

/** Default branch of the clone of a repository without branches. */
const DEFAULT_BRANCH = 'main'

/**
 * Creates a bare repository with all branches and tags of the remote one. It exists only if it is
 * complete and flushed to disk. Throws RemoteError.
 */
export async function cloneRepository(
  git: Git,
  path: string,
  source: RemoteSource,
): Promise<RemoteSummary & { readonly defaultBranch: string }> {
  const summary = await inspectRemote(git, source)
  const { objectFormat, defaultBranch = DEFAULT_BRANCH } = summary
  await initRepository(git, path, {
    defaultBranch,
    objectFormat,
    marker: source.marker,
    async fill(unfinished) {
      if (summary.isEmpty) return
      await fetchAll(git, unfinished, source)
      await runGit(git, ['pack-refs', '--all'], { cwd: unfinished })
      const sizeBytes = (await repositorySizeKib(unfinished)) * 1_024
      if (sizeBytes > source.packBytesMax) throw tooLarge(source)
    },
  })
  return { ...summary, defaultBranch }
}

/** A remote repository and the limits of calls to it. */
export interface RemoteSource extends RemoteBounds {
  readonly remote: Remote
  /** True to fetch the heads of pull requests too; by default they are not fetched. */
  readonly hasPulls?: boolean
  /** Content of the marker of a clone (`marker.ts`). */
  readonly marker?: string
}

/**
 * Updates a repository to the refs of the remote one, and removes branches and tags that the remote
 * has deleted. Changes all refs or none, and flushes them to disk. Throws RemoteError.
 */
export async function updateFromRemote(
  git: Git,
  path: string,
  source: RemoteSource,
): Promise<RemoteSummary> {
  const startedAtMs = Date.now()
  const summary = await inspectRemote(git, source)
  await fetchAll(git, path, source)
  if (summary.defaultBranch !== undefined) await setDefaultBranch(git, path, summary.defaultBranch)
  await syncRepositoryNames(path, startedAtMs)
  return summary
}

/** Lists the refs of the remote repository and summarizes them. Throws RemoteError. */
export async function inspectRemote(git: Git, source: RemoteSource): Promise<RemoteSummary> {
  const args = ['ls-remote', '--symref', '--quiet', '--end-of-options', source.remote.url.href]
  const timeoutMs = Math.min(source.timeoutMs, source.idleMs)
  const listed = await callRemote(git, source.remote, { ...source, args, timeoutMs })
  return lookOf(listed.toString())
}

function lookOf(listed: string): RemoteSummary {
  const lines = listed.split('\n').map((line) => line.split('\t'))
  const branches: string[] = []
  let head: string | undefined
  let isEmpty = true
  let idDigits = 40
  for (const [value = '', name = ''] of lines) {
    if (name === 'HEAD' && value.startsWith('ref: ')) head = branchOf(value.slice('ref: '.length))
    if (!/^refs\/(?:heads|tags)\//.test(name)) continue
    isEmpty = false
    idDigits = value.length
    const branch = branchOf(name)
    if (branch !== undefined) branches.push(branch)
  }
  const wanted = [head, DEFAULT_BRANCH, 'master'].find(
    (name) => name !== undefined && branches.includes(name),
  )
  return {
    objectFormat: idDigits === 64 ? 'sha256' : 'sha1',
    defaultBranch: wanted ?? branches[0],
    isEmpty,
  }
}

/** Maximum length of the name of a default branch in the database. */
const BRANCH_BYTES_MAX = 255

function branchOf(reference: string): string | undefined {
  const branch = /^refs\/heads\/(.+)$/.exec(reference)?.[1] ?? ''
  return isReferenceName(branch) && Buffer.byteLength(branch) <= BRANCH_BYTES_MAX
    ? branch
    : undefined
}

/** Refspecs of branches and tags. Other refs of the remote are not fetched. */
const REFERENCES = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']
const PULL_REFERENCES = '+refs/pull/*/head:refs/pull/*/head'

/**
 * Depth that means the complete history (gitprotocol-v2(5)). With a depth, git refuses the dumb
 * HTTP protocol, under which it would not check objects.
 */
const WHOLE_DEPTH = '--depth=2147483647'

const FETCH = [
  'fetch',
  '--quiet',
  '--atomic',
  '--prune',
  '--force',
  '--no-tags',
  WHOLE_DEPTH,
  // FETCH_HEAD would contain the URL of the source. The caller stores that.
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
]

async function fetchAll(git: Git, path: string, source: RemoteSource): Promise<void> {
  const watch = watchPack(path, source)
  const references = source.hasPulls === true ? [...REFERENCES, PULL_REFERENCES] : REFERENCES
  const args = [...FETCH, '--end-of-options', source.remote.url.href, ...references]
  try {
    await callRemote(git, source.remote, { ...source, path, args, limitSignal: watch.enough })
  } finally {
    watch.end()
  }
  if ((await unlessMissing(stat(join(path, 'shallow')))) !== undefined) {
    throw new RemoteError('failed', 'the source is a shallow clone and lacks part of its history')
  }
}

/** Interval at which the size of the growing pack is checked: git has no limit for fetches. */
const CHECK_INTERVAL_MS = 500

function watchPack(path: string, source: RemoteSource) {
  const enough = new AbortController()
  const checkSize = async () => {
    if ((await unfinishedPackBytes(path)) > source.packBytesMax) enough.abort(tooLarge(source))
  }
  const timer = setInterval(() => void checkSize().catch(() => {}), CHECK_INTERVAL_MS)
  return { enough: enough.signal, end: () => clearInterval(timer) }
}

async function unfinishedPackBytes(path: string): Promise<number> {
  const folder = join(path, 'objects', 'pack')
  let bytes = 0
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    if (!name.startsWith('tmp_')) continue
    bytes += (await unlessMissing(stat(join(folder, name))))?.size ?? 0
  }
  return bytes
}

function tooLarge({ packBytesMax }: RemoteBounds): RemoteError {
  return new RemoteError('failed', `the source has more than ${packBytesMax} bytes`)
}
