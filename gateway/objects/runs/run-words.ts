/** The words of this API for statuses, refs and addresses of runs. */

import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Run } from '../../../sql/runs/runs.js'
import { isFinal, type RunStatus } from '../../../sql/runs/statuses.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { apiTime, NEVER } from '../times.js'

const STATUS_WORDS = {
  blocked: 'waiting',
  waiting: 'queued',
  running: 'in_progress',
  cancelling: 'in_progress',
} as const

/** Returns the fields of a status; an ended run or job has a conclusion. */
export function statusFields(status: RunStatus): {
  readonly status: string
  readonly conclusion?: string
} {
  if (isFinal(status)) return { status: 'completed', conclusion: status }
  return { status: STATUS_WORDS[status] }
}

/** Returns the name of a branch or tag; other refs keep their full name. */
export function shortReference(reference: string): string {
  return reference.replace(/^refs\/(?:heads|tags)\//, '')
}

/** Returns the URLs of a run in the API and on the pages, which name it by id and by number. */
export function runUrls(
  { settings: { http } }: Pick<Context, 'settings'>,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
  { id, number }: Pick<Run, 'id' | 'number'>,
): { readonly url: string; readonly html_url: string } {
  const place = `${owner.name}/${name}/actions/runs`
  return {
    url: `${http.baseUrl}${API_PREFIX}/repos/${place}/${id}`,
    html_url: `${http.baseUrl}/${place}/${number}`,
  }
}

/** Last time that RFC 3339 can express. */
const LAST_MS = 253_402_300_799_999

/** Returns the fields of the start and the end; the clock of a runner may have any time. */
export function periodFields({ startedAtMs, stoppedAtMs }: Period): {
  readonly started_at: string
  readonly completed_at: string
} {
  return { started_at: timeOf(startedAtMs), completed_at: timeOf(stoppedAtMs) }
}

export interface Period {
  readonly startedAtMs: number | undefined
  readonly stoppedAtMs: number | undefined
}

/** Returns a time; that of an unset field if RFC 3339 cannot express it. */
export function timeOf(atMs: number | undefined): string {
  return atMs !== undefined && atMs >= 0 && atMs <= LAST_MS ? apiTime(atMs) : NEVER
}
