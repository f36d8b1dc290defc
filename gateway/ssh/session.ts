/** Handling of one command over SSH, after sshd has verified the client's key. */

import { gitEnvironment } from '../../cgi/process/git.js'
import { limitedCommand } from '../../cgi/process/git-limits.js'
import { endProcessGroup } from '../../cgi/process/process-group.js'
import { syncRepositoryNames } from '../../cgi/repository/durable.js'
import { type GitService, protocolEnvironment } from '../../cgi/transfer/environment.js'
import { diskFailureOf } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'
import type { User } from '../../sql/accounts/users.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { type OpenPush, openPush } from '../actions/code/open-push.js'
import { createWiki, requireWiki } from '../actions/wiki/wiki-folder.js'
import { authenticateKey, recordKeyUse } from '../auth/authenticate-key.js'
import { clientOf } from '../auth/client.js'
import { enterQueue } from '../packs/enter-queue.js'
import type { Context } from '../request/context.js'
import { requireStoredFolder } from '../request/missing-folder.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { Channel } from './channel.js'
import { serveFetch } from './conversation.js'
import { decide, unreadable } from './decision.js'
import { type FetchEnd, INTERNAL_ERROR_MESSAGE, SSH_IDLE_MS } from './fetch-talk.js'
import { sendLfsTicket } from './lfs-authenticate.js'
import { serveStatefulFetch } from './stateful-fetch.js'

export interface SshCall {
  /** Fingerprint of the key that sshd has accepted. */
  readonly key: string
  /** SSH_ORIGINAL_COMMAND; empty for none. */
  readonly command: string
  readonly gitProtocol: string
  readonly address: string
}

const UNKNOWN_KEY = 'Gatehouse does not know this key any more.'
const OUT_OF_TIME = 'Gatehouse ended the connection because it took too long.'

/** Maximum time for the helper's immediate responses. */
const HELPER_MS = 10_000

/** Answers one command. Settles after its git process has ended and is logged. Never rejects. */
export async function runSession(context: Context, channel: Channel, call: SshCall): Promise<void> {
  try {
    const holder = await authenticateKey(context.db, call.key)
    if (holder === undefined) return refuse(context, channel, { ...call, sentence: UNKNOWN_KEY })
    recordKeyUse(context, holder)
    const { name } = holder
    const decision = await decide(context, holder, call.command)
    if (decision.kind === 'refusal') {
      if (decision.isRoutine) return channel.send('say', '1', decision.sentence)
      return refuse(context, channel, { ...call, name, sentence: decision.sentence })
    }
    if (decision.kind === 'greeting') return channel.send('say', '0', decision.sentence)
    if (decision.kind === 'lfs') {
      return await sendLfsTicket(context, channel, { holder, ...decision })
    }
    const client = clientOf(holder.who, call)
    const user = holder.who.kind === 'user' ? holder.who.user : undefined
    const run = { ...call, ...decision, name, user, client }
    if (run.service === 'git-receive-pack') await context.disk.refuseWrites()
    if (run.repository.isWiki) await openWiki(context, run)
    else requireStoredFolder(context, run.repository)
    const serve = run.service === 'git-upload-pack' ? CONVERSATIONS.get(run.gitProtocol) : undefined
    if (serve !== undefined) await converse(context, channel, { ...run, serve })
    else await runGit(context, channel, run)
  } catch (error) {
    // If the client left while it waited in the queue, the message is not sent.
    const failure = failureOf(error)
    if (failure !== undefined) context.disk.noteFailure(failure)
    if (failure !== error || failure?.cause !== undefined) {
      const cause = failure?.cause ?? error
      context.log.error({ error: cause, key: call.key }, 'a session over SSH failed')
    }
    channel.send('say', '1', failure?.message ?? INTERNAL_ERROR_MESSAGE)
  }
}

/**
 * Creates the folder of a wiki for a push. Throws `not_found` for a fetch if there is none, with
 * the message for a repository that the key may not read.
 */
async function openWiki(context: Context, { service, repository }: Run): Promise<void> {
  if (service === 'git-receive-pack') return await createWiki(context, repository)
  await requireWiki(context, repository, unreadable(`${repository.owner.name}/${repository.name}`))
}

/** Returns the failure to report to the client; undefined for an internal error. */
function failureOf(error: unknown): Failure | undefined {
  return error instanceof Failure ? error : diskFailureOf(error)
}

interface Refusal extends SshCall {
  readonly name?: string
  readonly sentence: string
}

/** Refuses a command. The form of the log line must match conf/fail2ban-gatehouse.conf. */
function refuse({ log }: Context, channel: Channel, refusal: Refusal): void {
  const { address, key, name, sentence } = refusal
  const command = refusal.command.slice(0, COMMAND_CHARACTERS_KEPT)
  log.warn({ event: 'ssh-refused', address, key, name, command, sentence }, 'refused over SSH')
  channel.send('say', '1', sentence)
}

const COMMAND_CHARACTERS_KEPT = 256

interface Run extends SshCall {
  readonly name: string
  /** Absent for a deploy key. */
  readonly user: User | undefined
  /** See `auth/client`. */
  readonly client: string
  readonly service: GitService
  readonly repository: Repository
}

/** Fetches that the gateway answers itself, by GIT_PROTOCOL; for other values, git is run. */
const CONVERSATIONS: ReadonlyMap<string, typeof serveFetch> = new Map([
  ['', serveStatefulFetch],
  ['version=0', serveStatefulFetch],
  ['version=1', serveStatefulFetch],
  ['version=2', serveFetch],
])

/** Runs a clone or fetch that the gateway answers itself. */
async function converse(
  context: Context,
  channel: Channel,
  run: Run & { readonly serve: typeof serveFetch },
): Promise<void> {
  const { repository, client, address, key, command } = run
  const startedAtMs = Date.now()
  const refusal = async () => {
    const holder = await authenticateKey(context.db, key)
    if (holder === undefined) return UNKNOWN_KEY
    const decision = await decide(context, holder, command)
    return decision.kind === 'refusal' ? decision.sentence : undefined
  }
  const end = await run.serve(context, channel, {
    repositoryPath: repositoryPathOf(context, repository),
    repositoryBytes: repository.sizeKib * 1_024,
    client,
    address,
    gitProtocol: run.gitProtocol,
    refusal,
  })
  logSession(context, run, { ...end, seconds: (Date.now() - startedAtMs) / 1_000 })
}

async function runGit(context: Context, channel: Channel, run: Run): Promise<void> {
  const { service, repository, client } = run
  const path = repositoryPathOf(context, repository)
  const { signal } = channel
  const leave = await enterQueue(context, { signal, service, repositoryPath: path, client })
  const startedAtMs = Date.now()
  try {
    const end = await followGit(context, channel, { ...run, path, startedAtMs })
    const outcome = end.exitCode === 0 ? 'ok' : 'failed'
    context.metrics.countGitService({ service, outcome })
    logSession(context, run, { ...end, seconds: (Date.now() - startedAtMs) / 1_000 })
  } finally {
    leave()
  }
}

const NOTHING: FetchEnd = { exitCode: undefined, receivedBytes: 0, sentBytes: 0 }

interface Following extends Run {
  readonly path: string
  readonly startedAtMs: number
}

async function followGit(context: Context, channel: Channel, run: Following): Promise<FetchEnd> {
  if (run.service === 'git-receive-pack') return followPush(context, channel, run)
  channel.send('run', 'fetch', ...commandOf(context, run))
  return awaitEnd(context, channel)
}

async function followPush(context: Context, channel: Channel, run: Following): Promise<FetchEnd> {
  const push = await openPush(context, run)
  try {
    return await followOpenPush(context, channel, { ...run, push })
  } finally {
    await push.close()
  }
}

/** Runs a push: it is recorded before the client may begin, and durable before the client's end. */
async function followOpenPush(
  context: Context,
  channel: Channel,
  run: Following & { readonly push: OpenPush },
): Promise<FetchEnd> {
  const { path, startedAtMs, push } = run
  channel.send('run', 'push', ...commandOf(context, run, push))
  const started = await channel.next(HELPER_MS)
  const pid = Number(started?.[1])
  if (started?.[0] !== 'started' || !Number.isSafeInteger(pid) || pid < 2) return NOTHING
  await push.begin(pid).catch((error: unknown) => {
    // Git runs already, and the helper waits for `go` or for `end` with a reason.
    channel.send('end', failureOf(error)?.message ?? INTERNAL_ERROR_MESSAGE)
    throw error
  })
  channel.send('go')
  const end = await awaitEnd(context, channel)
  if (end.exitCode === 0) {
    await syncRepositoryNames(path, startedAtMs)
    await push.settle()
    channel.send('done')
    await push.end('applied')
    return end
  }
  // If the helper was killed, its git processes may still run.
  if (end.exitCode === undefined) await endProcessGroup(pid)
  channel.send('done')
  await push.end('failed')
  return end
}

/**
 * Returns the fields of the message `run` after the kind of work: idle seconds, working folder,
 * program, number of arguments, arguments, environment.
 */
function commandOf(
  { git, settings }: Context,
  run: Following,
  push: Pick<OpenPush, 'config' | 'variables'> = { config: [], variables: {} },
): readonly string[] {
  const work = run.service === 'git-receive-pack' ? 'push' : 'fetch'
  const service = run.service.replace('git-', '')
  const words = limitedCommand(git, work, [git.file, service, '.'])
  const environment = {
    ...gitEnvironment(git, {
      config: [['receive.maxInputSize', String(settings.git.pushBytesMax)], ...push.config],
    }),
    ...push.variables,
    ...protocolEnvironment(run.gitProtocol),
  }
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const idle = String(SSH_IDLE_MS / 1_000)
  return [idle, run.path, words[0], String(words.length), ...words, ...variables]
}

async function awaitEnd({ settings }: Context, channel: Channel): Promise<FetchEnd> {
  let end = await channel.next(settings.git.timeoutMs)
  if (end === undefined && !channel.signal.aborted) {
    channel.send('end', OUT_OF_TIME)
    end = await channel.next(HELPER_MS)
  }
  const [outcome, exitCode, receivedBytes, sentBytes] = end ?? []
  return {
    exitCode: outcome === 'ended' ? Number(exitCode) : undefined,
    receivedBytes: Number(receivedBytes ?? 0),
    sentBytes: Number(sentBytes ?? 0),
  }
}

function logSession(
  { log }: Context,
  { address, key, name, service, repository }: Run,
  { exitCode, ...counts }: FetchEnd & { readonly seconds: number },
): void {
  const fullName = `${repository.owner.name}/${repository.name}`
  const outcome = exitCode === undefined ? 'cut' : exitCode === 0 ? 'ok' : `exit ${exitCode}`
  const what = { verb: service, repository: fullName, outcome, ...counts }
  log.info({ event: 'ssh-session', address, key, name, ...what }, 'a session over SSH ended')
}
