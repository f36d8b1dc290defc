/** Advertisements and pushes through git http-backend, within bounds, and what follows a push. */

import { callBackend } from '../../cgi/backend.js'
import type { PushAsking } from '../../cgi/push-question.js'
import type { ProcessEnd } from '../../cgi/run.js'
import type { Reply, Request } from '../../conf/http.js'
import { notePush } from '../actions/note-push.js'
import { openPushNote } from '../actions/push-notes.js'
import { openPushQuestion } from '../actions/push-questions.js'
import { clientOf } from '../auth/client.js'
import type { Grants } from '../auth/gate.js'
import type { Context } from '../context.js'
import { enterQueue } from '../packs/enter-queue.js'
import { isGzip, pathOf, refuseForeignBody } from './intake.js'

export interface GitService {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  readonly suffix: 'info/refs' | 'git-receive-pack'
  readonly grant: Grants['repository']
}

/**
 * The reply of git to this request, streamed. Throws `unavailable` or `throttled` when too many git
 * processes run, and `unsupported_media_type` for a body that is not this service's.
 */
export async function runService(
  context: Context,
  request: Request,
  wanted: GitService,
): Promise<Reply> {
  const { method } = request
  if (method === 'POST') refuseForeignBody(request, wanted.service)
  const gzip = isGzip(request)
  const { repository, user, who } = wanted.grant
  const path = pathOf(context, repository)
  const { signal } = request
  const { service } = wanted
  const client = clientOf(who, request)
  const leave = await enterQueue(context, { signal, service, repositoryPath: path, client })
  const isPush = wanted.suffix === 'git-receive-pack'
  let unmark: (() => Promise<void>) | undefined
  let asking: PushAsking | undefined
  try {
    const note = isPush ? await openPushNote(context, wanted.grant) : undefined
    asking = isPush
      ? await openPushQuestion(context, { repository, path, pusher: user })
      : undefined
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
        ...(note?.config ?? []),
        ...(asking?.config ?? []),
      ],
      variables: { ...note?.variables, ...asking?.variables },
      body: request.body,
      signal: request.signal,
      timeoutMs: context.settings.git.timeoutMs,
      onStarted: async (pid) => {
        if (isPush) unmark = await context.journal.record({ repositoryPath: path, pid })
      },
    })
    const noteEnd = async (end: ProcessEnd) => {
      const outcome = end.exitCode === 0 ? 'ok' : 'failed'
      context.metrics.countGitService({ service: wanted.service, outcome })
      if (!isPush) return
      if (outcome === 'failed') context.mender.pushWasCut()
      else await unmark?.()
      // What is in the repository may be told of, also where git did not end well.
      await note?.tell()
      if (outcome === 'ok') await notePush(context, repository, path)
    }
    answer.ended
      .then(noteEnd)
      .catch((error: unknown) => context.log.warn({ error, path }, 'a push was not noted'))
      .finally(() => asking?.close())
      .finally(leave)
    return { status: answer.status, headers: answer.headers, body: answer.body }
  } catch (error) {
    if (unmark !== undefined) context.mender.pushWasCut()
    leave()
    await asking?.close()
    throw error
  }
}

/** The few headers that git may know of, each by what it means and not by its name. */
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
