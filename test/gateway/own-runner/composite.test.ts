/** Composite actions in the workspace. */

import t from 'tap'
import { jobOf, ranTask, writeStep } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'

const GREET = `
name: Greet
inputs:
  who: { required: true }
  greeting: { default: "Hello from \${{ github.repository }}" }
  loud: { default: false }
outputs:
  said: { value: "\${{ steps.say.outputs.said }}, \${{ steps.later.outcome }}" }
runs:
  using: composite
  steps:
    - id: say
      shell: bash
      env: { WHO: "\${{ inputs.who }}" }
      run: |
        echo "\${{ inputs.greeting }}, $WHO (\${{ inputs.LOUD == 'false' }})"
        echo "said=$WHO" >> $GITHUB_OUTPUT
        echo "SET=by action" >> $GITHUB_ENV
        cat "$GITHUB_ACTION_PATH/text" "\${{ github.action_path }}/text"
    - id: later
      if: inputs.who == 'nobody'
      shell: bash
      run: echo not this
`

t.test('a composite action has inputs, outputs, its folder and its own steps', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      writeStep({ 'greet/action.yml': GREET, 'greet/text': 'text of the action\n' }),
      'id: greet\nuses: ./greet\nwith: {Who: "${{ github.job }}", extra: 1}',
      'run: echo "${{ steps.greet.outputs.said }}; $SET; ${{ steps.say.outcome }}; $GITHUB_ACTION_PATH"',
    ),
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.strictSame(stub.rows.slice(1), [
    'Run ./greet',
    "Warning: the action has no input 'extra'.",
    'Run echo "Hello from ada/tool, $WHO (true)"',
    'Hello from ada/tool, build (true)',
    'text of the action',
    'text of the action',
    'Run echo "build, skipped; $SET; ; $GITHUB_ACTION_PATH"',
    'build, skipped; by action; ; ',
  ])
})

/** Returns the file of a composite action with these steps, as lines of YAML. */
function composite(...steps: readonly string[]): string {
  const lines = steps.map((step) => `    - ${step.split('\n').join('\n      ')}\n`)
  return `runs:\n  using: composite\n  steps:\n${lines.join('')}`
}

t.test('a missing input is a warning, and values are evaluated once', async (t) => {
  const action = `inputs: {text: {required: true}}\n${composite(
    "run: |\n  cat <<'E'\n  ${{ inputs.text }}\n  E\nshell: sh",
  )}`
  const { stub } = await ranTask(
    t,
    jobOf(
      writeStep({ 'a/action.yaml': action }),
      'uses: ./a\nwith: {text: "${{ vars.HOSTILE }}"}',
      'uses: ./a',
    ),
    { vars: { HOSTILE: '${{ github.job }}' } },
  )
  t.strictSame(stub.rows.slice(1), [
    'Run ./a',
    "Run cat <<'E'",
    '${{ github.job }}',
    'Run ./a',
    "Warning: the input 'text' is required and was not given.",
    "Run cat <<'E'",
    '',
  ])
})

t.test('steps of an action have the variables of the step that uses it', async (t) => {
  const { stub } = await ranTask(
    t,
    jobOf(
      writeStep({
        'a/action.yml': composite(
          'run: echo "$A $B ${{ env.A }}"; pwd\nshell: bash\nenv: {B: "${{ env.A }} over"}',
          'run: basename "$PWD"\nshell: bash\nworking-directory: a',
        ),
      }),
      'uses: ./a\nenv: {A: call}',
      'run: echo "A=$A"',
    ),
  )
  t.match(stub.rows.slice(3), ['call call over call', /\/workspace$/, /^Run/, 'a', /^Run/, 'A='])
})

t.test('a failed step ends the action, except for steps with failure()', async (t) => {
  const { result, steps, stub } = await ranTask(
    t,
    jobOf(
      writeStep({
        'a/action.yml': composite(
          'run: exit 3\nshell: sh\ncontinue-on-error: true',
          'run: exit 4\nshell: sh',
          'run: echo not this\nshell: sh',
          'run: echo after ${{ job.status }}\nshell: sh\nif: failure()',
        ),
        'b/action.yml': composite('run: echo succeeded\nshell: sh'),
      }),
      'uses: ./a\nid: a\ncontinue-on-error: true',
      'uses: ./a',
      'uses: ./b\nif: always()',
    ),
  )
  t.equal(result, 'FAILURE')
  t.strictSame(steps, ['SUCCESS', 'SUCCESS', 'FAILURE', 'SUCCESS'])
  t.strictSame(stub.rows.slice(1, 8), [
    'Run ./a',
    'Run exit 3',
    'Error: the step exited with status 3.',
    'Run exit 4',
    'Error: the step exited with status 4.',
    'Run echo after failure',
    'after failure',
  ])
  t.equal(stub.rows.filter((row) => row === 'after failure').length, 2)
  t.equal(stub.rows.at(-1), 'succeeded')
})

t.test('an action uses others, at most nine deep', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      writeStep({ 'a/action.yml': composite('uses: ./b'), 'b/action.yml': composite('uses: ./a') }),
      'uses: ./a',
    ),
  )
  t.equal(result, 'FAILURE')
  t.equal(stub.rows.filter((row) => row === 'Run ./a' || row === 'Run ./b').length, 10)
  t.equal(stub.rows.at(-1), 'Error: the action is nested more than 9 actions deep, or uses itself.')
})

const SLOW = composite(
  'run: echo waiting; sleep 100\nshell: bash',
  'run: echo not this\nshell: bash',
  'run: echo cleaned\nshell: bash\nif: always()',
)

t.test('a cancelled action ends with its step, and steps with always() run', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.onRows = (rows) => {
    stub.isCancelled = rows.includes('waiting')
  }
  const workflow = jobOf(writeStep({ 'a/action.yml': SLOW }), 'uses: ./a')
  const { result, steps } = await ranTask(t, workflow, { stub })
  t.equal(result, 'CANCELLED')
  t.strictSame(steps, ['SUCCESS', 'CANCELLED'])
  t.match(stub.rows.slice(3), [
    'waiting',
    'Error: the step was cancelled.',
    'Run echo cleaned',
    'cleaned',
  ])
})

t.test('an action ends with the time of the step that uses it', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(writeStep({ 'a/action.yml': SLOW }), 'uses: ./a\ntimeout-minutes: 0.01'),
  )
  t.equal(result, 'FAILURE')
  t.strictSame(stub.rows.slice(3), [
    'waiting',
    'Error: the step ran longer than 0.01 minutes.',
    'Run echo cleaned',
    'Error: the action ran longer than 0.01 minutes.',
  ])
})

t.test('an action that cannot be run fails its step with a sentence', async (t) => {
  const rows: ReadonlyArray<readonly [file: string, sentence: string, ...more: string[]]> = [
    ['name: x', "the file of the action './a', line 1, column 1: the file has no 'runs'"],
    ['runs: {using: docker}', "actions with 'using: docker' are not supported"],
    [
      '#',
      "the file of the action './a' is longer than 524288 bytes",
      'run: truncate -s 524289 a/action.yml',
    ],
    [composite('run: echo ${{ secrets.KEY }}\nshell: sh'), "the context 'secrets' does not exist"],
    [`inputs: {i: {default: "\${{ secrets.KEY }}"}}\n${composite('uses: ./b')}`, "'secrets'"],
  ]
  for (const [file, sentence, ...more] of rows) {
    const { result, stub } = await ranTask(
      t,
      jobOf(writeStep({ 'a/action.yml': file }), ...more, 'uses: ./a'),
    )
    t.equal(result, 'FAILURE', file.slice(0, 100))
    t.match(stub.rows.at(-1), sentence)
  }
})

t.test('a local action is in the workspace, also behind links', async (t) => {
  const rows: ReadonlyArray<readonly [uses: string, sentence: string]> = [
    [
      './missing',
      "the action './missing' has no file action.yml or action.yaml; a step with actions",
    ],
    ['./../outside', "the file of the action './../outside' is outside the workspace"],
    ['./link', "the file of the action './link' is outside the workspace"],
    ['./file', "the file of the action './file' is outside the workspace"],
    ['./pipe', "the file of the action './pipe' is not a plain file"],
  ]
  const prepare = `run: |
  mkdir ../outside file pipe && echo 'runs: {using: composite, steps: []}' > ../outside/action.yml
  ln -s ../outside link && ln -s ../../outside/action.yml file/action.yml
  mkfifo pipe/action.yml`
  for (const [uses, sentence] of rows) {
    const { result, stub } = await ranTask(t, jobOf(prepare, `uses: ${uses}`))
    t.equal(result, 'FAILURE', uses)
    t.match(stub.rows.at(-1), sentence)
  }
})

t.test('a workspace that a step has replaced by a link has no actions', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      writeStep({ '../other/a/action.yml': composite('run: x\nshell: sh') }),
      'run: mv ../workspace ../old && ln -s other ../workspace',
      'uses: ./a',
    ),
  )
  t.equal(result, 'FAILURE')
  const sentence = "Error: the file of the action './a' is outside the workspace."
  t.equal(stub.rows.at(-1), sentence)
})
