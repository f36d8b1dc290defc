/** Successful requests, one for each operation on branch protections. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests in a new repository, which is kept. */
export async function successesOfProtections({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'ruled' })
  const ask = (method: string, rest = '', body?: unknown) =>
    as('ada', method, `/repos/ada/ruled/branch_protections${rest}`, body)
  return {
    repoCreateBranchProtection: await ask('POST', '', { rule_name: 'main', enable_push: true }),
    repoGetBranchProtection: await ask('GET', '/main'),
    repoEditBranchProtection: await ask('PATCH', '/main', { required_approvals: 1 }),
    repoListBranchProtection: await ask('GET'),
    repoUpdateBranchProtectionPriories: await ask('POST', '/priority', { ids: [1] }),
    repoDeleteBranchProtection: await ask('DELETE', '/main'),
  }
}
