/** The client that is generated from Gitea's API description, with every operation. */

import { t } from 'tap'
import { OPERATIONS } from '../../gateway/api/operations.js'
import { isExpected } from '../helpers/expected.js'
import { startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { operationsUnknownToClient, throughGiteaClient } from '../helpers/gitea-client.js'
import { successes } from '../helpers/successes/all.js'

t.test('each operation succeeds through the generated client', async (t) => {
  const { gateway, called } = throughGiteaClient(await startGatewayWithUsers(t))
  const answers = await successes(gateway)
  const unknown = operationsUnknownToClient()
  isExpected(t, unknown, 'api/unknown-to-gitea-js')
  for (const { id, success } of OPERATIONS) {
    t.equal(answers[id]?.status, success.status, id)
    if (!unknown.includes(id) && !BY_PASSWORD.has(id)) t.ok(called.has(id), `${id} by the client`)
  }
})

/** Operations that need a password; the client supports only tokens. */
const BY_PASSWORD: ReadonlySet<string> = new Set([
  'userCreateToken',
  'userDeleteAccessToken',
  'userGetTokens',
])
