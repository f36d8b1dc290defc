/**
 * Runtime tokens: JSON Web Tokens (RFC 7519), with which the tools of a job call the routes for
 * artifacts. They open nothing else.
 */

import { timingSafeEqual } from 'node:crypto'
import type { InstanceSecret } from '../../conf/instance-secret.js'

/** A claimed job, as its token names it. */
export interface TokenSubject {
  readonly taskId: number
  readonly jobId: number
  readonly runId: number
  readonly claimedAtMs: number
}

const WORDS = 'runtime tokens of workflow tasks'

/** Maximum duration of a task; a token is refused sooner if its task has ended. */
const VALID_SECONDS = 5 * 86_400

/** Difference between the clocks of two gateways. */
const SKEW_SECONDS = 60

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encoded({ alg: 'HS256', typ: 'JWT' })

/**
 * Returns the token of a task, which is the same each time, so that it can be masked in logs.
 * Clients decode it without a key: they read the ids of run and job in `scp`.
 */
export function runtimeTokenOf(
  secret: Pick<InstanceSecret, 'sign'>,
  { taskId, jobId, runId, claimedAtMs }: TokenSubject,
): string {
  const claimedAtSeconds = Math.floor(claimedAtMs / 1_000)
  const claims = encoded({
    scp: `Actions.Results:${runId}:${jobId}`,
    ac: '[{"Scope":"","Permission":2}]',
    TaskID: taskId,
    RunID: runId,
    JobID: jobId,
    nbf: claimedAtSeconds - SKEW_SECONDS,
    exp: claimedAtSeconds + VALID_SECONDS,
  })
  const signed = `${HEADER}.${claims}`
  return `${signed}.${secret.sign(signed, WORDS).toString('base64url')}`
}

/** Returns the id of a token's task; undefined if the token is forged, malformed or out of date. */
export function readRuntimeToken(
  secret: Pick<InstanceSecret, 'sign'>,
  token: string,
  nowMs: number,
): number | undefined {
  const [header, claims = '', signature = '', ...rest] = token.split('.')
  if (header !== HEADER || rest.length > 0) return undefined
  const wanted = secret.sign(`${HEADER}.${claims}`, WORDS)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  const { TaskID, nbf, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const nowSeconds = nowMs / 1_000
  return nbf <= nowSeconds && nowSeconds < exp ? TaskID : undefined
}
