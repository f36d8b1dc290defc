/** Plans of workflow files: jobs, faults with their place, and files of other events. */

import t from 'tap'
import { planFile } from '../../../gateway/workflows/plan-file.js'
import { planOf } from '../../helpers/planned-file.js'

t.test('a file is planned for the events that start it', async (t) => {
  const job = 'jobs: { a: { runs-on: linux, if: x, steps: [{ name: Say, run: y }] } }'
  const jobs = [{ key: 'a', labels: ['linux'], condition: 'x', stepNames: ['Say'] }]
  t.match(planOf(`name: CI\non: push\n${job}`), { kind: 'planned', name: 'CI', jobs })
  t.match(planOf(`on: { push: { branches: [other] } }\n${job}`), { kind: 'ignored' })
  const named = job.replace('if: x', "name: '${{ github.workflow }}'")
  t.match(planOf(`name: CI\non: push\n${named}`), { jobs: [{ name: 'CI' }] })
  t.match(planOf(`on: schedule\n${job}`), { kind: 'ignored' })
})

t.test('a fault has its place, and whether the event starts the workflow', async (t) => {
  const broken = planOf('on: push\njobs: [')
  t.match(broken, { kind: 'faulty', isStarted: false, fault: /^2:\d+: / })
  const job = '{ runs-on: "${{ none.x }}", steps: [{ run: x }] }'
  const faulty = planOf(`on: push\njobs:\n  a: ${job}\n`)
  t.match(faulty, {
    kind: 'faulty',
    isStarted: true,
    fault: /^3:\d+: jobs\.a\.runs-on is evaluated when the run starts/,
  })
  const ignored = planOf(`on: { push: { branches: [other] } }\njobs:\n  a: ${job}\n`)
  t.match(
    ignored,
    { kind: 'ignored' },
    'an expression matters only if the event starts the workflow',
  )
})

t.test('a file that only its filters exclude is planned if they are ignored', async (t) => {
  const job = 'jobs: { a: { runs-on: linux, steps: [{ run: y }] } }'
  const facts = { github: {}, payload: '{}', vars: {} }
  const occurrence = { event: 'push', reference: 'refs/heads/main', changedPaths: ['x'] } as const
  for (const filter of ['branches: [other]', 'tags: ["*"]', 'paths: [y]']) {
    const text = `on: { push: { ${filter} } }\n${job}`
    t.match(planFile({ text, occurrence, facts }), { kind: 'ignored', isFiltered: true }, filter)
    const plan = planFile({ text, occurrence, facts, ignoresFilters: true })
    t.match(plan, { kind: 'planned', jobs: [{ name: 'a' }] }, filter)
  }
  const other = { text: `on: issues\n${job}`, occurrence, facts, ignoresFilters: true }
  t.match(planFile(other), { kind: 'ignored', isFiltered: false }, 'another event')
})
