/** Workflow files: their jobs and stages, and the fault of each malformed one. */

import t from 'tap'
import { readWorkflow, stagesOf } from '../../../gateway/workflows/read-workflow.js'
import { FileFault } from '../../../gateway/workflows/yaml-value.js'

const WHOLE = `
name: Build
on: [push]
jobs:
  test:
    name: All tests
    runs-on: [self-hosted, linux]
    needs: [build, lint]
    steps:
      - {id: unit, run: make test}
      - uses: actions/upload-artifact@v3
  build:
    runs-on: debian
    steps: [{run: make}]
  lint:
    runs-on: {group: any, labels: small}
    needs: build
    steps: [{run: make lint, colour: red}]
  deploy:
    needs: test
    uses: ./.gitea/workflows/deploy.yaml
priority: high
`

t.test('a file has its name, its jobs in order, and warnings about unknown keys', async (t) => {
  const { triggers, name, jobs, warnings } = readWorkflow(WHOLE)
  t.strictSame(
    triggers.map(({ event }) => event),
    ['push'],
  )
  t.equal(name, 'Build')
  const parts = jobs.map(({ value: _value, condition: _condition, ...job }) => job)
  const [test, build, lint, deploy] = parts
  const labels = ['self-hosted', 'linux']
  t.match(test, { id: 'test', name: { content: 'All tests' }, needs: ['build', 'lint'], labels })
  t.strictSame(test?.stepNames, ['make test', 'actions/upload-artifact@v3'])
  t.match(build, { id: 'build', name: undefined, needs: [], labels: ['debian'] })
  t.match(lint, { id: 'lint', name: undefined, needs: ['build'], labels: ['small'] })
  t.match(deploy, { id: 'deploy', name: undefined, needs: ['test'], labels: [], stepNames: [] })
  t.strictSame(warnings, [
    'priority is not a key of workflow files and has no effect',
    'jobs.lint.steps[0].colour is not a key of workflow files and has no effect',
  ])
  const stages = stagesOf(jobs).map((stage) => stage.map(({ id }) => id))
  t.strictSame(stages, [['build'], ['lint'], ['test'], ['deploy']])
})

t.test('the key `on` may be the boolean of YAML 1.1', async (t) => {
  const text = '%YAML 1.1\n---\non: push\njobs: {a: {runs-on: x, steps: [{run: y}]}}'
  t.equal(readWorkflow(text).triggers.length, 1)
})

const job = (fields: string) => `on: push\njobs:\n  a: {${fields}}`
const STEPS = 'steps: [{run: x}]'
const needs = (rows: Readonly<Record<string, string>>) =>
  `on: push\njobs:\n${Object.entries(rows)
    .map(([id, list]) => `  ${id}: {runs-on: x, needs: [${list}], ${STEPS}}\n`)
    .join('')}`

t.test('each fault has its place and the rule', async (t) => {
  const faults: Readonly<Record<string, readonly [text: string, message: string]>> = {
    'no events': ['jobs: {}', "1:1 the file has no 'on': nothing starts it"],
    'no jobs': ['on: push', "1:1 the file has no 'jobs'"],
    'an empty map of jobs': ['on: push\njobs: {}', '2:7 jobs has no job'],
    'a list of jobs': ['on: push\njobs: []', '2:7 jobs must be a map'],
    'an id': [
      `on: push\njobs: {1a: {runs-on: x, ${STEPS}}}`,
      '2:12 jobs.1a must begin with a letter or _, and have at most 100 letters, digits, _ and -',
    ],
    'no labels': [job(STEPS), "3:6 jobs.a has no 'runs-on'"],
    'an empty list of labels': [job(`runs-on: [], ${STEPS}`), '3:16 jobs.a.runs-on has no label'],
    'no steps': [job('runs-on: x'), "3:6 jobs.a has no 'steps'"],
    'an empty list of steps': [job('runs-on: x, steps: []'), '3:26 jobs.a.steps has no step'],
    'a step without a command': [
      job('runs-on: x, steps: [{name: y}]'),
      "3:27 jobs.a.steps[0] must have either 'run' or 'uses'",
    ],
    'a step with two commands': [
      job('runs-on: x, steps: [{run: y, uses: z}]'),
      "3:27 jobs.a.steps[0] must have either 'run' or 'uses'",
    ],
    'a command that is a map': [
      job('runs-on: x, steps: [{run: {a: b}}]'),
      '3:33 jobs.a.steps[0].run must be a text',
    ],
    'an id twice': [
      job('runs-on: x, steps: [{id: y, run: z}, {id: y, run: z}]'),
      "3:49 jobs.a.steps[1].id repeats the id 'y' of an earlier step",
    ],
    'a call with steps': [
      job(`uses: ./b.yaml, ${STEPS}`),
      "3:30 jobs.a.steps cannot be there together with 'uses'",
    ],
    'an unknown need': [needs({ a: 'b' }), "3:26 jobs.a.needs names a job 'b' that does not exist"],
    'its own need': [needs({ a: 'a' }), '3:26 jobs.a.needs names the job itself'],
    'a circle': [
      needs({ a: '', b: 'a, d', c: 'b', d: 'c' }),
      '4:6 jobs.b needs itself, through the jobs that it needs',
    ],
    'too many jobs': [
      needs(Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`j${at}`, '']))),
      '3:3 jobs has more than 500 jobs',
    ],
  }
  for (const [name, [text, message]] of Object.entries(faults)) {
    try {
      readWorkflow(text)
      t.fail(name)
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      const { position } = error
      t.equal(`${position.line}:${position.column} ${error.message}`, message, name)
    }
  }
})
