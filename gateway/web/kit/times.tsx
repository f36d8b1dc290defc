/** Relative times such as `3 days ago`, with the full time in the title. */

import type { JSX } from 'preact/jsx-runtime'
import { isoOf } from '../../../conf/lib/iso-time.js'

const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Renders a time as `3 days ago`, with the full ISO time as its title. */
export function Ago({ atMs }: { readonly atMs: number }): JSX.Element {
  const text = isoOf(atMs)
  return (
    <time class="quiet" datetime={text} title={text}>
      {agoOf(atMs, Date.now())}
    </time>
  )
}

/** Returns the difference to `nowMs` in the largest unit of which there is at least one. */
export function agoOf(atMs: number, nowMs: number): string {
  const agoMs = Math.abs(nowMs - atMs)
  const unit = UNITS.find(([, unitMs]) => agoMs >= unitMs)
  if (unit === undefined) return 'just now'
  const count = Math.floor(agoMs / unit[1])
  const words = `${count} ${unit[0]}${count === 1 ? '' : 's'}`
  return atMs > nowMs ? `in ${words}` : `${words} ago`
}
