/** Files of actions. */

import t from 'tap'
import { readActionFile } from '../../../gateway/own-runner/action-file.js'

t.test('inputs, outputs and steps of a composite action are read', async (t) => {
  const file = readActionFile(`
inputs: { plain:, needed: { required: true }, preset: { default: 5 } }
outputs: { made: { description: x, value: "\${{ steps.a.outputs.made }}" } }
runs: { using: composite, steps: [{ id: a, run: x, shell: sh }, { uses: ./b, with: { c: 1 } }] }
`)
  t.strictSame(file, {
    using: 'composite',
    inputs: [
      { name: 'plain', isRequired: false, fallback: undefined },
      { name: 'needed', isRequired: true, fallback: undefined },
      { name: 'preset', isRequired: false, fallback: '5' },
    ],
    outputs: { made: '${{ steps.a.outputs.made }}' },
    steps: [
      { id: 'a', run: 'x', shell: 'sh', env: {}, inputs: {} },
      { uses: './b', env: {}, inputs: { c: '1' } },
    ],
  })
})

t.test('a file of another form is refused', async (t) => {
  const steps = (count: number) => `[${Array(count).fill('{uses: ./b}').join()}]`
  const rows: ReadonlyArray<readonly [file: string, message: string]> = [
    ['name: x', "the file has no 'runs'"],
    ['runs: {}', "runs has no 'using'"],
    [
      'runs: {using: docker}',
      "actions with 'using: docker' need containers, which this runner does not have",
    ],
    ['runs: {using: java}', "actions with 'using: java' are not supported by this runner"],
    ['runs: {using: composite}', "runs has no 'steps'"],
    ['runs: {using: composite, steps: [{run: x}]}', "runs.steps[0] has no 'shell'"],
    [`runs: {using: composite, steps: ${steps(101)}}`, 'runs.steps has more than 100 steps'],
    [
      `{outputs: {x: {}}, runs: {using: composite, steps: ${steps(1)}}}`,
      "outputs.x has no 'value'",
    ],
  ]
  for (const [file, message] of rows) {
    t.throws(() => readActionFile(file), { message }, file)
  }
  t.equal(readActionFile(`runs: {using: composite, steps: ${steps(100)}}`).steps.length, 100)
})
