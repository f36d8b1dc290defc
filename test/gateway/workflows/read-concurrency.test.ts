/** Concurrency groups of workflow files. */

import t from 'tap'
import { readWorkflow } from '../../../gateway/workflows/read-workflow.js'
import { faultOf, jobsOf, planOf } from '../../helpers/planned-file.js'

const FACTS = { github: { ref: 'refs/heads/main', head_ref: '' }, vars: { STAGE: 'Live' } }

/** Returns a file with these values of `concurrency` for the workflow and its job. */
const fileOf = (ofWorkflow: string, ofJob: string) => `on: push
concurrency: ${ofWorkflow}
jobs:
  test:
    concurrency: ${ofJob}
    runs-on: x
    strategy: { matrix: { n: [1, 2] } }
    steps: [{ run: x }]
`

t.test('a group is a text or a map, with the values of its expressions', async (t) => {
  const text = fileOf(
    '${{ github.ref }}-${{ vars.STAGE }}',
    '{ group: "job ${{ matrix.n }}", cancel-in-progress: "${{ matrix.n == 2 }}" }',
  )
  t.match(planOf(text, FACTS), { concurrency: { group: 'refs/heads/main-Live', cancels: false } })
  t.strictSame(
    jobsOf(text, FACTS).map(({ concurrency }) => concurrency),
    [
      { group: 'job 1', cancels: false },
      { group: 'job 2', cancels: true },
    ],
  )
  t.notMatch(jobsOf(text, FACTS)[0]?.payload, /concurrency/)
  t.match(planOf(text.replace(/^ *concurrency.*\n/gm, ''), FACTS), { concurrency: undefined })
})

t.test('the id of the run makes a group that no other run has', async (t) => {
  const text = fileOf('${{ github.head_ref || github.run_id }}', 'x-${{ github.run_number }}')
  const [one, other] = [planOf(text, FACTS), planOf(text, FACTS)]
  if (one.kind !== 'planned' || other.kind !== 'planned') throw new Error('The file is faulty.')
  t.not(one.concurrency?.group, other.concurrency?.group)
  t.equal(one.jobs[0]?.concurrency?.group, one.jobs[1]?.concurrency?.group)
  t.not(one.jobs[0]?.concurrency?.group, other.jobs[0]?.concurrency?.group)
})

t.test('groups that cannot work are faults, and unknown keys warnings', async (t) => {
  const cases = [
    [fileOf('""', 'x'), '2:14: concurrency is empty'],
    [fileOf('{ cancel-in-progress: true }', 'x'), "2:14: concurrency has no 'group'"],
    [fileOf('{ group: a, cancel-in-progress: maybe }', 'x'), '2:46: .* must be true or false'],
    [fileOf('[a]', 'x'), '2:14: concurrency must be a text'],
    [fileOf('a', '${{ needs.x.result }}'), '5:18: .* is evaluated when the run starts, from .*'],
    [fileOf('Deploy', 'deploy'), '5:18: .* names the group of the workflow: the job would wait'],
  ] as const
  for (const [text, fault] of cases) t.match(faultOf(text, FACTS), new RegExp(`^${fault}`))
  const { warnings } = readWorkflow(fileOf('{ group: a, queue: max }', '{ group: b, x: 1 }'))
  t.strictSame(warnings, [
    'concurrency.queue is not a key of workflow files and has no effect',
    'jobs.test.concurrency.x is not a key of workflow files and has no effect',
  ])
})
