/** Page of a job: steps with their rows, limits, and the whole log. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { type LogSection, sectionsOf } from '../../../../gateway/web/runs/log-sections.js'
import type { LogRow } from '../../../../sql/runs/task-logs.js'
import { type TaskStep, updateTask } from '../../../../sql/runs/tasks.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, aTask, jobAt, logRows, setStatus } from '../../../helpers/run-rows.js'

const PATH = '/ada/r/actions/runs/1/jobs/0'

interface JobInput {
  readonly status: 'running' | 'success' | 'failure'
  readonly stepNames: readonly string[]
  readonly steps: readonly TaskStep[]
  readonly rows: readonly LogRow[]
}

/** Starts a gateway with one job in ada's repository `r`. */
async function openFixture(t: Test, input: JobInput, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location && { location })
  const made = await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const { status, stepNames, steps, rows } = input
  const run = await aRun(gateway.db, repositoryId, {
    jobs: [aJob('build', { stepNames, environment: 'live <1>' })],
  })
  const job = await jobAt(gateway.db, run, 0)
  const taskId = await aTask(gateway.db, job, { repositoryId, status, rows })
  await updateTask(gateway.db, taskId, { steps })
  return { ...gateway, see: (query = '') => gateway.ask({ path: PATH + query }) }
}

/** Returns the state of a step with these rows. */
function step(result: TaskStep['result'], firstRow: number, rowCount: number): TaskStep {
  return { result, startedAtMs: 1_000, stoppedAtMs: 4_000, firstRow, rowCount }
}

await onOneDatabase(t, 'the steps of a job have their rows of the log', async (t, location) => {
  const rows = logRows('prepare', 'one', 'two <b>', 'three', 'clean up')
  const { see, ask } = await openFixture(
    t,
    {
      status: 'failure',
      stepNames: ['Check <out>', 'Test', ''],
      steps: [step('success', 1, 2), step('failure', 3, 1), step('skipped', 4, 0)],
      rows,
    },
    location,
  )
  const { text, headers } = await see()
  t.equal(headers.refresh, undefined, 'the job has ended')
  t.notMatch(text, /refreshing|Refresh/)
  const details = text.split('<details class="log"').slice(1)
  t.equal(details.length, 5)
  t.match(text, 'environment live &lt;1>')
  const row = (id: string, content: string) =>
    `<div id="${id}"><a class="number" href="#${id}" title="2026-01-02T03:04:05.000Z">${id.split(':')[1]}</a>` +
    `<code>${content}</code></div>`
  const expected = [
    ['Set up', row('0:1', 'prepare')],
    ['Check &lt;out> ', row('1:1', 'one') + row('1:2', 'two &#60;b&#62;')],
    ['Test', row('2:1', 'three')],
    ['Step 3', ''],
    ['Complete', row('4:1', 'clean up')],
  ]
  for (const [at, [name = '', html = '']] of expected.entries()) {
    t.ok(details[at]?.includes(name), name)
    t.ok(details[at]?.includes(`<div class="rows">${html}</div>`), name)
    t.equal(details[at]?.startsWith(' open'), name === 'Test', `${name} is open if it failed`)
  }
  t.match(details[1], /label success.*<span class="quiet">3 s/s)
  const log = await ask({ path: `${PATH}/logs` })
  t.equal(log.text, rows.map((each) => `2026-01-02T03:04:05.000Z ${each.text}\n`).join(''))
  t.match(log.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'attachment; filename="run-1-job-0.log"',
    'x-content-type-options': 'nosniff',
  })
})

t.test('the page of a running job is loaded again until the user stops that', async (t) => {
  const running = { ...step(undefined, 1, 1), stoppedAtMs: undefined }
  const { see } = await openFixture(t, {
    status: 'running',
    stepNames: ['One', 'Two'],
    steps: [running],
    rows: logRows('prepare', 'a', 'b'),
  })
  const followed = await see()
  t.equal(followed.headers.refresh, '5')
  t.match(followed.text, /jobs\/0\?follow=0">Stop refreshing/)
  t.match(followed.text, /<details class="log" open.*label running.*id="1:2"/s)
  const still = await see('?follow=0')
  t.equal(still.headers.refresh, undefined)
  t.match(still.text, /jobs\/0">Refresh this page/)
})

t.test('a job that failed before its first step shows its preparation', async (t) => {
  const { see } = await openFixture(t, {
    status: 'failure',
    stepNames: ['One'],
    steps: [],
    rows: logRows('no image'),
  })
  t.match((await see()).text, /<details class="log" open.*label failure.*Set up.*no image.*One/s)
})

t.test('a job that no runner has claimed has its steps without rows', async (t) => {
  const { as, ask, db } = await startGatewayWithUsers(t)
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const jobs = [aJob('build', { stepNames: ['Compile'] })]
  const run = await aRun(db, (made.json as { id: number }).id, { jobs })
  await setStatus(db, await jobAt(db, run, 0), 'waiting', { reason: 'No <b>.' })
  const { text, headers } = await ask({ path: PATH })
  t.match(text, /<details class="log"><summary> Compile /)
  t.notMatch(text, /Whole log|Set up|Complete/)
  t.match(text, /labels: <code>linux<\/code>\..*<p class="notice">No &lt;b>\.<\/p>/s)
  t.equal(headers.refresh, '5')
})

t.test('a step shows its last 2000 rows, and says how many are left out', async (t) => {
  const texts = Array.from({ length: 4_500 }, (_, at) => `line ${at}`)
  const { see, ask } = await openFixture(t, {
    status: 'success',
    stepNames: ['One', 'Two'],
    steps: [step('success', 0, 2_400), step('success', 2_400, 2_100)],
    rows: logRows(...texts),
  })
  const { text } = await see()
  t.match(text, /400 of 2400 rows are not on this page\..*100 of 2100 rows are/s)
  t.equal(text.match(/<code>line /g)?.length, 4_000)
  t.match(text, /id="1:401">(?:(?!<\/div>).)*line 400<.*id="1:2400">(?:(?!<\/div>).)*line 2399</s)
  t.match(text, /id="2:101">(?:(?!<\/div>).)*line 2500<.*id="2:2100">(?:(?!<\/div>).)*line 4499</s)
  t.notMatch(text, /id="(?:1:400|2:100)"/)
  t.equal((await ask({ path: `${PATH}/logs` })).text.split('\n').length, 4_501)
})

t.test('a page has at most about 4 MiB of the log', async (t) => {
  for (const [name, row, rowsMax] of [
    ['long rows', 'x'.repeat(65_536), 65],
    ['escaped rows', '<'.repeat(2_000), 420],
    ['rows of hidden characters', '\u200b'.repeat(2_000), 50],
  ] as const) {
    const { see } = await openFixture(t, {
      status: 'failure',
      stepNames: ['One', 'Two'],
      steps: [step('success', 0, 500), step('failure', 500, 500)],
      rows: logRows(...Array.from({ length: 1_000 }, () => row)),
    })
    const { text } = await see()
    const shown = text.match(/<div id="2:/g)?.length ?? 0
    t.ok(shown > rowsMax / 2 && shown <= rowsMax, `${name}: ${shown} rows`)
    t.match(text, /500 of 500 rows are not on this page/, name)
    t.ok(text.length < 4_700_000, `${name}: ${text.length} characters`)
  }
})

t.test('each row is in one section, whatever rows a runner reports', async (t) => {
  const rowsOf = (...states: readonly TaskStep[]) =>
    sectionsOf({
      job: { status: 'success', stepNames: states.map(() => 'x') },
      task: { steps: states },
      rows: 10,
    }).map(({ firstRow, endRow }: LogSection) => `${firstRow}-${endRow}`)
  const all = (first: number, count: number) => step('success', first, count)
  t.strictSame(rowsOf(), ['0-10', '10-10'])
  t.strictSame(rowsOf(all(0, 0)), ['0-10', '10-10', '10-10'])
  t.strictSame(rowsOf(all(2, 3), all(6, 2)), ['0-2', '2-6', '6-8', '8-10'])
  t.strictSame(rowsOf(all(8, 2), all(1, 3)), ['0-1', '1-1', '1-4', '4-10'])
  t.strictSame(rowsOf(all(-5, 99), all(1e9, 1e9)), ['0-0', '0-10', '10-10', '10-10'])
})
