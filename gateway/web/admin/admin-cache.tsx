/** Administration, Pack cache: hits, misses and bytes of clones and fetches since the start. */

import type { JSX } from 'preact/jsx-runtime'
import { sizeOf } from '../code/file-view.js'
import { htmlReply } from '../kit/html.js'
import { definePage } from '../kit/page.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'
import { type MetricSample, readMetrics } from './metric-samples.js'

/** Outcomes of a request and their labels, cheapest first. */
const OUTCOMES = [
  ['hit', 'from the cache'],
  ['join', 'coalesced with another request'],
  ['made', 'by Gatehouse, then cached'],
  ['miss', 'by git, then cached'],
  ['bypass', 'by git, bypassing the cache'],
] as const
const COMMANDS = [
  ['fetch', 'Packs'],
  ['ls-refs', 'Lists of refs'],
  ['other', 'Other requests'],
] as const

const REQUESTS = 'gatehouse_pack_cache_requests_total'
const BYTES = 'gatehouse_pack_cache_answer_bytes_total'
const MEMORY = 'gatehouse_pack_cache_memory_bytes'

/** Returns the sum of the samples of a metric that have these labels. */
function sumOf(
  samples: readonly MetricSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels)
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

interface FiguresProps {
  readonly samples: readonly MetricSample[]
  readonly command: string
  readonly word: string
}

function Figures({ samples, command, word }: FiguresProps): JSX.Element {
  const all = sumOf(samples, REQUESTS, { command })
  const rows = OUTCOMES.map(([outcome, sentence]) => ({
    outcome,
    sentence,
    count: sumOf(samples, REQUESTS, { command, outcome }),
    bytes: sumOf(samples, BYTES, { command, outcome }),
  }))
  return (
    <section>
      <h3>{word}</h3>
      <Bar shares={rows.map(({ outcome, count }) => [outcome, all === 0 ? 0 : count / all])} />
      <table class="figures">
        <caption class="unseen">{word}</caption>
        <thead>
          <tr>
            {['Answered', 'Requests', 'Share', 'Bytes'].map((word) => (
              <th scope="col">{word}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ outcome, sentence, count, bytes }) => (
            <tr>
              <th scope="row">
                <Swatch outcome={outcome} /> {sentence}
              </th>
              <td>{count}</td>
              <td>{all === 0 ? '–' : `${((100 * count) / all).toFixed(1)} %`}</td>
              <td>{sizeOf(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const BAR_WIDTH = 400

/** Renders shares of a total as a stacked bar; the table below has the same figures. */
function Bar({ shares }: { readonly shares: readonly (readonly [string, number])[] }): JSX.Element {
  let x = 0
  return (
    <svg class="bar" viewBox={`0 0 ${BAR_WIDTH} 12`} aria-hidden="true">
      <rect class="whole" x="0" y="0" width={String(BAR_WIDTH)} height="12" />
      {shares.map(([outcome, share]) => {
        const width = share * BAR_WIDTH
        x += width
        const place = { x: (x - width).toFixed(2), width: width.toFixed(2) }
        return <rect class={outcome} {...place} y="0" height="12" />
      })}
    </svg>
  )
}

function Swatch({ outcome }: { readonly outcome: string }): JSX.Element {
  return (
    <svg class="bar key" viewBox="0 0 12 12" aria-hidden="true">
      <rect class={outcome} x="0" y="0" width="12" height="12" />
    </svg>
  )
}

const show = definePage<'admin'>({
  method: 'GET',
  path: '/admin/cache',
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const samples = readMetrics(await context.collectMetrics())
    const { memoryBytesMax, diskBytesMax } = context.settings.cache
    return htmlReply(
      request,
      <AdminDocument context={context} user={user} tab="cache">
        <section>
          <h2>Pack cache</h2>
          <p>
            {`Memory: ${sizeOf(sumOf(samples, MEMORY))}, at most ${sizeOf(memoryBytesMax)} per `}
            {`worker. Disk: at most ${sizeOf(diskBytesMax)}.`}
          </p>
          {COMMANDS.map(([command, word]) => (
            <Figures samples={samples} command={command} word={word} />
          ))}
        </section>
      </AdminDocument>,
    )
  },
})

export const ADMIN_CACHE_PAGES = [show]
