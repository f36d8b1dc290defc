/** What is counted, by labels that nobody can make up. */

import t from 'tap'
import { createMetrics } from '../../gateway/metrics.js'

t.test('requests and Git services are counted by their labels', async (t) => {
  const metrics = createMetrics()
  metrics.countRequest({ door: 'api', method: 'GET', status: 200 }, 0.002)
  metrics.countRequest({ door: 'api', method: 'GET', status: 200 }, 30)
  metrics.countGitService({ service: 'git-upload-pack', outcome: 'ok' })
  const text = await metrics.registry.metrics()
  const labels = 'door="api",method="GET",status="200"'
  t.match(text, `gatehouse_http_request_seconds_count{${labels}} 2`)
  t.match(text, `gatehouse_http_request_seconds_bucket{le="0.005",${labels}} 1`)
  t.match(text, 'gatehouse_git_services_total{service="git-upload-pack",outcome="ok"} 1')
  t.match(text, 'process_resident_memory_bytes')
})

t.test('methods that clients make up share one label', async (t) => {
  const metrics = createMetrics()
  for (let n = 0; n < 1_000; n += 1) {
    metrics.countRequest({ door: 'api', method: `M${n}`, status: 404 }, 0)
  }
  const text = await metrics.registry.getSingleMetricAsString('gatehouse_http_request_seconds')
  t.match(text, 'method="other",status="404"} 1000')
  t.ok(text.length < 2_000, `${text.length} characters`)
})

t.test('the queue is looked at when the metrics are read', async (t) => {
  const metrics = createMetrics()
  const load = { running: 1, waiting: 0 }
  metrics.watchQueue({ enter: async () => () => {}, load })
  t.match(await metrics.registry.metrics(), 'gatehouse_git_queue{state="running"} 1')
  load.running = 2
  t.match(await metrics.registry.metrics(), 'gatehouse_git_queue{state="running"} 2')
})
