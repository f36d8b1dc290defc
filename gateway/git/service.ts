/** Advertisements and pushes, which git http-backend answers. */

import type { ProcessEnd } from '../../cgi/process/run.js'
import { callBackend } from '../../cgi/transfer/backend.js'
import { diskFailureOf } from '../../conf/disk-failure.js'
import type { Reply, Request } from '../../conf/http.js'
import { type OpenPush, openPush, type PushOutcome } from '../actions/code/open-push.js'
import type { Grants } from '../auth/authorize.js'
import { clientOf } from '../auth/client.js'
import { enterQueue } from '../packs/enter-queue.js'
import type { Context } from '../request/context.js'
import { requireStoredFolder } from '../request/missing-folder.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { isGzip, refuseForeignBody } from './intake.js'
import { peekPush } from './peek-push.js'
import { watchReport } from './push-report.js'
import { bringsPack, refusePush } from './refused-push.js'
import { appliedReply, applySmallPush, holdSmallPush } from './small-push.js'

export interface GitService {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  readonly suffix: 'info/refs' | 'git-receive-pack'
  readonly grant: Grants['repository']
}

/**
 * Runs git and returns its reply as a stream. Throws `unavailable` or `throttled` if too many git
 * processes run, and `unsupported_media_type` if the body's type is not that of the service.
 */
export async function runService(
  context: Context,
  request: Request,
  wanted: GitService,
): Promise<Reply> {
  if (request.method === 'POST') refuseForeignBody(request, wanted.service)
  requireStoredFolder(context, wanted.grant.repository)
  const gzip = isGzip(request)
  const isPush = wanted.suffix === 'git-receive-pack'
  const peeked = isPush && !gzip ? await peekPush(request.body) : undefined
  const { hasOneRef = false, change } = peeked ?? {}
  let body = peeked?.body ?? request.body
  const { repository, user, who } = wanted.grant
  const path = repositoryPathOf(context, repository)
  const { signal } = request
  const { service } = wanted
  const client = clientOf(who, request)
  const leave = await enterQueue(context, { signal, service, repositoryPath: path, client })
  let push: OpenPush | undefined
  const noteEnd = async (outcome: PushOutcome) => {
    context.metrics.countGitService({ service, outcome: outcome === 'failed' ? 'failed' : 'ok' })
    await push?.end(outcome)
  }
  const follow = (end: Promise<void>) =>
    end
      .catch((error: unknown) =>
        context.log.warn({ error, path }, 'the end of a git service was not recorded'),
      )
      .finally(() => push?.close())
  try {
    push = isPush
      ? await openPush(context, { repository, path, user, hasOneRef, change })
      : undefined
    if (push?.change !== undefined && peeked !== undefined) {
      const held = await holdSmallPush(context, request, peeked)
      body = held?.body ?? body
      if (held !== undefined && (await applySmallPush(context, { held, path, push, signal }))) {
        leave()
        void follow(noteEnd('applied'))
        return appliedReply(push.change.name)
      }
    }
    const answer = await callBackend(context.git, {
      ...headOf(request),
      service: wanted.service,
      suffix: wanted.suffix,
      gzip,
      repositoryPath: path,
      ...(user === undefined ? {} : { remoteUser: user.name }),
      remoteAddress: request.address,
      config: [
        ['receive.maxInputSize', String(context.settings.git.pushBytesMax)],
        ...(push?.config ?? []),
      ],
      variables: push?.variables,
      body,
      signal,
      timeoutMs: context.settings.git.timeoutMs,
      onStarted: push?.begin,
      onApplied: push?.settle,
    })
    const known = push?.change
    const watched = known === undefined ? undefined : watchReport(answer.body, known.name)
    const outcomeOf = async ({ exitCode }: ProcessEnd): Promise<PushOutcome> =>
      exitCode === 0 ? ((await watched?.result) ?? 'applied') : 'failed'
    // Frees the slot before the reply ends, so that the client's next request is not refused.
    void answer.ended.then(leave)
    void follow(answer.ended.then(outcomeOf).then(noteEnd))
    return { status: answer.status, headers: answer.headers, body: watched?.body ?? answer.body }
  } catch (error) {
    leave()
    await push?.end('failed')
    await push?.close()
    const diskFailure = diskFailureOf(error)
    if (diskFailure === undefined || !bringsPack(request)) throw error
    // The surface's refusal would read the request's body, of which a part was consumed already.
    context.disk.noteFailure(diskFailure)
    context.log.error({ path, error: diskFailure.cause ?? diskFailure }, diskFailure.message)
    return refusePush(diskFailure, { body })
  }
}

/** Returns the headers that git may see. No other header of the client is passed to git. */
function headOf(request: Request) {
  const { headers } = request
  const contentType = headers.get('content-type')
  const gitProtocol = headers.get('git-protocol')
  return {
    method: request.method === 'POST' ? ('POST' as const) : ('GET' as const),
    ...(contentType === undefined ? {} : { contentType }),
    ...(gitProtocol === undefined ? {} : { gitProtocol }),
  }
}
