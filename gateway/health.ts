/** Routes of health checks and metrics. */

import { timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import { findInstanceSecret } from '../conf/instance-secret.js'
import { ping } from '../sql/database/database.js'
import { jsonReply } from './api/surface.js'
import { SITE_HEADER } from './doctor/site-identity.js'
import { probePath, SENT_BY_GATEWAY } from './http/sendfile.js'
import type { Context } from './request/context.js'
import type { AnyRoute, Route, Surface } from './request/route.js'

const SYSTEM_SURFACE: Surface = {
  name: 'system',
  challenges: false,
  refuse: (_context, failure) => textReply(failure.status, `${failure.message}\n`),
}

interface Check {
  readonly name: string
  readonly run: (context: Context) => Promise<void>
}

const CHECKS: readonly Check[] = [
  { name: 'database:ping', run: (context) => ping(context.db) },
  {
    name: 'data:writable',
    run: (context) => access(context.settings.data.dir, constants.R_OK | constants.W_OK),
  },
  {
    name: 'data:space',
    async run({ disk }) {
      const { refusal } = await disk.state()
      if (refusal !== undefined) throw new Error(refusal)
    },
  },
]

/** Routes of the surface `system`. */
export const HEALTH_ROUTES: readonly AnyRoute[] = [
  systemRoute('/livez', async ({ settings }) => {
    const secret = await findInstanceSecret(settings.data.dir).catch(() => undefined)
    const site = secret === undefined ? [] : [[SITE_HEADER, secret.fingerprint] as const]
    return textReply(200, 'ok\n', site)
  }),
  systemRoute('/readyz', async (context) => {
    const failed = (await runChecks(context)).filter((check) => check.output !== undefined)
    if (failed.length === 0) return textReply(200, 'ok\n')
    return textReply(503, failed.map((check) => `${check.name}: failing\n`).join(''))
  }),
  systemRoute('/sendfilez', async ({ settings }) => {
    const path = probePath(settings.data.dir)
    const body = Buffer.from(SENT_BY_GATEWAY)
    return { ...textReply(200, body), bodyFile: () => (existsSync(path) ? path : undefined) }
  }),
  systemRoute('/api/healthz', healthz),
  systemRoute('/metrics', async (context, request) => {
    refuseMetricsCaller(context, request)
    return {
      status: 200,
      headers: [['Content-Type', 'text/plain; version=0.0.4; charset=utf-8']],
      body: await context.collectMetrics(),
    }
  }),
]

function systemRoute(
  path: string,
  answer: (context: Context, request: Request) => Promise<Reply>,
): Route<'open'> {
  return {
    surface: SYSTEM_SURFACE,
    method: 'GET',
    path,
    access: { kind: 'open' },
    scopes: [],
    handle: (context, call) => answer(context, call.request),
  }
}

function textReply(
  status: number,
  body: string | Uint8Array,
  headers: NonNullable<Reply['headers']> = [],
): Reply {
  const type = ['Content-Type', 'text/plain; charset=utf-8'] as const
  return { status, headers: [type, ...headers], body }
}

/** Answers in the form of Gitea's health check, which its Helm charts and probes read. */
async function healthz(context: Context): Promise<Reply> {
  const checks = await runChecks(context)
  const isPassing = checks.every((check) => check.output === undefined)
  return jsonReply(isPassing ? 200 : 503, {
    status: isPassing ? 'pass' : 'fail',
    description: 'Gatehouse',
    checks: Object.fromEntries(
      checks.map(({ name, output, time }) => [
        name,
        [{ status: output === undefined ? 'pass' : 'fail', time, ...(output && { output }) }],
      ]),
    ),
  })
}

interface CheckResult {
  readonly name: string
  readonly time: string
  /** Public text about a failure; undefined if the check passed. */
  readonly output: string | undefined
}

async function runChecks(context: Context): Promise<readonly CheckResult[]> {
  return Promise.all(
    CHECKS.map(async ({ name, run }) => {
      const time = new Date().toISOString()
      try {
        await run(context)
        return { name, time, output: undefined }
      } catch (error) {
        context.log.warn({ error, check: name }, 'a health check failed')
        return { name, time, output: 'not available' }
      }
    }),
  )
}

function refuseMetricsCaller(context: Context, request: Request): void {
  const { allow, token } = context.settings.metrics
  if (allow.has(request.address)) return
  const given = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (token !== undefined && given !== undefined && isSameText(given, token)) return
  throw new Failure(
    'forbidden',
    'Metrics need an address in metrics.allow or the header "Authorization: Bearer METRICS_TOKEN".',
  )
}

function isSameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
