/** Triggers of workflow files: which pushes start them, and which filters are wrong. */

import t from 'tap'
import {
  branchOfPush,
  readTriggers,
  startsOn,
  startsWithoutFilters,
} from '../../../gateway/workflows/triggers.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'

function triggersOf(text: string) {
  const warnings: string[] = []
  const on = parseYaml(text).map().get('on')
  if (on === undefined) throw new Error(`no key 'on' in ${text}`)
  return { triggers: readTriggers(on, (warning) => warnings.push(warning)), warnings }
}

function starts(text: string, reference: string, changedPaths?: readonly string[]): boolean {
  return startsOn(triggersOf(text).triggers, { event: 'push', reference, changedPaths })
}

t.test('a text, a list and a map name the events', async (t) => {
  for (const on of ['push', '[issues, push]', '{push: , issues: {types: [opened]}}']) {
    t.ok(starts(`on: ${on}`, 'refs/heads/main'), on)
    t.ok(starts(`on: ${on}`, 'refs/tags/v1'), on)
    t.notOk(starts(`on: ${on}`, 'refs/pull/1/head'), on)
  }
  t.notOk(starts('on: pull_request', 'refs/heads/main'))
})

t.test('a filter of branches leaves out tags, and the other way round', async (t) => {
  const rows: ReadonlyArray<readonly [string, string, boolean]> = [
    ['branches: [main, "v*"]', 'refs/heads/main', true],
    ['branches: [main, "v*"]', 'refs/heads/work', false],
    ['branches: [main, "v*"]', 'refs/tags/v1', false],
    ['branches: main', 'refs/heads/main', true],
    ['tags: v*', 'refs/tags/v1', true],
    ['tags: v*', 'refs/heads/v1', false],
    ['tags: v*, branches: main', 'refs/heads/main', true],
    ['tags: v*, branches: main', 'refs/tags/v1', true],
    ['tags: v*, branches: main', 'refs/tags/x', false],
    ['branches-ignore: [work/**]', 'refs/heads/main', true],
    ['branches-ignore: [work/**]', 'refs/heads/work/a/b', false],
    ['branches-ignore: [work/**]', 'refs/tags/v1', false],
    ['tags-ignore: [v1]', 'refs/tags/v2', true],
    ['tags-ignore: [v1]', 'refs/tags/v1', false],
  ]
  for (const [filters, reference, expected] of rows) {
    t.equal(starts(`on: {push: {${filters}}}`, reference), expected, `${filters}: ${reference}`)
  }
})

t.test('a filter of paths needs one path that fits, and is not applied to tags', async (t) => {
  const rows: ReadonlyArray<readonly [string, readonly string[] | undefined, boolean]> = [
    ['paths: ["docs/**", "!docs/old/**"]', ['README', 'docs/a'], true],
    ['paths: ["docs/**", "!docs/old/**"]', ['docs/old/a'], false],
    ['paths: ["docs/**"]', [], false],
    ['paths: ["docs/**"]', undefined, true],
    ['paths-ignore: ["docs/**"]', ['docs/a', 'docs/b'], false],
    ['paths-ignore: ["docs/**"]', ['docs/a', 'src/b'], true],
  ]
  for (const [filters, paths, expected] of rows) {
    const text = `on: {push: {${filters}}}`
    t.equal(starts(text, 'refs/heads/main', paths), expected, `${filters}: ${paths}`)
    t.ok(starts(text, 'refs/tags/v1', paths), `${filters}: a tag`)
  }
})

t.test('filters that need too much work are not applied', async (t) => {
  const patterns = Array.from({ length: 100 }, (_, at) => `"**/**/*o*l*d*e*r*/**/*.t?s${at}"`)
  const paths = Array.from({ length: 3_000 }, (_, at) => `src/folder${at % 50}/file${at}.ts`)
  const filters = [`paths: [${patterns}]`, `paths-ignore: ["**", ${patterns.slice(1)}]`]
  for (const filter of filters) {
    const on = `on: {push: {${filter}}}`
    t.equal(starts(on, 'refs/heads/main', paths.slice(0, 20)), false, 'few paths are compared')
    t.equal(starts(on, 'refs/heads/main', paths), true, 'many are not')
  }
  const slow = `on: {push: {branches: [${Array.from({ length: 100 }, () => `"${'*a'.repeat(127)}"`)}]}}`
  t.equal(starts(slow, 'refs/heads/main'), false, 'a short name is compared')
  t.equal(starts(slow, `refs/heads/${'a'.repeat(120)}b`), true, 'a long one is not')
})

t.test('parts that have no effect are warnings', async (t) => {
  const text = 'on: {push: {types: [x]}, gollum: , schedule: [{cron: 0 0 * * *}]}'
  t.strictSame(triggersOf(text).warnings, [
    'on.push.types has no effect',
    "the event 'gollum' does not exist here and starts nothing",
  ])
  t.strictSame(triggersOf('on: [push, gollum]').warnings.length, 1)
})

t.test('a schedule starts the workflows that have its cron', async (t) => {
  const text = "on: {schedule: [{cron: ' 0 3 * * mon '}, {cron: '@daily', timezone: x}]}"
  const { triggers, warnings } = triggersOf(text)
  t.strictSame(warnings, ['on.schedule[1].timezone has no effect'])
  t.strictSame(triggers[0]?.crons, ['0 3 * * mon', '@daily'])
  const startsAt = (cron: string, on = text) =>
    startsOn(triggersOf(on).triggers, { event: 'schedule', cron, changedPaths: [] })
  t.ok(startsAt('@daily'))
  t.notOk(startsAt('@weekly'))
  t.notOk(startsAt('', 'on: schedule'), 'without a cron')
  t.notOk(startsAt('', 'on: {schedule: }'), 'without a cron')
})

t.test('wrong schedules are refused with their place', async (t) => {
  const many = Array.from({ length: 21 }, () => "{cron: '@daily'}")
  const faults: Readonly<Record<string, string>> = {
    "{cron: '@daily'}": 'on.schedule must be a list',
    '[{}]': "on.schedule[0] has no 'cron'",
    "[{cron: '@daily'}, {cron: '@reboot'}]":
      "on.schedule[1].cron is '@reboot', which has not five fields",
    [`[${many}]`]: 'on.schedule has more than 20 entries',
  }
  for (const [schedule, message] of Object.entries(faults)) {
    const start = message.replace(/[[\]]/g, '\\$&')
    t.throws(
      () => triggersOf(`on:\n  schedule: ${schedule}`),
      { message: new RegExp(`^${start}`), position: { line: 2 } },
      schedule,
    )
  }
})

t.test('wrong filters are refused with their place', async (t) => {
  const faults: Readonly<Record<string, string>> = {
    'branches: [a], branches-ignore: [b]':
      'on.push.branches-ignore cannot be there together with on.push.branches',
    'paths: ["[a"]': "on.push.paths has a pattern '[a' that has a '[' without a ']'",
    'tags: {a: b}': 'on.push.tags must be a text',
    [`tags: [${'a,'.repeat(101)}]`]: 'on.push.tags has more than 100 patterns',
  }
  for (const [filters, message] of Object.entries(faults)) {
    t.throws(() => triggersOf(`on: {push: {${filters}}}`), { message }, filters.slice(0, 20))
  }
})

t.test('a change of a pull request starts by its action, base branch and paths', async (t) => {
  const rows: ReadonlyArray<readonly [string, string, string, boolean]> = [
    ['', 'opened', 'main', true],
    ['', 'synchronize', 'main', true],
    ['', 'reopened', 'main', true],
    ['', 'labeled', 'main', false],
    ['types: [labeled]', 'labeled', 'main', true],
    ['types: labeled', 'opened', 'main', false],
    ['branches: [main]', 'opened', 'main', true],
    ['branches: [main]', 'opened', 'work', false],
    ['branches-ignore: [main]', 'opened', 'main', false],
    ['paths: [docs/**]', 'opened', 'main', true],
    ['paths: [src/**]', 'opened', 'main', false],
  ]
  for (const [filters, action, baseBranch, expected] of rows) {
    for (const event of ['pull_request', 'pull_request_target'] as const) {
      const { triggers } = triggersOf(`on: { ${event}: { ${filters} } }`)
      const changed = { action, baseBranch, changedPaths: ['docs/a'] }
      t.equal(startsOn(triggers, { event, ...changed }), expected, `${filters}: ${action}`)
      const other = event === 'pull_request' ? 'pull_request_target' : 'pull_request'
      t.notOk(startsOn(triggers, { event: other, ...changed }), `${event} is not ${other}`)
    }
  }
})

t.test('other changes start by their type, by default each one', async (t) => {
  const rows: ReadonlyArray<readonly [string, string, boolean]> = [
    ['issues:', 'opened', true],
    ['issues:', 'deleted', true],
    ['issues: { types: [opened, labeled] }', 'labeled', true],
    ['issues: { types: opened }', 'labeled', false],
    ['issues: { types: [], branches: [x], paths: [x] }', 'opened', false],
    ['issues: { branches: [x], paths: [x] }', 'opened', true],
    ['issue_comment: { types: [opened] }', 'opened', false],
    ['pull_request_comment:', 'opened', false],
    ['gollum:', 'opened', false],
  ]
  for (const [on, action, expected] of rows) {
    const { triggers } = triggersOf(`on: { ${on} }`)
    t.equal(startsOn(triggers, { event: 'issues', action, changedPaths: [] }), expected, on)
  }
  const { triggers } = triggersOf('on: [push, issue_comment]')
  const comment = { event: 'issue_comment', action: 'created', changedPaths: [] } as const
  t.ok(startsOn(triggers, comment))
  t.notOk(startsOn(triggers, { ...comment, event: 'issues' }))
})

t.test('a change of a run starts by the name of its workflow, its type and branch', async (t) => {
  const rows: ReadonlyArray<readonly [string, string, string, boolean]> = [
    ['workflows: [CI]', 'requested', 'main', true],
    ['workflows: CI', 'completed', 'main', true],
    ['workflows: [Other, CI]', 'completed', 'main', true],
    ['workflows: ["C*"]', 'completed', 'main', false],
    ['workflows: []', 'completed', 'main', false],
    ['workflows: [CI], types: [completed]', 'completed', 'main', true],
    ['workflows: [CI], types: [completed]', 'in_progress', 'main', false],
    ['workflows: [CI], branches: ["release/**"]', 'completed', 'release/1', true],
    ['workflows: [CI], branches: ["release/**"]', 'completed', 'main', false],
    ['workflows: [CI], branches-ignore: [main]', 'completed', 'main', false],
  ]
  for (const [filters, action, branch, expected] of rows) {
    const { triggers } = triggersOf(`on: { workflow_run: { ${filters} } }`)
    const changed = { event: 'workflow_run', workflow: 'CI', changedPaths: [] } as const
    t.equal(startsOn(triggers, { ...changed, action, branch }), expected, `${filters}: ${action}`)
  }
  for (const on of [
    'workflow_run',
    '[push, workflow_run]',
    '{workflow_run: {types: [completed]}}',
  ]) {
    t.throws(() => triggersOf(`on: ${on}`), { message: /has a 'workflow_run' without 'workflows'/ })
  }
})

t.test('without filters, only the event and its type matter', async (t) => {
  const pull = { event: 'pull_request', baseBranch: 'main', changedPaths: ['docs/a'] } as const
  const fits = (on: string, action: string) =>
    startsWithoutFilters(triggersOf(`on: ${on}`).triggers, { ...pull, action })
  t.ok(fits('{ pull_request: { paths: [src/**], branches: [other] } }', 'opened'))
  t.notOk(fits('{ pull_request: { paths: [src/**] } }', 'closed'))
  t.notOk(fits('{ push: { paths: [src/**] } }', 'opened'))
})

t.test('a pushed branch has a short name, and a pushed tag has none', async (t) => {
  const push = { event: 'push', changedPaths: undefined } as const
  t.equal(branchOfPush({ ...push, reference: 'refs/heads/work/a' }), 'work/a')
  t.equal(branchOfPush({ ...push, reference: 'refs/tags/v1' }), undefined)
})
