/** Jobs of workflow files: matrices, names, labels, and the faults of expressions. */

import fc from 'fast-check'
import t from 'tap'
import { newWork } from '../../../gateway/workflows/expression-work.js'
import { evaluate, interpolate } from '../../../gateway/workflows/expressions.js'
import { planFile } from '../../../gateway/workflows/plan-file.js'
import { faultOf, jobsOf } from '../../helpers/planned-file.js'

const FACTS = {
  github: { ref: 'refs/heads/main', ref_name: 'main' },
  payload: JSON.stringify({ head_commit: { message: 'Fix\nit' }, systems: ['a', 'b'] }),
  vars: { RUNNER: 'big', LIST: '[1, 2]' },
}

/** Returns a file with a job `test` of these fields. */
const fileOf = (fields: string) => `on: push
jobs:
  test:
    steps: [{ run: x }]
${fields.replace(/^/gm, '    ')}
`

const planned = (fields: string) => jobsOf(fileOf(fields), FACTS)
const namesOf = (fields: string) => planned(`runs-on: x\n${fields}`).map(({ name }) => name)

t.test('a job has a name, with the values of its matrix', async (t) => {
  const matrix = 'strategy: { matrix: { os: [linux, mac], n: [1] } }'
  const cases: ReadonlyArray<readonly [fields: string, ...names: string[]]> = [
    ['', 'test'],
    ['name: All tests', 'All tests'],
    [matrix, 'test (linux, 1)', 'test (mac, 1)'],
    [`name: All tests\n${matrix}`, 'All tests (linux, 1)', 'All tests (mac, 1)'],
    [`name: On \${{ matrix.os }}\n${matrix}`, 'On linux', 'On mac'],
    ['name: ${{ github.ref_name }} on ${{ vars.runner }}', 'main on big'],
    ['name: ${{ github.event.head_commit.message }}', 'Fix it'],
    ["name: ${{ inputs.x || 'none' }}", 'none'],
    [
      'strategy: { matrix: { a: [null, ""], b: [false, { c: [1, d] }] } }',
      'test (false)',
      'test (1, d)',
      'test (false)',
      'test (1, d)',
    ],
    ['strategy: { matrix: { a: [null] } }', 'test'],
    ['strategy: { matrix: { 2: [x], 1: [y] } }', 'test (x, y)'],
    ['strategy: { matrix: { v: "${{ fromJSON(vars.LIST) }}" } }', 'test (1)', 'test (2)'],
    ['strategy: { matrix: "${{ fromJSON(\'{\\"a\\": [1, 2]}\') }}" }', 'test (1)', 'test (2)'],
    ['strategy: { matrix: { a: "${{ github.event.systems }}" } }', 'test (a)', 'test (b)'],
    ['strategy: { matrix: { a: ["${{ vars.RUNNER }}-1"] } }', 'test (big-1)'],
    ['strategy: { fail-fast: false }', 'test'],
  ]
  for (const [fields, ...names] of cases) t.strictSame(namesOf(fields), names, fields)
})

t.test('a dispatch has its inputs, with their types and defaults', async (t) => {
  const on = '{ workflow_dispatch: { inputs: { all: { type: boolean }, of: { default: x } } } }'
  const text = fileOf(`runs-on: x\nname: \${{ inputs.all == true }} \${{ inputs.of }}
strategy: { matrix: { a: ["\${{ github.event.inputs.of }}"] } }`)
  const occurrence = { event: 'workflow_dispatch', inputs: { all: 'true' } } as const
  const input = { text: text.replace('on: push', `on: ${on}`), occurrence }
  const plan = planFile({ ...input, facts: FACTS })
  t.match(plan, { jobs: [{ name: 'true x', payload: /"a":\["x"\]/ }] })
  const read = planFile(input)
  t.match(read, { kind: 'planned', jobs: [] }, 'without facts, no job is planned')
})

t.test('a job is deferred if its fields depend on the jobs that it needs', async (t) => {
  const jobWith = (fields: string) => {
    const [, job] = jobsOf(
      `${fileOf('runs-on: x')}  next:\n    needs: test\n${fields.replace(/^/gm, '    ')}
    steps: [{ run: x }]\n`,
      FACTS,
    )
    return job
  }
  const deferred = { key: 'next', isDeferred: true, labels: [], payload: '' }
  for (const fields of [
    "runs-on: x\nstrategy: { matrix: { v: '${{ fromJSON(needs.test.outputs.v) }}' } }",
    "runs-on: x\nstrategy: { matrix: { include: [{ v: '${{ Needs.test.result }}' }] } }",
    'runs-on: ${{ needs.test.outputs.label }}',
    'runs-on: x\ncontinue-on-error: ${{ needs.test.outputs.optional }}',
  ]) {
    t.match(jobWith(fields), { ...deferred, name: 'next' }, fields)
  }
  t.match(jobWith('name: Next\nruns-on: ${{ needs.test.result }}'), { ...deferred, name: 'Next' })
  t.match(jobWith('name: ${{ needs.test.result }}\nruns-on: x'), { ...deferred, name: 'next' })
  t.match(jobWith('runs-on: x\nenvironment: ${{ needs.test.result }}'), {
    ...deferred,
    environment: '',
  })
  t.match(jobWith('runs-on: needs\nif: needs.test.result'), { isDeferred: false })
  const call = 'on: push\njobs: { next: { uses: ./.gitea/workflows/b.yaml } }'
  t.match(jobsOf(call, FACTS), [{ ...deferred, name: 'next' }])
  t.match(
    faultOf(fileOf('runs-on: ${{ needs.x.result }}'), FACTS),
    /the context 'needs' does not exist/,
  )
})

t.test('labels, switches and limits may be expressions', async (t) => {
  const matrix = 'strategy: { matrix: { os: [linux], try: [true, false] } }'
  const fields = `runs-on: ["\${{ matrix.os }}", x]\ncontinue-on-error: \${{ matrix.try }}\n${matrix}`
  t.match(planned(fields), [
    { labels: ['linux', 'x'], continuesOnError: true, failsFast: true, maxParallel: undefined },
    { labels: ['linux', 'x'], continuesOnError: false },
  ])
  t.match(planned('runs-on: "${{ fromJSON(\'[1, 2]\') }}"'), [{ labels: ['1', '2'] }])
  t.match(planned('runs-on: { group: g, labels: "${{ vars.RUNNER }}" }'), [{ labels: ['big'] }])
  t.match(planned('runs-on: x\ncontinue-on-error: ${{ matrix.none }}'), [
    { continuesOnError: false },
  ])
  const limits = 'strategy: { fail-fast: "${{ vars.NONE }}", max-parallel: "${{ 1 }}" }'
  t.match(planned(`runs-on: x\n${limits}`), [{ failsFast: false, maxParallel: 1 }])
})

t.test('the environment of a job is its name, also with an expression', async (t) => {
  const environments = (fields: string) => {
    const jobs = planned(`runs-on: x\n${fields}`)
    return jobs.map(({ environment }) => environment)
  }
  t.strictSame(environments(''), [''])
  t.strictSame(environments('environment: production'), ['production'])
  const matrix = 'strategy: { matrix: { to: [a, b] } }'
  const named = 'environment: { name: "to ${{ matrix.to }}", url: https://x.test }'
  t.strictSame(environments(`${named}\n${matrix}`), ['to a', 'to b'])
})

t.test('each fault has its place and the reason', async (t) => {
  const strategy = (text: string) => `runs-on: x\nstrategy: ${text}`
  const cases: Readonly<Record<string, string>> = {
    'runs-on: x\nname: ${{ needs.a.result }}':
      "6:11: jobs.test.name is evaluated when the run starts, from github, vars, inputs, matrix: the context 'needs' does not exist",
    [strategy('{ matrix: "${{ fromJSON(needs.a.outputs.m) }}" }')]:
      "6:25: jobs.test.strategy.matrix is evaluated when the run starts, from github, vars, inputs: the context 'needs' does not exist",
    [strategy('{ matrix: 1 }')]: '6:25: jobs.test.strategy.matrix must be a map',
    [strategy('{ matrix: { a: 1 } }')]:
      "6:25: jobs.test.strategy.matrix has no list for the key 'a'",
    [strategy('{ matrix: { a: [] } }')]:
      "6:25: jobs.test.strategy.matrix has an empty list for the key 'a'",
    [strategy('{ matrix: {} }')]: '6:25: jobs.test.strategy.matrix has no combination',
    [strategy('{ matrix: { include: [1] } }')]:
      "6:25: jobs.test.strategy.matrix has an 'include' that is not a list of maps",
    [strategy('{ matrix: { "${{ x }}": [1] } }')]:
      '6:25: jobs.test.strategy.matrix has a key with an expression',
    [strategy('{ max-parallel: 0 }')]:
      '6:31: jobs.test.strategy.max-parallel must be a number from 1 to 999999',
    [strategy('{ fail-fast: maybe }')]: '6:28: jobs.test.strategy.fail-fast must be true or false',
    'runs-on: x\ncontinue-on-error: maybe':
      '6:24: jobs.test.continue-on-error must be true or false',
    'runs-on: ${{ vars.NONE }}': '5:14: jobs.test.runs-on has an empty label',
    'runs-on: ${{ github.event }}': '5:14: jobs.test.runs-on must be a text or a list of texts',
    'runs-on: ${{ secrets.X }}':
      "5:14: jobs.test.runs-on is evaluated when the run starts, from github, vars, inputs, matrix: the context 'secrets' does not exist",
  }
  for (const [fields, fault] of Object.entries(cases))
    t.equal(faultOf(fileOf(fields), FACTS), fault)
  const many = [1, 2].map(
    (at) =>
      `  j${at}: { runs-on: x, steps: [{ run: x }], strategy: { matrix: { a: [${'1,'.repeat(250)}1] } } }`,
  )
  t.match(
    faultOf(`on: push\njobs:\n${many.join('\n')}\n`),
    '4:7: jobs.j2 has more combinations than the run may have jobs, which are 500',
  )
})

const HOSTILE: Readonly<Record<string, readonly [fields: string, fault: RegExp]>> = {
  'a list of ten thousand': [
    `runs-on: x\nstrategy: { matrix: { a: "\${{ fromJSON('[${'1,'.repeat(9_999)}1]') }}" } }`,
    /has 10000 combinations/,
  ],
  'a product of a hundred lists': [
    `runs-on: x\nstrategy: { matrix: { ${Array.from({ length: 100 }, (_, at) => `k${at}: [1, 2]`)} } }`,
    /has 1\.2676506002282294e\+30 combinations/,
  ],
  'thousands of inclusions': [
    `runs-on: x\nstrategy: { matrix: { include: [${'{ a: 1 },'.repeat(1_000)}] } }`,
    /has 1000 combinations/,
  ],
  'deep values': [
    `runs-on: x\nstrategy: { matrix: { a: "\${{ fromJSON('${'['.repeat(70)}${']'.repeat(70)}') }}" } }`,
    /fromJSON reads at most 64 levels/,
  ],
  'names of many expressions': [
    `runs-on: x\nname: "${'${{ 1 }}'.repeat(2_600)}"
strategy: { matrix: { a: "\${{ fromJSON('[${'1,'.repeat(255)}1]') }}" } }`,
    /have more than 60000 characters/,
  ],
  'values that are repeated': [
    `runs-on: x\nstrategy: { matrix: { a: "\${{ fromJSON('[${'1,'.repeat(255)}1]') }}",
      b: ["\${{ vars.LONG }}"] } }`,
    /the jobs have more than 8388608 characters/,
  ],
  'events that are repeated': [
    `runs-on: x\nname: \${{ toJSON(vars) }}
strategy: { matrix: { a: "\${{ fromJSON('[${'1,'.repeat(255)}1]') }}" } }`,
    /expressions of a text handle more than 6291456 characters/,
  ],
}

t.test('a hostile matrix is a fault', async (t) => {
  const facts = { ...FACTS, vars: { LONG: 'x'.repeat(60_000) } }
  for (const [name, [fields, fault]] of Object.entries(HOSTILE)) {
    t.match(faultOf(fileOf(fields), facts), fault, name)
  }
})

/** Texts with parts of expressions. */
const hostileText = fc
  .array(fc.constantFrom('$', '{', '}', '${{', '}}', "'", ' ', 'secrets.X', 'vars.TEXT', 'a', '\\'))
  .map((parts) => parts.join(''))

t.test('a runner evaluates no text that was evaluated before', async () => {
  const contexts = { secrets: { X: 'secret' }, vars: { TEXT: 'evaluated' } }
  const file = fileOf(`name: "\${{ vars.TEXT }}"
runs-on: ["\${{ vars.TEXT }}", x]
strategy: { matrix: { text: ["\${{ vars.TEXT }}"], map: [{ deep: ["\${{ vars.TEXT }}"] }] } }`)
  fc.assert(
    fc.property(hostileText, (text) => {
      const [job] = jobsOf(file, { vars: { TEXT: `x${text}` } })
      const payload = JSON.parse(job?.payload ?? '') as Payload
      const { name, strategy, 'runs-on': labels } = payload.jobs.test
      const { matrix } = strategy
      const texts = [labels[0], matrix.text[0], matrix.map[0].deep[0]]
      const isSame = texts.every((one) => evaluate(one, contexts, newWork()) === `x${text}`)
      return isSame && interpolate(name, contexts) === `x${text}`.replace(/\s+/g, ' ').trim()
    }),
    { numRuns: 1_000 },
  )
})

interface Payload {
  readonly jobs: {
    readonly test: {
      readonly name: string
      readonly 'runs-on': readonly [string]
      readonly strategy: {
        readonly matrix: {
          readonly text: readonly [string]
          readonly map: readonly [{ readonly deep: readonly [string] }]
        }
      }
    }
  }
}
