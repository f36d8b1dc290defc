/** The workflow that a runner gets. */

import t from 'tap'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'
import { faultOf, jobsOf } from '../../helpers/planned-file.js'

function payloads(text: string): Readonly<Record<string, unknown>> {
  const entries = jobsOf(text).map(({ key, payload }) => [key, parseYaml(payload).plain()])
  return Object.fromEntries(entries)
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

t.test('payloads that are too long together are refused', async (t) => {
  const jobs = Array.from(
    { length: 40 },
    (_, at) => `  j${at}: { runs-on: a, steps: [{ run: x }] }`,
  )
  const text = `on: push\nenv: { A: ${'x'.repeat(400_000)} }\njobs:\n${jobs.join('\n')}\n`
  t.match(faultOf(text), /the jobs have more than 8388608 characters/)
})
