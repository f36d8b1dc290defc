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

t.test('scripts and conditions of an action for Node are read', async (t) => {
  t.strictSame(readActionFile('runs: {using: node20, main: index.js}'), {
    using: 'node',
    inputs: [],
    main: 'index.js',
    pre: undefined,
    post: undefined,
    preIf: 'always()',
    postIf: 'always()',
  })
  const scripts = 'pre: a.js, pre-if: failure(), main: b.js, post: c.js, post-if: success()'
  for (const using of ['node12', 'node16', 'node20', 'node24']) {
    t.match(readActionFile(`runs: {using: ${using}, ${scripts}}`), {
      main: 'b.js',
      pre: 'a.js',
      post: 'c.js',
      preIf: 'failure()',
      postIf: 'success()',
    })
  }
})

t.test('a file of another form is refused', async (t) => {
  const steps = (count: number) => `[${Array(count).fill('{uses: ./b}').join()}]`
  const rows: ReadonlyArray<readonly [file: string, message: string]> = [
    ['name: x', "the file has no 'runs'"],
    ['runs: {}', "runs has no 'using'"],
    ['runs: {using: docker}', "actions with 'using: docker' are not supported by this runner"],
    ['runs: {using: java}', "actions with 'using: java' are not supported by this runner"],
    ['runs: {using: node18, main: x.js}', "actions with 'using: node18' are not supported"],
    ['runs: {using: node20}', "runs has no 'main'"],
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
  const longest = readActionFile(`runs: {using: composite, steps: ${steps(100)}}`)
  t.match(longest, { steps: { length: 100 } })
})
