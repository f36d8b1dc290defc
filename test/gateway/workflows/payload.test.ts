/** The workflow that a runner gets. */

import t from 'tap'
import { payloadsOf } from '../../../gateway/workflows/payload.js'
import { readWorkflow } from '../../../gateway/workflows/read-workflow.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'

function payloads(text: string): Readonly<Record<string, unknown>> {
  const entries = [...payloadsOf(readWorkflow(text), 'push')]
  return Object.fromEntries(entries.map(([id, payload]) => [id, parseYaml(payload).plain()]))
}

t.test('a payload has one job, with the decisions of the server', async (t) => {
  const text = `
name: CI
on: { push: { branches: [main] } }
env: { A: "1", B: &b { c: yes } }
concurrency: x
jobs:
  build:
    runs-on: linux
    if: github.ref == 'refs/heads/main'
    steps:
      - run: |
          echo "\${{ github.sha }}"
          echo two
  test:
    name: Test it
    needs: [build]
    runs-on: [linux, big]
    environment: production
    outputs: { version: "\${{ steps.a.outputs.b }}" }
    timeout-minutes: 5
    steps: [{ id: a, uses: actions/checkout@v4, with: *b }]
`
  const common = { name: 'CI', env: { A: '1', B: { c: 'yes' } }, on: 'push' }
  const always = '${' + '{ always() }}'
  t.strictSame(payloads(text), {
    build: {
      ...common,
      jobs: {
        build: {
          name: 'build',
          'runs-on': ['linux'],
          if: always,
          steps: [{ run: `echo "\${{ github.sha }}"\necho two\n` }],
        },
      },
    },
    test: {
      ...common,
      jobs: {
        test: {
          name: 'Test it',
          'runs-on': ['linux', 'big'],
          if: always,
          outputs: { version: `\${{ steps.a.outputs.b }}` },
          'timeout-minutes': 5,
          steps: [{ id: 'a', uses: 'actions/checkout@v4', with: { c: 'yes' } }],
        },
      },
    },
  })
})

t.test('parts that are not supported are named with their place', async (t) => {
  const job = 'runs-on: linux\n    steps: [{ run: x }]'
  const matrix = `on: push\njobs:\n  a:\n    ${job}\n    strategy: { matrix: { x: [1] } }\n`
  t.throws(() => payloads(matrix), {
    message: 'jobs.a.strategy is not supported by this server yet',
    position: { line: 6 },
  })
  const call = 'on: push\njobs:\n  a: { uses: ./.gitea/workflows/b.yaml }\n'
  t.throws(() => payloads(call), { message: /^jobs\.a\.uses is not supported/ })
})

t.test('payloads that are too long together are refused', async (t) => {
  const jobs = Array.from(
    { length: 40 },
    (_, at) => `  j${at}: { runs-on: a, steps: [{ run: x }] }`,
  )
  const text = `on: push\nenv: { A: ${'x'.repeat(400_000)} }\njobs:\n${jobs.join('\n')}\n`
  t.throws(() => payloads(text), { message: /^the jobs have more than 8388608 characters/ })
})
