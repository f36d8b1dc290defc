/** Plans of called workflows. */

import t from 'tap'
import { planCalled } from '../../../gateway/workflows/plan-called.js'
import { RUN_LIMITS } from '../../../gateway/workflows/plan-jobs.js'

const JOBS = 'jobs: { a: { runs-on: "${{ inputs.label }}", steps: [{ run: x }] } }'

function planOf(call: string, given: Readonly<Record<string, string>> = {}) {
  const contexts = { github: { ref_name: 'main' }, vars: { LABEL: 'big' } }
  const text = `on: { workflow_call: ${call} }\n${JOBS}\n`
  return planCalled({ text, given, secrets: {}, contexts, limits: RUN_LIMITS })
}

t.test('inputs have their types, and defaults with expressions', async (t) => {
  const inputs = `{ label: { default: "\${{ vars.LABEL }}" }, fast: { type: boolean },
  n: { type: number, default: 3 } }`
  t.match(planOf(`{ inputs: ${inputs} }`), {
    kind: 'planned',
    jobs: [{ labels: ['big'] }],
    inputs: { label: 'big', fast: false, n: 3 },
  })
  t.match(planOf(`{ inputs: ${inputs} }`, { label: 'x', fast: 'true', n: '4' }), {
    jobs: [{ labels: ['x'] }],
    inputs: { label: 'x', fast: true, n: 4 },
  })
})

t.test('a value is a text, in which nothing is evaluated', async (t) => {
  const plan = planOf('{ inputs: { label: {} } }', { label: '${{ vars.LABEL }}' })
  t.match(plan, { jobs: [{ labels: ['${{ vars.LABEL }}'] }] })
})

t.test('outputs are kept as texts, and need a value', async (t) => {
  const output = '"${{ jobs.a.outputs.x }}"'
  const inputs = 'inputs: { label: { default: x } }'
  t.match(planOf(`{ ${inputs}, outputs: { x: { value: ${output} } } }`), {
    outputs: { x: '${{ jobs.a.outputs.x }}' },
  })
  t.match(planOf(`{ ${inputs}, outputs: { x: {} } }`), { kind: 'faulty', fault: /has no 'value'$/ })
})
