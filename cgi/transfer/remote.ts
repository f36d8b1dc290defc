/** A repository of another server: how git calls it, and what became of the call. */

import { isIP } from 'node:net'
import { insufficientStorage, saysDiskIsFull } from '../../conf/disk-failure.js'
import type { Journal } from '../maintenance/journal.js'
import { firstLine, type Git, type GitSetting, gitEnvironment, startGit } from '../process/git.js'
import type { ProcessEnd } from '../process/run.js'

/** URL of a repository on another server. */
export interface Remote {
  /** Of http or https, without credentials, query or fragment: it stands among git's arguments. */
  readonly url: URL
  /** Of its host. Git connects to one of these and looks the name up no second time. */
  readonly addresses: readonly string[]
  /** The header `Authorization` of each request. */
  readonly authorization?: string | undefined
}

/** Limits of a call to a remote repository. */
export interface RemoteBounds {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Longest time without a byte from the other server. */
  readonly idleMs: number
  /** Bytes of one pack. */
  readonly packBytesMax: number
  /** Notes the process group, so that a gateway that is started later ends what a dead one left. */
  readonly journal?: Journal | undefined
}

/** One call to a remote repository. */
export interface RemoteCall extends RemoteBounds {
  readonly args: readonly string[]
  /** The repository that is written to; none for a call that only asks. */
  readonly path?: string
  /** Aborted with a RemoteError by whoever finds that enough is enough. */
  readonly limitSignal?: AbortSignal
}

export type RemoteFault = 'authentication' | 'rate-limit' | 'failed'

/** That the other side could not be had; the message is a sentence for the one who named it. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly fault: RemoteFault

  constructor(fault: RemoteFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** Tells whether this git takes the address of a host from a setting (`http.curloptResolve`). */
export function canPinAddresses({ version: [major, minor] }: Git): boolean {
  return major > 2 || minor >= 37
}

/** Enough for a list of some hundred thousand refs. */
const OUTPUT_BYTES_MAX = 67_108_864

/**
 * Runs git against a remote repository for its output. Throws RemoteError when the other side, or
 * time, is the cause, and the reason of the signal when that was aborted.
 */
export async function callRemote(git: Git, remote: Remote, call: RemoteCall): Promise<Buffer> {
  const { args, path, signal, timeoutMs, journal } = call
  signal.throwIfAborted()
  const stops = [signal, ...(call.limitSignal === undefined ? [] : [call.limitSignal])]
  const running = startGit(git, 'import', [git.file, ...args], {
    cwd: path ?? '/',
    environment: {
      ...gitEnvironment(git, { config: settingsOf(remote, call) }),
      // Without a repository, git must not take one for its own that it finds on its way up.
      ...(path === undefined ? { GIT_DIR: '/dev/null' } : {}),
    },
    signal: AbortSignal.any(stops),
    timeoutMs,
  })
  running.input.end()
  const notes = path !== undefined && running.pid !== undefined
  const strike = notes
    ? await journal?.record({ repositoryPath: path, pid: running.pid }).catch((error: unknown) => {
        running.kill()
        throw error
      })
    : undefined
  const output = await collect(running.output)
  const end = await running.ended
  // One that was ended stays noted until somebody has looked for what it left; so does one for
  // whose pack there was no room, since git leaves that behind.
  if (end.exitCode !== undefined && !saysDiskIsFull(end.errorText)) await strike?.()
  signal.throwIfAborted()
  call.limitSignal?.throwIfAborted()
  if (output !== undefined && end.exitCode === 0) return output
  throw errorOf(end)
}

/** Undefined where it broke off or never ends. */
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

/** Settings go by the environment, which other users of the machine cannot read. */
function settingsOf(remote: Remote, { idleMs }: RemoteBounds): readonly GitSetting[] {
  const { url, addresses, authorization } = remote
  const settings: GitSetting[] = [
    // Besides https, which the profile allows; ext::, file, git and ssh stay refused.
    ['protocol.http.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(Math.max(1, Math.ceil(idleMs / 1_000)))],
    ['pack.threads', '1'],
    // Each source decides on its own references alone: no bundle or pack of somewhere else.
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
  // The other side's own disk, or what it says of that, is no fault of this server.
  const isOurs = !first.startsWith('remote:')
  if (isOurs && saysDiskIsFull(first)) return insufficientStorage(new Error(first))
  if (end.timedOut) return new RemoteError('failed', 'the source took too long')
  const complaint = complaintOf(end.errorText)
  if (WANTS_CREDENTIALS.test(complaint)) return new RemoteError('authentication', complaint)
  if (/returned error: 429\b/.test(complaint)) return new RemoteError('rate-limit', complaint)
  if (/returned error: 3\d\d\b/.test(complaint)) {
    return new RemoteError('failed', `the source redirects, which is not followed: ${complaint}`)
  }
  if (/dumb http transport/.test(complaint)) {
    return new RemoteError('failed', 'the source does not speak the smart protocol of Git')
  }
  return new RemoteError('failed', complaint || 'Git could not read the source')
}

const COMPLAINT_CHARACTERS_MAX = 300

/** Git's own last word, on one line; what the other side says comes before it. */
function complaintOf(errorText: string): string {
  const fatal = /^fatal: .*$/m.exec(errorText)?.[0] ?? firstLine(errorText)
  return fatal
    .replace(/^(?:fatal|error): /, '')
    .replace(/[^\u0020-\u007e]/g, '?')
    .slice(0, COMPLAINT_CHARACTERS_MAX)
}
