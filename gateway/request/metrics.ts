/** Prometheus metrics of one process; the supervisor aggregates those of the workers. */

import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from 'prom-client'
import { childrenCpuSeconds } from '../../cgi/process/process-table.js'
import type { PackCache, PackCacheLabels } from '../packs/pack-cache.js'
import type { ProcessQueue } from '../packs/process-queue.js'
import type { TaskOutcome } from '../pool/pool.js'
import type { PoolName } from '../pool/pools.js'
import type { DiskWatch } from './disk-watch.js'
import { createRequestTimes, type RequestLabels } from './request-times.js'

export interface Metrics {
  readonly registry: Registry
  /** Counts one answered request. */
  countRequest(labels: RequestLabels, seconds: number): void
  /** Counts one requested Git service. */
  countGitService(labels: { service: string; outcome: 'ok' | 'failed' | 'refused' }): void
  /** Counts one request to git-upload-pack, with the outcome of its pack cache lookup. */
  countPackCache(labels: PackCacheLabels): void
  /** Counts bytes of the answer to such a request that were passed to its connection. */
  countPackBytes(labels: PackCacheLabels, bytes: number): void
  /** Counts one task of a pool that has ended or was refused. */
  countTask(pool: PoolName, outcome: TaskOutcome): void
  /** Records one sample of the event loop's delay. */
  observeLoopDelay(seconds: number): void
  /** Records the waiting time of a request in the process queue, when its process may start. */
  observeQueueWait(seconds: number): void
  /** Exports the memory use of the pack cache, read at each scrape. */
  watchPackCache(cache: Pick<PackCache, 'memoryBytes'>): void
  /** Exports the free space of the disks and the refusal of writes, read at each scrape. */
  watchDisks(disk: DiskWatch): void
  /** Exports the load of the process queue, read at each scrape. */
  watchQueue(queue: ProcessQueue): void
}

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/**
 * Sums of other metrics of the library, whose names end like those of counters although they are
 * gauges: `promtool check metrics` reports them.
 */
const MISNAMED: readonly string[] = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

let processMetrics: readonly Metric[] | undefined

/**
 * Returns the library's metrics of this process. They are created once: with them come a timer and
 * an observer of garbage collections, which last as long as the process.
 */
function metricsOfProcess(): readonly Metric[] {
  if (processMetrics !== undefined) return processMetrics
  const register = new Registry()
  // The library samples the event loop with a timer. At its default of 10 ms, the timer takes most
  // of the CPU time of an idle process.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 1_000 })
  const names = register.getMetricsAsArray().map(({ name }) => name)
  processMetrics = names
    .filter((name) => !MISNAMED.includes(name))
    .flatMap((name) => register.getSingleMetric(name) ?? [])
  return processMetrics
}

/** Creates the metrics of one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  for (const metric of metricsOfProcess()) registry.registerMetric(metric)
  const requestTimes = createRequestTimes()
  registry.registerMetric(requestTimes.metric)
  const services = new Counter({
    name: 'gatehouse_git_services_total',
    help: 'Requested Git services, by service and outcome.',
    labelNames: ['service', 'outcome'],
    registers: [registry],
  })
  const countFetch = createTally(registry, {
    name: 'gatehouse_pack_cache_requests_total',
    help: 'Requests to git-upload-pack, by command and pack cache outcome: hit, join (coalesced with another request), made (without git), miss or bypass.',
  })
  const countFetchBytes = createTally(registry, {
    name: 'gatehouse_pack_cache_answer_bytes_total',
    help: 'Bytes sent in answers to requests to git-upload-pack, by command and pack cache outcome.',
  })
  const waits = new Histogram({
    name: 'gatehouse_git_queue_wait_seconds',
    help: 'Time that Git services waited in the process queue before they started.',
    buckets: [0.001, 0.01, 0.1, 1, 5, 10, 30],
    registers: [registry],
  })
  const tasks = new Counter({
    name: 'gatehouse_pool_tasks_total',
    help: 'Tasks of the worker threads, by pool and outcome.',
    labelNames: ['pool', 'outcome'],
    registers: [registry],
  })
  const loopDelay = new Histogram({
    name: 'gatehouse_event_loop_delay_seconds',
    help: 'Delay of the event loops while there were requests, sampled every 20 ms.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  countGitCpu(registry)
  return {
    registry,
    countRequest({ door, method, status }, seconds) {
      // Each new label value is kept forever, and a client can send any method.
      const known = METHODS.has(method) ? method : 'other'
      requestTimes.observe({ door, method: known, status }, seconds)
    },
    countGitService: (labels) => services.inc(labels),
    countPackCache: (labels) => countFetch(labels, 1),
    countPackBytes: countFetchBytes,
    countTask: (pool, outcome) => tasks.inc({ pool, outcome }),
    observeLoopDelay: (seconds) => loopDelay.observe(seconds),
    observeQueueWait: (seconds) => waits.observe(seconds),
    watchPackCache(cache) {
      const gauge = new Gauge({
        name: 'gatehouse_pack_cache_memory_bytes',
        help: 'Bytes of the pack cache that the workers hold in memory.',
        registers: [registry],
        collect() {
          gauge.set(cache.memoryBytes)
        },
      })
    },
    watchDisks(disk) {
      watchDisks(registry, disk)
    },
    watchQueue(queue) {
      const gauge = new Gauge({
        name: 'gatehouse_git_queue',
        help: 'Git services in the process queue, by state: running or waiting.',
        labelNames: ['state'],
        registers: [registry],
        collect() {
          gauge.set({ state: 'running' }, queue.load.running)
          gauge.set({ state: 'waiting' }, queue.load.waiting)
        },
      })
    },
  }
}

/**
 * Registers the disk metrics. The workers share the disks, so the lowest free space that a worker
 * reports is used, and one worker that refuses writes is enough.
 */
function watchDisks(registry: Registry, disk: DiskWatch): void {
  const free = new Gauge({
    name: 'gatehouse_disk_free_bytes',
    help: 'Bytes that are free on the disk of each folder.',
    labelNames: ['folder'],
    aggregator: 'min',
    registers: [registry],
    async collect() {
      const { folders } = await disk.state()
      for (const { name, freeBytes } of folders) free.set({ folder: name }, freeBytes)
    },
  })
  const refused = new Gauge({
    name: 'gatehouse_writes_refused',
    help: '1 while new writes are refused because a disk is full or read-only, else 0.',
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const { refusal } = await disk.state()
      refused.set(refusal === undefined ? 0 : 1)
    },
  })
}

interface Tally {
  readonly labels: Record<'command' | 'outcome', string>
  total: number
}

/** Creates a counter that adds plain numbers; the library joins the labels into a key each time. */
function createTally(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): (labels: PackCacheLabels, count: number) => void {
  const tallies = new Map<string, Map<string, Tally>>()
  const counter = new Counter({
    name,
    help,
    registers: [registry],
    labelNames: ['command', 'outcome'],
    collect() {
      counter.reset()
      for (const ofCommand of tallies.values()) {
        for (const { labels, total } of ofCommand.values()) counter.inc(labels, total)
      }
    },
  })
  return ({ command, outcome }, count) => {
    const known = tallies.get(command)?.get(outcome)
    if (known !== undefined) {
      known.total += count
      return
    }
    const ofCommand = tallies.get(command) ?? new Map<string, Tally>()
    tallies.set(command, ofCommand.set(outcome, { labels: { command, outcome }, total: count }))
  }
}

/** Registers a counter that reads the kernel's CPU time of ended child processes at each scrape. */
function countGitCpu(registry: Registry): void {
  const counter = new Counter({
    name: 'gatehouse_git_cpu_seconds_total',
    help: 'Processor time of the git processes that have ended.',
    registers: [registry],
    async collect() {
      const seconds = await childrenCpuSeconds()
      counter.reset()
      counter.inc(seconds)
    },
  })
}

/** Renders gauges that are not aggregated over the workers. */
export async function renderGauges(
  gauges: readonly { readonly name: string; readonly help: string; readonly value: number }[],
): Promise<string> {
  const registry = new Registry()
  for (const { name, help, value } of gauges) {
    new Gauge({ name, help, registers: [registry] }).set(value)
  }
  return registry.metrics()
}

/** Makes a worker's metrics available to the supervisor. */
export function shareMetrics(metrics: Metrics): void {
  AggregatorRegistry.setRegistries([metrics.registry])
  // The constructor adds the listener for the supervisor's requests.
  new AggregatorRegistry()
}

/** Returns a function for the supervisor that collects the metrics of all workers as one text. */
export function collectFromWorkers(): () => Promise<string> {
  const aggregator = new AggregatorRegistry()
  return () => aggregator.clusterMetrics()
}
