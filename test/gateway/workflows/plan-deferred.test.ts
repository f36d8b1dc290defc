/** Plans of deferred jobs, and their limits. */

import t from 'tap'
import { planDeferred } from '../../../gateway/workflows/plan-deferred.js'
import { RUN_LIMITS } from '../../../gateway/workflows/plan-jobs.js'

const TEXT = `on: push
jobs:
  list: { runs-on: x, steps: [{ run: x }] }
  test:
    needs: list
    runs-on: x
    strategy: { matrix: { n: "\${{ fromJSON(needs.list.outputs.of) }}" } }
    steps: [{ run: x }]
`

function planWith(of: string, limits = RUN_LIMITS) {
  const contexts = { github: {}, vars: {}, inputs: {}, needs: { list: { outputs: { of } } } }
  return planDeferred({ text: TEXT, key: 'test', event: 'push', contexts, limits })
}

t.test('a deferred job becomes the combinations of its matrix', async (t) => {
  const jobs = [{ name: 'test (1)' }, { name: 'test (2)', needs: ['list'], isDeferred: false }]
  t.match(planWith('[1, 2]'), { kind: 'planned', jobs })
})

t.test('a deferred job is faulty if its needs make no matrix', async (t) => {
  const fault = /^7:\d+: jobs\.test\.strategy\.matrix/
  for (const of of ['[', '{}', '[]', '']) t.match(planWith(of), { kind: 'faulty', fault }, of)
})

t.test('deferred jobs count for the limits of their run', async (t) => {
  const many = JSON.stringify(Array.from({ length: 10 }, (_, at) => at))
  const fault = /has more combinations than the run may have jobs, which are 500/
  t.match(planWith(many, { ...RUN_LIMITS, jobsMax: 9 }), { fault })
  t.match(planWith(many, { ...RUN_LIMITS, jobsMax: 10 }), { kind: 'planned' })
  t.match(planWith(many, { ...RUN_LIMITS, charactersMax: 1_000 }), { fault: /1000 characters/ })
})
