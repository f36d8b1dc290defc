/** All branches and tags of a repository on another server, fetched into one of ours. */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { type Git, runGit } from '../process/git.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { initRepository, repositorySizeKib, setDefaultBranch } from '../repository/repository.js'
import { callRemote, type Remote, type RemoteBounds, RemoteError } from './remote.js'

/** What the other side has. */
export interface RemoteSummary {
  /** Of an empty repository, which does not tell, the usual one. */
  readonly objectFormat: 'sha1' | 'sha256'
  /** Absent where there is no branch. */
  readonly defaultBranch: string | undefined
  /** No branch and no tag. */
  readonly isEmpty: boolean
}

/** Where a clone begins, when the other side has no branch yet. */
const DEFAULT_BRANCH = 'main'

/**
 * Makes a bare repository with all branches and tags of the other one: there whole and for good
 * when this settles, or not at all. Throws RemoteError.
 */
export async function cloneRepository(
  git: Git,
  path: string,
  source: RemoteSource,
): Promise<RemoteSummary & { readonly defaultBranch: string }> {
  const look = await inspectRemote(git, source)
  const { objectFormat, defaultBranch = DEFAULT_BRANCH } = look
  await initRepository(git, path, {
    defaultBranch,
    objectFormat,
    async fill(unfinished) {
      if (look.isEmpty) return
      await fetchAll(git, unfinished, source)
      await runGit(git, ['pack-refs', '--all'], { cwd: unfinished })
      const sizeBytes = (await repositorySizeKib(unfinished)) * 1_024
      if (sizeBytes > source.packBytesMax) throw tooLarge(source)
    },
  })
  return { ...look, defaultBranch }
}

/** A repository elsewhere, and what bounds the way to it. */
export interface RemoteSource extends RemoteBounds {
  readonly remote: Remote
  /** Whether the heads of pull requests are wanted besides; by default they are not. */
  readonly hasPulls?: boolean
}

/**
 * Brings a repository to what the other one has now: branches and tags that are gone there go here.
 * All references move, or none. On the disk when it settles. Throws RemoteError.
 */
export async function updateFromRemote(
  git: Git,
  path: string,
  source: RemoteSource,
): Promise<RemoteSummary> {
  const startedAtMs = Date.now()
  const look = await inspectRemote(git, source)
  await fetchAll(git, path, source)
  if (look.defaultBranch !== undefined) await setDefaultBranch(git, path, look.defaultBranch)
  await syncRepositoryNames(path, startedAtMs)
  return look
}

/** What the other side has, without fetching it. Throws RemoteError. */
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

/** As many bytes as the database keeps of the name of a default branch. */
const BRANCH_BYTES_MAX = 255

function branchOf(reference: string): string | undefined {
  const branch = /^refs\/heads\/(.+)$/.exec(reference)?.[1] ?? ''
  return isReferenceName(branch) && Buffer.byteLength(branch) <= BRANCH_BYTES_MAX
    ? branch
    : undefined
}

/** Branches and tags, and nothing else that the other side may show. */
const REFERENCES = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']
const PULL_REFERENCES = '+refs/pull/*/head:refs/pull/*/head'

/**
 * "To the root", as gitprotocol-v2(5) has it. Git's old way of fetching file by file, under which
 * nothing is checked, knows no depths and is refused by this.
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
  // The address of the source is kept by whoever asks for this, and nowhere in the repository.
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

/** How often the growing pack is looked at: git bounds what is pushed, and not what it fetches. */
const LOOK_EVERY_MS = 500

function watchPack(path: string, source: RemoteSource) {
  const enough = new AbortController()
  const look = async () => {
    if ((await unfinishedPackBytes(path)) > source.packBytesMax) enough.abort(tooLarge(source))
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS)
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
