/** Calls for artifacts: their tokens, names, ids, sizes and digests. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { addJob, pathOf, startGatewayWithJob } from '../../helpers/artifact-calls.js'
import { withToken } from '../../helpers/requests.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'

const gateways = sharedGateways(t)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

await gateways.onSqlite(
  'a runtime token opens the artifacts of its run, and nothing else',
  async (t, gateway) => {
    const { ask, call, runtimeToken, store, task } = await addJob(gateway)
    const id = await store('build', 'zip')
    t.match((await call('ListArtifacts')).json, {
      artifacts: [{ database_id: String(id), name: 'build', size: '3', digest: /^sha256:/ }],
    })
    for (const path of ['/repos/ada/engine', '/user', '/repos/ada/engine/actions/runs']) {
      for (const authorization of [`Bearer ${runtimeToken}`, withToken(runtimeToken)]) {
        t.equal((await ask({ path: `/api/v1${path}`, authorization })).status, 401, path)
      }
    }
    const path = '/ada/engine/info/refs?service=git-upload-pack'
    const basic = Buffer.from(`x-access-token:${runtimeToken}`).toString('base64')
    t.equal((await ask({ path, authorization: `Basic ${basic}` })).status, 401)
    const jobToken = task.secrets['GITHUB_TOKEN'] ?? ''
    for (const token of [jobToken, '', 'x', `${runtimeToken}x`]) {
      t.match(await call('ListArtifacts', {}, token), {
        status: 401,
        json: { code: 'unauthenticated', msg: /runtime token is wrong/ },
      })
    }
  },
)

await gateways.onSqlite(
  'the token and the addresses of uploads end with the job',
  async (t, gateway) => {
    const { begin, call, nextJob, put, runner, store, task } = await addJob(gateway)
    const address = await begin('late')
    await put(address, 'zip')
    const id = await store('early', 'zip')
    await runner.report(task.id, Result.SUCCESS)
    t.equal((await call('ListArtifacts')).status, 401)
    t.match(await put(address, 'zip'), { status: 403, json: { msg: /has ended/ } })
    t.equal((await put(`${address}&comp=blocklist`, '<BlockList></BlockList>')).status, 403)
    const later = await nextJob()
    const { json } = await later.call('ListArtifacts')
    t.match(json, { artifacts: [{ database_id: String(id) }] })
    t.equal((json as { artifacts: unknown[] }).artifacts.length, 1)
    const late = await later.call('FinalizeArtifact', { name: 'late', size: '3' })
    t.equal(late.status, 404, 'another job does not complete the upload')
  },
)

await gateways.onSqlite(
  'a job of another run neither sees nor changes an artifact',
  async (t, gateway) => {
    const { call, otherRun, runner, store, task } = await addJob(gateway)
    await store('build', 'zip')
    const other = await otherRun()
    t.not(other.task.context?.['run_id'], task.context?.['run_id'])
    t.strictSame((await other.call('ListArtifacts')).json, { artifacts: [] })
    for (const name of ['GetSignedArtifactURL', 'DeleteArtifact']) {
      t.equal((await other.call(name, { name: 'build' })).status, 404, name)
    }
    const foreign = { workflow_run_backend_id: String(task.context?.['run_id']), name: 'build' }
    for (const name of ['CreateArtifact', 'FinalizeArtifact', 'ListArtifacts', 'DeleteArtifact']) {
      t.match(await other.call(name, foreign), {
        status: 403,
        json: { code: 'permission_denied', msg: 'The runtime token is of another run.' },
      })
    }
    t.match((await call('ListArtifacts')).json, { artifacts: [{ name: 'build' }] })
    t.ok((await other.store('build', 'same name')) > 0)
    await runner.report(other.task.id, Result.SUCCESS)
  },
)

await gateways.onSqlite(
  'an artifact with a wrong size or digest stays invisible',
  async (t, gateway) => {
    const { begin, call, put } = await addJob(gateway)
    const finalize = (fields: object) => call('FinalizeArtifact', { name: 'build', ...fields })
    const address = await begin('build')
    t.equal((await finalize({ size: '0' })).status, 404, 'nothing was uploaded')
    await put(address, 'zip')
    const hash = `sha256:${sha256('zip')}`
    for (const fields of [
      {},
      { size: '4' },
      { size: '03' },
      { size: '3', hash: `sha256:${sha256('zap')}` },
      { size: '3', hash: 'md5:x' },
    ]) {
      t.equal((await finalize(fields)).status, 400, JSON.stringify(fields))
    }
    t.equal((await call('GetSignedArtifactURL', { name: 'build' })).status, 404)
    t.strictSame((await call('ListArtifacts')).json, { artifacts: [] })
    const done = await finalize({ size: '3', hash })
    t.match(done.json, { ok: true })
    t.strictSame((await finalize({ size: '3', hash })).json, done.json, 'a repeated call')
    t.equal((await put(address, 'zap')).status, 404, 'the address is used up')
    const again = await call('CreateArtifact', { name: 'build' })
    t.match(again, { status: 409, json: { code: 'already_exists', msg: /"build" already/ } })
  },
)

await gateways.onSqlite(
  'names that are not file names everywhere are refused',
  async (t, gateway) => {
    const { call, store } = await addJob(gateway)
    const long = 'x'.repeat(256)
    const refused = ['', long, '../x', 'a/b', 'a\\b', 'a:b', 'a*', 'a?', 'a"', 'a<', 'a>', 'a|b']
    for (const name of [...refused, 'a\r', 'a\nb', 'a\0', '\ud800', 1, null, undefined]) {
      const answer = await call('CreateArtifact', { name })
      t.match(answer, { status: 400, json: { code: 'invalid_argument' } }, JSON.stringify(name))
    }
    for (const name of ['x'.repeat(255), 'Ünö 𝄞', '..', "it's", 'a#b%c']) await store(name, 'zip')
    t.equal((await call('CreateArtifact', { name: 'x', expires_at: 'soon' })).status, 400)
  },
)

t.test('the requested expiry is kept within a day and the maximum', async (t) => {
  const environment = {
    GATEHOUSE_ACTIONS_ARTIFACT_RETENTION_DAYS: '5',
    GATEHOUSE_ACTIONS_ARTIFACT_RETENTION_DAYS_MAX: '10',
  }
  const { call, db, task } = await startGatewayWithJob(t, { environment })
  t.equal(task.context?.['retention_days'], '10')
  const dayMs = 86_400_000
  for (const [days, kept] of [
    [undefined, 5],
    [7, 7],
    [-3, 1],
    [100_000, 10],
  ] as const) {
    const time = days === undefined ? undefined : new Date(Date.now() + days * dayMs).toISOString()
    t.equal((await call('CreateArtifact', { name: 'x', expires_at: time })).status, 200)
    const row = await db('workflow_artifacts').where({ name: 'x' }).first('expires_at')
    t.equal(Math.round((row.expires_at - Date.now()) / dayMs), kept)
  }
})

await gateways.onSqlite(
  'a complete artifact is downloaded by its address, and deleted',
  async (t, gateway) => {
    const { ask, call, store } = await addJob(gateway)
    await store('Ünö', 'zip archive')
    const { json } = await call('GetSignedArtifactURL', { name: 'Ünö' })
    const path = pathOf((json as { signed_url: string }).signed_url)
    const answer = await ask({ path })
    t.match(answer, { status: 200, text: 'zip archive' })
    t.match(answer.headers, {
      'content-type': 'application/zip',
      'content-length': '11',
      'content-disposition': /filename\*=UTF-8''%C3%9Cn%C3%B6\.zip$/,
      'x-content-type-options': 'nosniff',
    })
    t.match(await ask({ path, headers: { range: 'bytes=4-6' } }), { status: 206, text: 'arc' })
    t.match((await call('DeleteArtifact', { name: 'Ünö' })).json, { ok: true })
    t.equal((await ask({ path })).status, 404)
    t.equal((await call('DeleteArtifact', { name: 'Ünö' })).status, 404)
    await store('Ünö', 'again')
  },
)
