/** Secrets that a runner leaves in the rows of a log: the server does not store them. */

import t from 'tap'
import { putSecret } from '../../../gateway/actions/runs/put-values.js'
import { maskRows } from '../../../gateway/runs/task-masks.js'
import { readLog } from '../../../sql/runs/task-logs.js'
import { findTask } from '../../../sql/runs/tasks.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const WORKFLOW = `
on: push
jobs:
  build:
    runs-on: linux
    steps: [{ run: 'true' }]
`

const gateways = sharedGateways(t)

async function startTask(gateway: SharedGateway, secrets: Readonly<Record<string, string>>) {
  const { db, port, ada } = gateway
  const engine = await addWorkflowRepository(gateway)
  for (const [name, value] of Object.entries(secrets)) {
    await putSecret(gateway, { ownerId: ada.id }, { name, value, description: '' })
  }
  const runner = await registerClient({ port, db })
  await engine.commit(WORKFLOW)
  const task = await runner.fetchTask()
  const log = async () => {
    const rows = await readLog(db, { taskId: Number(task.id), firstRow: 0, rowsMax: 1_000 })
    return rows.map(({ text }) => text)
  }
  return { engine, runner, task, log, token: task.secrets['GITHUB_TOKEN'] ?? '' }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

await gateways.onSqlite(
  'secrets, their lines and the job token are masked, also in base64',
  async (t, gateway) => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----'
    const { runner, task, log, token } = await startTask(gateway, {
      PASSWORD: 'hunter2-long',
      KEY: key,
    })
    const header = `basic ${base64(`x-access-token:${token}`)}`
    await runner.sendRows(task.id, 0, [
      'password=hunter2-long!',
      base64('user:hunter2-long'),
      'MIIEvQIBADANBgkq',
      `token ${token} of the job`,
      header,
      header.slice(0, 6 + 76),
      'ordinary',
      '',
    ])
    t.strictSame(await log(), [
      'password=***!',
      // The other characters depend on the neighbours of the secret.
      'dXNlcjp***c=',
      '***',
      'token *** of the job',
      'basic ***=',
      'basic ***',
      'ordinary',
      '',
    ])
  },
)

await gateways.onSqlite('the runtime token is masked, also in base64', async (t, gateway) => {
  const { runner, task, log } = await startTask(gateway, {})
  const token = String(task.context?.['gitea_runtime_token'])
  t.equal(task.context?.['forgejo_runtime_token'], token)
  await runner.sendRows(task.id, 0, [`token ${token}.`, base64(`Bearer ${token}`)])
  const [plain = '', encoded = ''] = await log()
  t.equal(plain, 'token ***.')
  t.match(encoded, /^\S{8,12}\*\*\*\S{0,4}$/)
})

await gateways.onSqlite(
  'a secret at the place where a long row is cut is masked',
  async (t, gateway) => {
    const { runner, task, log, token } = await startTask(gateway, { PASSWORD: 'hunter2-long' })
    const before = ' '.repeat(65_530)
    await runner.sendRows(task.id, 0, [`${before}hunter2-long`, `${before.slice(30)}${token}`])
    const [first = '', second = ''] = await log()
    t.equal(first, `${before}***`)
    t.notMatch(second, token.slice(0, 30))
  },
)

await gateways.onSqlite(
  'secrets that are set later are masked in later tasks',
  async (t, gateway) => {
    const { runner, task, log } = await startTask(gateway, { OLD: 'old-secret' })
    await runner.sendRows(task.id, 0, ['old-secret'])
    const sent = { name: 'OLD', value: 'new-secret', description: '' }
    await putSecret(gateway, { ownerId: gateway.ada.id }, sent)
    await runner.sendRows(task.id, 1, ['old-secret new-secret'])
    t.strictSame(await log(), ['***', '*** new-secret'], 'this task has the old one')
  },
)

/** Returns how often other work can run while the rows of a log are masked. */
async function turnsWhile(masking: Promise<unknown>): Promise<number> {
  let turns = 0
  const count = () => {
    turns += 1
    waiting = setImmediate(count)
  }
  let waiting = setImmediate(count)
  await masking.finally(() => clearImmediate(waiting))
  return turns
}

await gateways.onSqlite('a hostile log does not block the event loop', async (t, gateway) => {
  const names = Array.from({ length: 100 }, (_, at) => `S${at}`)
  const secrets = Object.fromEntries(names.map((name) => [name, `${'a'.repeat(9_000)}${name}`]))
  const { engine, runner, task, log } = await startTask(gateway, secrets)
  for (const name of names) {
    const sent = { name: `B${name}`, value: `aab${name}`, description: '' }
    await putSecret(gateway, { repositoryId: engine.repository.id }, sent)
    await putSecret(gateway, {}, { ...sent, name: `C${name}`, value: `aac${name}` })
  }
  const rows = Array(139).fill('aab'.repeat(20_000))
  await runner.sendRows(task.id, 0, rows)
  t.strictSame((await log()).slice(1, 3), ['***', '***'], 'too many comparisons')
  const stored = await findTask(gateway.db, Number(task.id))
  if (stored === undefined) throw new Error('the task was not stored')
  const context = await gateway.openContext()
  await maskRows(context, stored, ['the first row opens the secrets'])
  const turns = await turnsWhile(maskRows(context, stored, rows))
  t.ok(turns >= 10, `${turns} turns of the event loop for ${rows.length} rows`)
})
