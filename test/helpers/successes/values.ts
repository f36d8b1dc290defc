/** Successful requests, one for each operation on secrets and variables of workflows. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests in a new repository and a new organization, which are kept. */
export async function successesOfValues({ as, addOrganization, ada }: GatewayWithUsers) {
  await addOrganization('automated', ada)
  await as('ada', 'POST', '/user/repos', { name: 'automated' })
  await as('ada', 'PATCH', '/repos/ada/automated', { has_actions: true })
  const of = async (name: 'ada' | 'root', home: string) => {
    const ask = (method: string, path: string, body?: unknown) =>
      as(name, method, `${home}/actions${path}`, body)
    return {
      putSecret: await ask('PUT', '/secrets/KEY', { data: 'secret', description: 'A key' }),
      listSecrets: await ask('GET', '/secrets'),
      removeSecret: await ask('DELETE', '/secrets/KEY'),
      create: await ask('POST', '/variables/LEVEL', { value: '1' }),
      list: await ask('GET', '/variables'),
      get: await ask('GET', '/variables/LEVEL'),
      update: await ask('PUT', '/variables/LEVEL', { value: '2', name: 'DEPTH' }),
      remove: await ask('DELETE', '/variables/DEPTH'),
    }
  }
  const repository = await of('ada', '/repos/ada/automated')
  const organization = await of('ada', '/orgs/automated')
  const user = await of('ada', '/user')
  const site = await of('root', '/admin')
  return {
    repoListActionsSecrets: repository.listSecrets,
    updateRepoSecret: repository.putSecret,
    deleteRepoSecret: repository.removeSecret,
    getRepoVariablesList: repository.list,
    getRepoVariable: repository.get,
    createRepoVariable: repository.create,
    updateRepoVariable: repository.update,
    deleteRepoVariable: repository.remove,
    orgListActionsSecrets: organization.listSecrets,
    updateOrgSecret: organization.putSecret,
    deleteOrgSecret: organization.removeSecret,
    getOrgVariablesList: organization.list,
    getOrgVariable: organization.get,
    createOrgVariable: organization.create,
    updateOrgVariable: organization.update,
    deleteOrgVariable: organization.remove,
    updateUserSecret: user.putSecret,
    deleteUserSecret: user.removeSecret,
    getUserVariablesList: user.list,
    getUserVariable: user.get,
    createUserVariable: user.create,
    updateUserVariable: user.update,
    deleteUserVariable: user.remove,
    adminListActionsSecrets: site.listSecrets,
    updateAdminSecret: site.putSecret,
    deleteAdminSecret: site.removeSecret,
    getAdminVariablesList: site.list,
    getAdminVariable: site.get,
    createAdminVariable: site.create,
    updateAdminVariable: site.update,
    deleteAdminVariable: site.remove,
  }
}
