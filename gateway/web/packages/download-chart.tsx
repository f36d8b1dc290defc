/** Downloads of a package in the last days, as bars. */

import type { JSX } from 'preact/jsx-runtime'
import { type DailyDownloads, dateOf } from '../../../sql/packages/package-downloads.js'

/** Number of days that the chart shows. */
export const CHART_DAYS = 30

const BAR_WIDTH = 10
const HEIGHT = 48

export interface DownloadChartProps {
  readonly today: number
  /** Days without downloads lack. */
  readonly daily: readonly DailyDownloads[]
}

/** Renders the sum and the bars, of which the highest has the full height. */
export function DownloadChart({ today, daily }: DownloadChartProps): JSX.Element {
  const counts = new Map(daily.map(({ day, downloads }) => [day, downloads]))
  const days = Array.from({ length: CHART_DAYS }, (_, at) => today - CHART_DAYS + 1 + at)
  const highest = Math.max(1, ...daily.map(({ downloads }) => downloads))
  const sum = daily.reduce((total, { downloads }) => total + downloads, 0)
  const caption = `${sum} downloads in the last ${CHART_DAYS} days`
  return (
    <div class="downloads">
      <svg viewBox={`0 0 ${CHART_DAYS * BAR_WIDTH} ${HEIGHT}`} role="img" aria-label={caption}>
        {days.map((day, at) => {
          const count = counts.get(day) ?? 0
          const height = Math.max(1, Math.round((count / highest) * HEIGHT))
          return (
            <rect
              x={String(at * BAR_WIDTH)}
              y={String(HEIGHT - height)}
              width={String(BAR_WIDTH - 2)}
              height={String(height)}
            >
              <title>{`${dateOf(day)}: ${count}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="quiet">{caption}</p>
    </div>
  )
}
