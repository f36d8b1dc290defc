/** Attribution of a server's CPU time and requests to the operations of a simulated day. */

import { type MetricSample, readMetrics } from '../../gateway/web/admin/metric-samples.js'
import type { Servers } from './beside-git.js'
import type { CpuGroup } from './server.js'

/** Totals of a server. */
interface Counts {
  readonly requests: number
  /** Number of times that the server has started git for a request; children are not counted. */
  readonly startedGit: number
  /** Number of fetches, pushes and lists of refs that no cache has answered. */
  readonly notCached: number
}

/** Operations of one kind. */
export interface Tally {
  /** Duration of each operation in ms. */
  readonly durationsMs: readonly number[]
  /** CPU time of the server and its children; undefined if unknown. */
  readonly cpuMs: number | undefined
  readonly requests: number
  readonly startedGit: number
  /** Number of operations that caches have certainly answered, alone or for several clients. */
  readonly cached: number
}

export interface Meter {
  /** Attributes the CPU time and the requests since the last call to these operations. */
  add(label: string, durationsMs?: readonly number[]): Promise<void>
  /** Operations by label. */
  readonly tallies: ReadonlyMap<string, Tally>
}

export const NO_OPERATIONS: Tally = {
  durationsMs: [],
  cpuMs: 0,
  requests: 0,
  startedGit: 0,
  cached: 0,
}

/** Starts a meter. The CPU time of its own requests to the server is not attributed. */
export async function startMeter(cpu: CpuGroup, count: () => Promise<Counts>): Promise<Meter> {
  const tallies = new Map<string, Tally>()
  let counts = await count()
  let cpuMs = await cpu.cpuMs()
  return {
    tallies,
    async add(label, durationsMs = []) {
      const used = subtract(await cpu.cpuMs(), cpuMs)
      const present = await count()
      const requests = present.requests - counts.requests
      const startedGit = present.startedGit - counts.startedGit
      const cached = Math.max(0, durationsMs.length - (present.notCached - counts.notCached))
      const added = { durationsMs, cpuMs: used, requests, startedGit, cached }
      tallies.set(label, sum([tallies.get(label) ?? NO_OPERATIONS, added]))
      counts = present
      cpuMs = await cpu.cpuMs()
    },
  }
}

/** Adds the operations of several kinds. */
export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (one, other) => ({
      durationsMs: [...one.durationsMs, ...other.durationsMs],
      cpuMs: subtract(one.cpuMs, subtract(0, other.cpuMs)),
      requests: one.requests + other.requests,
      startedGit: one.startedGit + other.startedGit,
      cached: one.cached + other.cached,
    }),
    NO_OPERATIONS,
  )
}

function subtract(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other
}

/** Counts the requests to Gatehouse for git; each that starts git has waited in the queue. */
export async function countOfGatehouse({ gatehouse }: Servers): Promise<Counts> {
  const samples = await samplesOf(gatehouse.url)
  const count = (metric: string, isCounted: (labels: MetricSample['labels']) => boolean) =>
    samples
      .filter(({ name, labels }) => name === metric && isCounted(labels))
      .reduce((total, { value }) => total + value, 0)
  const isPush = (labels: MetricSample['labels']) => labels['service'] === 'git-receive-pack'
  const isPastCache = ({ outcome = '' }: MetricSample['labels']) =>
    outcome === 'miss' || outcome === 'bypass'
  return {
    requests: count('gatehouse_http_request_seconds_count', ({ door }) => door === 'git'),
    startedGit: count('gatehouse_git_queue_wait_seconds_count', () => true),
    notCached: count('gatehouse_git_services_total', isPush) + count(PACK_CACHE, isPastCache),
  }
}

const PACK_CACHE = 'gatehouse_pack_cache_requests_total'

/** Counts the requests to the peer, all of which start git. */
export async function countOfPeer({ git }: Servers): Promise<Counts> {
  const requests = await git.countRequests()
  return { requests, startedGit: requests, notCached: requests }
}

/** Returns the number of requests for each command and outcome of Gatehouse's pack cache. */
export async function packCacheOutcomes({ gatehouse }: Servers): Promise<Map<string, number>> {
  const samples = await samplesOf(gatehouse.url)
  return new Map(
    samples
      .filter(({ name }) => name === PACK_CACHE)
      .map(({ labels, value }) => [`${labels['command']} ${labels['outcome']}`, value]),
  )
}

async function samplesOf(url: string): Promise<readonly MetricSample[]> {
  const response = await fetch(`${url}/metrics`)
  if (!response.ok) throw new Error(`the metrics cannot be read: ${await response.text()}`)
  return readMetrics(await response.text())
}
