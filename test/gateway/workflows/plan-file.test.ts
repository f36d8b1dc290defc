/** Plans of workflow files: jobs, faults with their place, and files of other events. */

import t from 'tap'
import { planFile } from '../../../gateway/workflows/plan-file.js'

const PUSHED = { event: 'push', reference: 'refs/heads/main', changedPaths: undefined } as const
const plan = (text: string) => planFile({ text, occurrence: PUSHED })

t.test('a file is planned for the events that start it', async (t) => {
  const job = 'jobs: { a: { runs-on: linux, if: x, steps: [{ name: Say, run: y }] } }'
  const jobs = [{ key: 'a', labels: ['linux'], condition: 'x', stepNames: ['Say'] }]
  t.match(plan(`name: CI\non: push\n${job}`), { kind: 'planned', name: 'CI', jobs })
  t.match(plan(`on: { push: { branches: [other] } }\n${job}`), { kind: 'ignored' })
  t.match(plan(`on: schedule\n${job}`), { kind: 'ignored' })
})

t.test('a fault has its place, and whether the event starts the workflow', async (t) => {
  const broken = plan('on: push\njobs: [')
  t.match(broken, { kind: 'faulty', isStarted: false, fault: /^2:\d+: / })
  const job = '{ runs-on: linux, strategy: {}, steps: [{ run: y }] }'
  const unsupported = plan(`on: push\njobs:\n  a: ${job}\n`)
  t.match(unsupported, {
    kind: 'faulty',
    isStarted: true,
    fault: /^3:\d+: jobs\.a\.strategy is not/,
  })
  const ignored = plan(`on: { push: { branches: [other] } }\njobs:\n  a: ${job}\n`)
  t.match(ignored, { kind: 'ignored' }, 'a part that is not supported matters only if it starts')
})
