/**
 * Dispatch of a request: finds the route, authenticates, authorizes and runs the handler. The only
 * place that catches errors and converts them to replies.
 */

import { performance } from 'node:perf_hooks'
import { diskFailureOf } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply, type Request } from '../../conf/http.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { inTick } from '../../conf/lib/tick.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { ANONYMOUS, authenticate, type Identity } from '../auth/authenticate.js'
import { authorize } from '../auth/authorize.js'
import { identifySession, refuseForeignOrigin } from '../auth/session.js'
import { actAs, sudoNameOf } from '../auth/sudo.js'
import { withAudit } from './audit.js'
import { auditedAction } from './audited-routes.js'
import type { Context } from './context.js'
import type { LoopWatch } from './loop-watch.js'
import { missingFolder } from './missing-folder.js'
import type { AnyRoute, Call, Surface } from './route.js'
import { type Found, isRest, REST_SUFFIX, type RouteTable, surfaceOf } from './route-table.js'
import { storesData } from './stores-data.js'

export interface RouterOptions {
  readonly context: Context
  readonly table: RouteTable
  /** Returns the surface that refuses a request whose path has no route. */
  readonly surfaceOfUnknown: (request: Request) => Surface
  /** Answers requests whose path has no route; if undefined, they are not found. */
  readonly forward: ((request: Request) => Promise<Reply>) | undefined
  readonly watch: LoopWatch
}

/**
 * Returns a function that answers every request and never throws. Its reply is synchronous if
 * nothing has to be waited for.
 */
export function createRouter(options: RouterOptions): (request: Request) => Awaitable<Reply> {
  const { context, watch } = options
  return (request) => {
    const startedAt = performance.now()
    const found = options.table.find(
      request.method,
      localPath(context, request.path),
      request.query,
    )
    const surface = surfaceOf(found) ?? options.surfaceOfUnknown(request)
    const arrival = { request, found, surface }
    watch.begin(arrival)
    const answered = inTick(() => answer(options, arrival))
    if (answered instanceof Promise) watch.wait(arrival)
    return after(answered, (reply) => {
      watch.end(arrival)
      const seconds = (performance.now() - startedAt) / 1_000
      record(context, { request, reply, surface, seconds })
      return reply
    })
  }
}

interface Arrival {
  readonly request: Request
  readonly found: Found | undefined
  readonly surface: Surface
  /** Repository of the grant, after authorization. */
  repository?: Repository
}

function answer(options: RouterOptions, arrival: Arrival): Awaitable<Reply> {
  const { context } = options
  const catchIt = (thrown: unknown) => refuse(context, { ...arrival, thrown })
  try {
    const reply = dispatch(options, arrival)
    return reply instanceof Promise ? reply.catch(catchIt) : reply
  } catch (thrown) {
    return catchIt(thrown)
  }
}

function dispatch(options: RouterOptions, arrival: Arrival): Awaitable<Reply> {
  const { context } = options
  const { request, found, surface } = arrival
  if (found === undefined) {
    if (options.forward !== undefined) return options.forward(request)
    throw new Failure('not_found', 'not found')
  }
  if (!('route' in found)) {
    throw new Failure('method_not_allowed', `Allowed methods: ${found.allow.join(', ')}.`, {
      allow: found.allow,
    })
  }
  const { route } = found
  const { access, scopes } = route
  const { segments } = found
  const isPlain = !request.path.includes('%') && !route.path.endsWith(REST_SUFFIX)
  const params = isPlain ? segments : decodeSegments(segments)
  return after(access.kind === 'open' ? ANONYMOUS : callerOf(context, route, request), (who) =>
    after(
      authorize(context.db, {
        who,
        access,
        scopes,
        params,
        challenges: surface.challenges,
        anonymousBytesMax: context.settings.git.anonymousCloneBytesMax,
      }),
      (grant) => {
        if ('repository' in grant) arrival.repository = grant.repository
        return pass(context, route, { call: { request, params, grant }, who })
      },
    ),
  )
}

/** Returns the caller. Over the API, an administrator may act as another user; this is logged. */
function callerOf(
  context: Context,
  { surface, method }: AnyRoute,
  request: Request,
): Awaitable<Identity> {
  if (surface.authenticate !== undefined) return surface.authenticate(context, request)
  const isBrowsers = surface.sessions === 'alone'
  if (isBrowsers || (surface.sessions && !request.headers.has('authorization'))) {
    if (method !== 'GET') refuseForeignOrigin(request, context.settings)
    return request.headers.has('cookie') ? identifySession(context, request) : ANONYMOUS
  }
  const options = { passwordRefusal: surface.passwordRefusal?.(context.settings) }
  return after(authenticate(context, request, options), (who) => {
    const name = surface.name === 'api' ? sudoNameOf(request) : undefined
    if (name === undefined) return who
    return after(actAs(context.db, who, name), (acting) => {
      const admin = who.kind === 'user' ? who.user.name : undefined
      context.log.info(
        { event: 'sudo', requestId: request.id, admin, as: name },
        'an admin acts as a user',
      )
      return acting
    })
  })
}

/**
 * Runs the handler, unless the route stores data and the disk is full. The cast is safe because
 * `authorize` returns a grant of the kind that the route's `access` has.
 */
function pass(context: Context, route: AnyRoute, { call, who }: Passed): Awaitable<Reply> {
  const handle = route.handle as (context: Context, call: Call) => Awaitable<Reply>
  const run = () => {
    const action = actionOf(route)
    if (action === undefined) return handle(context, call)
    return withAudit(context, { action, who, call }, (call) => handle(context, call))
  }
  if (!storesData(route)) return run()
  return after(context.disk.refuseWrites(), run)
}

interface Passed {
  readonly call: Call
  readonly who: Identity
}

const ACTIONS = new WeakMap<AnyRoute, string | undefined>()

/** Returns the audited action of a route, which is found out once. */
function actionOf(route: AnyRoute): string | undefined {
  if (route.method === 'GET') return undefined
  if (!ACTIONS.has(route)) ACTIONS.set(route, auditedAction(route))
  return ACTIONS.get(route)
}

function decodeSegments(segments: Readonly<Record<string, string>>): Record<string, string> {
  const decoded: Record<string, string> = {}
  for (const name in segments) {
    const sent = segments[name] ?? ''
    if (isRest(name)) decoded[name.slice(0, -'...'.length)] = sent
    else decoded[name] = decodePercent(sent)
  }
  return decoded
}

interface Refusal extends Arrival {
  readonly thrown: unknown
}

function refuse(context: Context, { request, surface, repository, thrown }: Refusal): Reply {
  const found = failureOf(thrown)
  // An internal error because of a missing folder has many forms.
  const missing = found.failure === 'internal' && repository && missingFolder(context, repository)
  const failure = missing || found
  context.disk.noteFailure(failure)
  if (failure.status >= 500 && !request.signal.aborted) {
    const { id, method, path } = request
    context.log.error(
      { requestId: id, method, path, error: failure.cause ?? failure },
      failure.message,
    )
  }
  const reply = surface.refuse(context, failure, request)
  const headers = [...(reply.headers ?? [])]
  if (failure.retryAfterSeconds !== undefined) {
    headers.push(['Retry-After', String(failure.retryAfterSeconds)])
  }
  if (failure.allow !== undefined) headers.push(['Allow', failure.allow.join(', ')])
  return { ...reply, headers }
}

/** Converts a thrown value to a failure. A write to a full disk is not an internal error. */
function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure && thrown.failure !== 'internal') return thrown
  const diskFailure = diskFailureOf(thrown)
  if (diskFailure !== undefined) return diskFailure
  if (thrown instanceof Failure) return thrown
  return new Failure('internal', 'internal server error', { cause: thrown })
}

/** Returns the path below the base URL's path, which a proxy may keep or remove. */
function localPath(context: Context, path: string): string {
  const { basePath } = context.settings.http
  const local =
    basePath !== '' && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
  // Clients that join a base URL with a slash at its end and a path with one at its start send two.
  return local.startsWith('//') ? local.slice(1) : local
}

interface Outcome {
  readonly request: Request
  readonly reply: Reply
  readonly surface: Surface
  readonly seconds: number
}

/**
 * Counts a request and logs it: at level debug if it is a successful read or a ref advertisement,
 * which are many, else at info.
 */
function record(context: Context, { request, reply, surface, seconds }: Outcome): void {
  const { method } = request
  const { status } = reply
  context.metrics.countRequest({ door: surface.name, method, status }, seconds)
  const isPlainRead = surface.name !== 'git' && (method === 'GET' || method === 'HEAD')
  const level = status < 400 && (reply.isRoutine ?? isPlainRead) ? 'debug' : 'info'
  if (!context.log.isLevelEnabled(level)) return
  const { id, path, address } = request
  const durationMs = Math.round(seconds * 1_000)
  context.log[level]({ requestId: id, method, path, status, address, durationMs }, 'request')
}
