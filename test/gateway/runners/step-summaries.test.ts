/** Summaries of steps: both calls of runners, secrets in them, their limits, and the pages. */

import t from 'tap'
import { putSecret } from '../../../gateway/actions/runs/put-values.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { DECLARE, UPDATE_STEP_SUMMARY } from '../../../gateway/runner-protocol/procedures.js'
import { addJob } from '../../helpers/artifact-calls.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'

const PIPELINES = '/api/actions_pipeline/_apis/pipelines/workflows'

interface Place {
  readonly run?: string
  readonly job?: string
  readonly step?: number | string
}

const gateways = sharedGateways(t)

async function startJob(place: SharedGateway) {
  const gateway = await addJob(place, false)
  const { task, runner, runtimeToken, ask, ada } = gateway
  await putSecret(gateway, { ownerId: ada.id }, { name: 'KEY', value: 'hunter2', description: '' })
  const runId = Number(task.context?.['run_id'])
  const [, claims = ''] = runtimeToken.split('.')
  const { JobID: job } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const jobId = Number(job)
  return {
    ...gateway,
    runId,
    jobId,
    /** Sends a summary as runners of Gitea do. */
    put: (content: string, { run = `${runId}`, job = `${jobId}`, step = 0 }: Place = {}) =>
      ask({
        method: 'PUT',
        path: `${PIPELINES}/${run}/jobs/${job}/steps/${step}/summary`,
        authorization: `Bearer ${runtimeToken}`,
        headers: { 'content-type': 'text/markdown' },
        body: Buffer.from(content),
      }),
    /** Sends summaries as runners of Forgejo do. */
    send: (summaries: readonly { readonly stepNumber: bigint; readonly content: string }[]) =>
      runner.call(UPDATE_STEP_SUMMARY, { taskId: task.id, summaries: [...summaries] }),
    page: async (path = '') => (await ask({ path: `/ada/engine/actions/runs/1${path}` })).text,
  }
}

await gateways.onOneDatabase(
  'summaries of both families are on the pages of the run and the job, without secrets',
  async (t, gateway) => {
    const { put, send, page, runner, task } = await startJob(gateway)
    t.equal((await put('# Passed\n\n12 tests with hunter2', { step: 1 })).status, 200)
    t.equal((await put('an earlier text')).status, 200)
    t.equal((await put('**First**\n<script>alert(1)</script>')).status, 200, 'it is replaced')
    t.equal((await send([{ stepNumber: 2n, content: 'Third' }])).status, 200)
    for (const text of [await page(), await page('/jobs/0')]) {
      t.match(text, /<h3>Summary<\/h3>.*<strong>First<\/strong>.*Passed.*with \*\*\*.*Third/s)
      t.notMatch(text, /hunter2|earlier text|<script>alert/)
    }
    t.notMatch(await page('/jobs/1'), 'Summary')
    t.equal((await put('')).status, 200)
    t.notMatch(await page(), /First/, 'an empty one deletes it')
    await runner.report(task.id, Result.SUCCESS)
    t.equal((await put('late')).status, 401, 'the job has ended')
    t.equal((await send([{ stepNumber: 2n, content: 'late' }])).code, 'already_exists')
    t.match(await page(), /Third/)
  },
)

await gateways.onSqlite('runners learn that summaries are stored', async (t, gateway) => {
  const { runner } = await startJob(gateway)
  const { headers } = await runner.call(DECLARE, { version: 'v2', labels: ['linux'] })
  t.equal(headers['x-gitea-actions-capabilities'], 'job-summary')
})

await gateways.onSqlite(
  'summaries of other jobs and unknown steps are refused',
  async (t, gateway) => {
    const { put, send, page, runId, jobId } = await startJob(gateway)
    for (const [place, status] of [
      [{ run: `${runId + 1}` }, 403],
      [{ job: `${jobId + 1}` }, 403],
      [{ job: 'x' }, 403],
      [{ step: 1_000 }, 400],
      [{ step: 'x' }, 404],
      [{ step: '-1' }, 404],
    ] as const) {
      t.equal((await put('text', place)).status, status, JSON.stringify(place))
    }
    t.equal((await send([{ stepNumber: -1n, content: 'text' }])).code, 'invalid_argument')
    t.notMatch(await page(), 'Summary')
  },
)

await gateways.onSqlite(
  'a long summary is refused, and the earlier ones stay',
  async (t, gateway) => {
    const { put, send, page } = await startJob(gateway)
    const whole = 'abcdefg\n'.repeat(131_072)
    t.equal((await put(`${whole}x`)).status, 413)
    t.equal((await send([{ stepNumber: 0n, content: `${whole}x` }])).code, 'resource_exhausted')
    const many = Array.from({ length: 1_001 }, () => ({ stepNumber: 0n, content: 'x' }))
    t.equal((await send(many)).code, 'resource_exhausted')
    for (const step of [1, 2, 3]) t.equal((await put(whole, { step })).status, 200)
    t.equal((await put('the fourth', { step: 4 })).status, 200)
    t.equal((await put(whole, { step: 5 })).status, 413)
    t.equal((await put(whole, { step: 4 })).status, 200)
    t.equal((await put('the fourth', { step: 4 })).status, 200)
    t.ok((await page('/jobs/0')).includes('<p>the fourth</p>'))
    const text = await page()
    t.notOk(text.includes('the fourth'))
    t.ok(text.includes('The pages of the jobs have further summaries.'))
  },
)
