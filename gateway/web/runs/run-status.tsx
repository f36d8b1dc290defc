/** Status and duration of a run, a job or a step. */

import type { JSX } from 'preact/jsx-runtime'
import type { RunStatus } from '../../../sql/runs/statuses.js'
import { Icon, type IconName } from '../kit/icon.js'

const ICONS: Readonly<Record<RunStatus, IconName>> = {
  blocked: 'blocked',
  waiting: 'clock',
  running: 'sync',
  cancelling: 'stop',
  success: 'check-circle',
  failure: 'x-circle',
  cancelled: 'circle-slash',
  skipped: 'skip',
}

/** Renders a status as an icon and a word. */
export function Status({ status }: { readonly status: RunStatus }): JSX.Element {
  return (
    <span class={`label ${status}`}>
      <Icon name={ICONS[status]} /> {status}
    </span>
  )
}

/** Times between which something runs. */
export interface Period {
  readonly startedAtMs: number | undefined
  readonly stoppedAtMs: number | undefined
}

/** Renders the duration up to now or to the end; null before the start. */
export function Duration({ startedAtMs, stoppedAtMs }: Period): JSX.Element | null {
  if (startedAtMs === undefined) return null
  return <span class="quiet">{durationOf((stoppedAtMs ?? Date.now()) - startedAtMs)}</span>
}

/** Returns a duration in its two largest units, such as `1 h 5 min`. */
export function durationOf(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1_000))
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return `${seconds} s`
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
