/** Calls of git to repositories on other servers. */

import { isIP } from 'node:net'
import { insufficientStorage, saysDiskIsFull } from '../../conf/disk-failure.js'
import type { Journal } from '../maintenance/journal.js'
import { firstLine, type Git, type GitSetting, gitEnvironment, startGit } from '../process/git.js'
import type { ProcessEnd } from '../process/run.js'

/** URL of a repository on another server. */
export interface Remote {
  /** An http or https URL without credentials, query or fragment. It is an argument of git. */
  readonly url: URL
  /** IP addresses of the host. Git connects to one of them without another DNS query. */
  readonly addresses: readonly string[]
  /** Value of the header `Authorization` of each request. */
  readonly authorization?: string | undefined
}

/** Limits of a call to a remote repository. */
export interface RemoteBounds {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Maximum time without a byte from the other server. */
  readonly idleMs: number
  /** Maximum size of one pack. */
  readonly packBytesMax: number
  /** Journal of the process group, so that crash recovery can end it. */
  readonly journal?: Journal | undefined
}

/** A call to a remote repository. */
export interface RemoteCall extends RemoteBounds {
  readonly args: readonly string[]
  /** Path of the repository that git works in; undefined for a call that needs none. */
  readonly path?: string
  /** True if the call writes nothing into that repository. */
  readonly isReadOnly?: true
  /** Ends the call; aborted with a RemoteError if a limit is exceeded. */
  readonly limitSignal?: AbortSignal
}

export type RemoteFault = 'authentication' | 'rate-limit' | 'failed'

/** Error of the other server; the message is shown to the user who entered the URL. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly fault: RemoteFault

  constructor(fault: RemoteFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** Returns true if git has the setting `http.curloptResolve`, which fixes the address of a host. */
export function canPinAddresses({ version: [major, minor] }: Git): boolean {
  return major > 2 || minor >= 37
}

/** Maximum size of the output: enough for some hundred thousand refs. */
const OUTPUT_BYTES_MAX = 67_108_864

/**
 * Runs git against a remote repository and returns its output. Throws RemoteError if the other
 * server fails or takes too long, and the reason of the signal if that was aborted.
 */
export async function callRemote(git: Git, remote: Remote, call: RemoteCall): Promise<Buffer> {
  const { args, path, isReadOnly: isUpkeep = false, signal, timeoutMs, journal } = call
  signal.throwIfAborted()
  const stops = [signal, ...(call.limitSignal === undefined ? [] : [call.limitSignal])]
  const running = await startGit(git, 'import', [git.file, ...args], {
    cwd: path ?? '/',
    environment: {
      ...gitEnvironment(git, { config: settingsOf(remote, call) }),
      // Without a repository, git must not use one that it finds in a parent folder.
      ...(path === undefined ? { GIT_DIR: '/dev/null' } : {}),
    },
    signal: AbortSignal.any(stops),
    timeoutMs,
  })
  running.input.end()
  const notes = path !== undefined && running.pid !== undefined
  const strike = notes
    ? await journal
        ?.record({ repositoryPath: path, pid: running.pid, isUpkeep })
        .catch((error: unknown) => {
          running.kill()
          throw error
        })
    : undefined
  const output = await collect(running.output)
  const end = await running.ended
  // If git was ended or the disk was full, its entry stays until crash recovery has removed its
  // stale files.
  if (end.exitCode !== undefined && !saysDiskIsFull(end.errorText)) await strike?.()
  signal.throwIfAborted()
  call.limitSignal?.throwIfAborted()
  if (output !== undefined && end.exitCode === 0) return output
  throw errorOf(end)
}

/** Reads the whole output; undefined if it is incomplete or too large. */
async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const kept: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > OUTPUT_BYTES_MAX) return undefined
      kept.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(kept)
}

/** Returns git's settings. They are passed in the environment, which other users cannot read. */
function settingsOf(remote: Remote, { idleMs }: RemoteBounds): readonly GitSetting[] {
  const { url, addresses, authorization } = remote
  const settings: GitSetting[] = [
    // The profile allows https only. ext::, file, git and ssh stay forbidden.
    ['protocol.http.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(Math.max(1, Math.ceil(idleMs / 1_000)))],
    ['pack.threads', '1'],
    // A source must not make git fetch bundles from other servers.
    ['transfer.bundleURI', 'false'],
  ]
  if (isIP(hostOf(url)) === 0) {
    settings.push(['http.curloptResolve', `${hostOf(url)}:${portOf(url)}:${pinsOf(addresses)}`])
  }
  if (authorization !== undefined) {
    settings.push(['http.extraHeader', `Authorization: ${authorization}`])
  }
  return settings
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

function pinsOf(addresses: readonly string[]): string {
  return addresses.map((address) => (isIP(address) === 6 ? `[${address}]` : address)).join()
}

/** Messages of git (LC_ALL=C) if the other server refuses the credentials. */
const WANTS_CREDENTIALS =
  /Authentication failed for|could not read (?:Username|Password) for|returned error: 40[13]\b/

function errorOf(end: ProcessEnd): Error {
  const first = firstLine(end.errorText)
  // A line that begins with `remote:` is about the disk of the other server.
  const isOurs = !first.startsWith('remote:')
  if (isOurs && saysDiskIsFull(first)) return insufficientStorage(new Error(first))
  if (end.timedOut) return new RemoteError('failed', 'the other server took too long')
  const complaint = complaintOf(end.errorText)
  if (WANTS_CREDENTIALS.test(complaint)) return new RemoteError('authentication', complaint)
  if (/returned error: 429\b/.test(complaint)) return new RemoteError('rate-limit', complaint)
  if (/returned error: 3\d\d\b/.test(complaint)) {
    const message = `the other server redirects, which is not followed: ${complaint}`
    return new RemoteError('failed', message)
  }
  if (/dumb http transport/.test(complaint)) {
    return new RemoteError('failed', 'the other server does not speak the smart protocol of Git')
  }
  return new RemoteError('failed', complaint || 'Git could not call the other server')
}

const COMPLAINT_CHARACTERS_MAX = 300

/**
 * Returns git's fatal error, or the first ref whose push is refused, as one line. Lines of the
 * other server come before it.
 */
function complaintOf(errorText: string): string {
  const fatal = /^(?:fatal: | ! \[).*$/m.exec(errorText)?.[0] ?? firstLine(errorText)
  return fatal
    .replace(/^(?:fatal: |error: | ! )/, '')
    .replace(/[^\u0020-\u007e]/g, '?')
    .slice(0, COMPLAINT_CHARACTERS_MAX)
}
