/** Metrics and their labels, which clients cannot choose. */

import t from 'tap'
import { runToEnd } from '../../../cgi/process/run.js'
import { createMetrics } from '../../../gateway/request/metrics.js'

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

t.test('unknown methods share one label', async (t) => {
  const metrics = createMetrics()
  for (let n = 0; n < 1_000; n += 1) {
    metrics.countRequest({ door: 'api', method: `M${n}`, status: 404 }, 0)
  }
  const text = await metrics.registry.getSingleMetricAsString('gatehouse_http_request_seconds')
  t.match(text, 'method="other",status="404"} 1000')
  t.ok(text.length < 2_000, `${text.length} characters`)
})

t.test('the queue is read when the metrics are read', async (t) => {
  const metrics = createMetrics()
  const load = { running: 1, waiting: 0 }
  metrics.watchQueue({ enter: async () => () => {}, load })
  t.match(await metrics.registry.metrics(), 'gatehouse_git_queue{state="running"} 1')
  load.running = 2
  t.match(await metrics.registry.metrics(), 'gatehouse_git_queue{state="running"} 2')
})

t.test('the CPU time of git is that of its ended processes', async (t) => {
  const { registry } = createMetrics()
  const read = async () => {
    const text = await registry.getSingleMetricAsString('gatehouse_git_cpu_seconds_total')
    return Number(/ ([\d.]+)$/m.exec(text)?.[1])
  }
  const before = await read()
  const count = 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done'
  await runToEnd('sh', ['-c', `sh -c '${count}'; :`], {
    cwd: '/',
    environment: {},
    timeoutMs: 60_000,
    outputBytesMax: 1_000,
  })
  t.ok((await read()) >= before + 0.05, 'and of their child processes')
})

t.test('the wait for a queue slot is a histogram', async (t) => {
  const metrics = createMetrics()
  metrics.observeQueueWait(0)
  metrics.observeQueueWait(3)
  const text = await metrics.registry.getSingleMetricAsString('gatehouse_git_queue_wait_seconds')
  t.match(text, 'gatehouse_git_queue_wait_seconds_bucket{le="1"} 1')
  t.match(text, 'gatehouse_git_queue_wait_seconds_sum 3')
})
