/** What the gateway counts, in the words of Prometheus; the supervisor adds up the workers. */

import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { PackCacheOutcome, WarmAnswer } from './git/pack-cache.js'
import type { ProcessQueue } from './git/process-queue.js'
import { createRequestTimes, type RequestLabels } from './request-times.js'

export interface Metrics {
  readonly registry: Registry
  /** One answered request. */
  countRequest(labels: RequestLabels, seconds: number): void
  /** One Git service that ran, with its outcome. */
  countGitService(labels: { service: string; outcome: 'ok' | 'failed' | 'refused' }): void
  /** One request of protocol v2, and whether the pack cache had a part in it. */
  countPackCache(labels: PackCacheLabels): void
  /** Shows the load of the queue of git processes at each reading. */
  watchQueue(queue: ProcessQueue): void
}

/** `other` is what went past the cache, whatever it was. */
export interface PackCacheLabels {
  readonly command: WarmAnswer['command'] | 'other'
  readonly outcome: PackCacheOutcome | 'bypass'
}

const METHODS: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
])

/** The metrics of one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  // The loop's delay is sampled by a timer: at the library's 10 ms it is most of what rest costs.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 250 })
  const requestTimes = createRequestTimes()
  registry.registerMetric(requestTimes.metric)
  const services = new Counter({
    name: 'gatehouse_git_services_total',
    help: 'Git services that were asked for, by service and outcome.',
    labelNames: ['service', 'outcome'],
    registers: [registry],
  })
  const fetches = new Counter({
    name: 'gatehouse_pack_cache_requests_total',
    help: 'Requests of protocol v2: answered from the cache, along with another, by git for the cache, or past it.',
    labelNames: ['command', 'outcome'],
    registers: [registry],
  })
  return {
    registry,
    countRequest({ door, method, status }, seconds) {
      // Each new label is kept for good, and anybody can make up a method.
      const known = METHODS.has(method) ? method : 'other'
      requestTimes.observe({ door, method: known, status }, seconds)
    },
    countGitService: (labels) => services.inc(labels),
    countPackCache: ({ command, outcome }) => fetches.inc({ command, outcome }),
    watchQueue(queue) {
      const gauge = new Gauge({
        name: 'gatehouse_git_queue',
        help: 'Git services that hold a place or wait for one.',
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

/** In a worker: lets the supervisor ask for these metrics. */
export function shareMetrics(metrics: Metrics): void {
  AggregatorRegistry.setRegistries([metrics.registry])
  // Making one is what listens for the supervisor's question.
  new AggregatorRegistry()
}

/** In the supervisor: a function that gives the metrics of all workers as one text. */
export function collectFromWorkers(): () => Promise<string> {
  const aggregator = new AggregatorRegistry()
  return () => aggregator.clusterMetrics()
}
