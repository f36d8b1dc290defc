/** Successful requests, one for each operation on webhooks. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

const HOOK = {
  type: 'gitea',
  config: { url: 'https://hooks.example.org/', content_type: 'json', secret: 'secret' },
  events: ['push', 'issues'],
  active: true,
}

/** Sends the requests for ada, her repository `r` and her organization `hooked`. */
export async function successesOfHooks({ as, addOrganization, ada }: GatewayWithUsers) {
  await addOrganization('hooked', ada)
  const of = async (path: string) => {
    const caller = path.startsWith('/admin/') ? 'root' : 'ada'
    const made = await as(caller, 'POST', path, HOOK)
    const { id } = made.json as { id: number }
    const patch = { config: { content_type: 'form' } }
    return {
      made,
      id,
      list: await as(caller, 'GET', `${path}?type=all`),
      get: await as(caller, 'GET', `${path}/${id}`),
      edit: await as(caller, 'PATCH', `${path}/${id}`, patch),
    }
  }
  const repository = await of('/repos/ada/r/hooks')
  const organization = await of('/orgs/hooked/hooks')
  const user = await of('/user/hooks')
  const site = await of('/admin/hooks')
  const tested = await as('ada', 'POST', `/repos/ada/r/hooks/${repository.id}/tests`)
  const removal = (path: string, { id }: { id: number }) => as('ada', 'DELETE', `${path}/${id}`)
  return {
    repoCreateHook: repository.made,
    repoListHooks: repository.list,
    repoGetHook: repository.get,
    repoEditHook: repository.edit,
    repoTestHook: tested,
    repoDeleteHook: await removal('/repos/ada/r/hooks', repository),
    orgCreateHook: organization.made,
    orgListHooks: organization.list,
    orgGetHook: organization.get,
    orgEditHook: organization.edit,
    orgDeleteHook: await removal('/orgs/hooked/hooks', organization),
    adminCreateHook: site.made,
    adminListHooks: site.list,
    adminGetHook: site.get,
    adminEditHook: site.edit,
    adminDeleteHook: await as('root', 'DELETE', `/admin/hooks/${site.id}`),
    userCreateHook: user.made,
    userListHooks: user.list,
    userGetHook: user.get,
    userEditHook: user.edit,
    userDeleteHook: await removal('/user/hooks', user),
  }
}
