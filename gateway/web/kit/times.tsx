/** Times for people: how long ago, and in full for who asks. */

import type { JSX } from 'preact/jsx-runtime'

const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** A time as `3 days ago`, with the whole of it as its title. */
export function Ago({ atMs }: { readonly atMs: number }): JSX.Element {
  const text = isoOf(atMs)
  return (
    <time class="quiet" datetime={text} title={text}>
      {agoOf(atMs, Date.now())}
    </time>
  )
}

/** How long before `nowMs` that was, in the largest unit of which there is one. */
export function agoOf(atMs: number, nowMs: number): string {
  const agoMs = Math.abs(nowMs - atMs)
  const unit = UNITS.find(([, unitMs]) => agoMs >= unitMs)
  if (unit === undefined) return 'just now'
  const count = Math.floor(agoMs / unit[1])
  const words = `${count} ${unit[0]}${count === 1 ? '' : 's'}`
  return atMs > nowMs ? `in ${words}` : `${words} ago`
}

/** What a commit says of its time need not be one. */
function isoOf(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
