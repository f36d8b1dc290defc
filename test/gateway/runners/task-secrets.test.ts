/** Secrets and variables of tasks, as a runner receives them, on both databases. */

import t from 'tap'
import { putSecret, readValue } from '../../../gateway/actions/runs/put-values.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { putValue, type ValueScope } from '../../../sql/runs/scoped-values.js'
import type { GatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { registerClient } from '../../helpers/runner-client.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const gateways = sharedGateways(t)

const WORKFLOW = `
on: push
jobs:
  build:
    runs-on: linux
    steps: [{ run: 'true' }]
  other:
    runs-on: linux
    if: vars.TARGET == 'repository' && vars.SITE == 'site' && vars.NONE == null
    steps: [{ run: 'true' }]
  never:
    runs-on: linux
    if: vars.TARGET == 'site'
    steps: [{ run: 'true' }]
`

async function putBoth(
  gateway: Pick<GatewayWithUsers, 'db' | 'settings'>,
  scope: ValueScope,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const sent = { name, value, description: undefined }
    await putSecret(gateway, scope, sent)
    await putValue(gateway.db, 'variables', { scope, ...readValue(sent) })
  }
}

await gateways.forEachDatabase(
  'a task gets the secrets and variables of the site, the owner and the repository',
  async (t, gateway) => {
    const { db, port, ada, bob } = gateway
    const engine = await addWorkflowRepository(gateway)
    const other = await addWorkflowRepository(gateway, { name: 'other' })
    await putBoth(gateway, {}, { SITE: 'site', target: 'site', OWNER: 'site' })
    await putBoth(gateway, { ownerId: ada.id }, { TARGET: 'owner', OWNER: 'one\r\ntwo\n' })
    await putBoth(gateway, { ownerId: bob.id }, { BOB: 'secret' })
    await putBoth(gateway, { repositoryId: engine.repository.id }, { TARGET: 'repository' })
    await putBoth(gateway, { repositoryId: other.repository.id }, { NEIGHBOUR: 'secret' })

    const runner = await registerClient({ port, db })
    await engine.commit(WORKFLOW)
    const task = await runner.fetchTask()
    const expected = { SITE: 'site', TARGET: 'repository', OWNER: 'one\ntwo\n' }
    const { GITHUB_TOKEN, GITEA_TOKEN, FORGEJO_TOKEN, ...secrets } = task.secrets
    t.strictSame(secrets, expected)
    t.strictSame({ ...task.vars }, expected)
    t.match(GITHUB_TOKEN, /^job_/)
    t.strictSame([GITEA_TOKEN, FORGEJO_TOKEN], [GITHUB_TOKEN, GITHUB_TOKEN])
    t.match(await engine.statuses(1), { other: 'waiting', never: 'skipped' })
    await runner.report(task.id, Result.SUCCESS)
    t.match((await runner.fetchTask()).secrets, expected, 'the second job, too')
  },
)

await gateways.onSqlite(
  'a sealed text that is moved to another name or scope is not opened',
  async (t, gateway) => {
    const { db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    const scope = { repositoryId: engine.repository.id }
    await putSecret(gateway, {}, { name: 'A', value: 'secret of the site', description: '' })
    const [row] = await db('workflow_secrets').select('value', 'bytes', 'description')
    t.notMatch(row.value, /secret/)
    await putValue(db, 'secrets', { ...row, name: 'B', scope: {} })
    await putValue(db, 'secrets', { ...row, name: 'A', scope })
    const runner = await registerClient({ port, db })
    await engine.commit(WORKFLOW)
    const names = Object.keys((await runner.fetchTask()).secrets)
    t.strictSame(names.sort(), ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN'])
  },
)
