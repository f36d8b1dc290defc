/** Successful requests, one for each operation of administrators and on the server's settings. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import { aKeyLine } from '../ssh-keys.js'

/** Sends the requests. Leaves only bob's organization `hall`. */
export async function successesOfAdmins({ as }: GatewayWithUsers) {
  const made = await as('root', 'POST', '/admin/users', {
    username: 'eve',
    email: 'eve@example.com',
    password: 'password of eve',
  })
  const key = { title: 'k', key: aKeyLine() }
  const added = await as('root', 'POST', '/admin/users/eve/keys', key)
  const { id } = added.json as { id: number }
  return {
    adminCreateUser: made,
    adminSearchUsers: await as('root', 'GET', '/admin/users'),
    adminEditUser: await as('root', 'PATCH', '/admin/users/eve', { full_name: 'Eve' }),
    adminCreatePublicKey: added,
    adminDeleteUserPublicKey: await as('root', 'DELETE', `/admin/users/eve/keys/${id}`),
    adminCreateRepo: await as('root', 'POST', '/admin/users/eve/repos', { name: 'hers' }),
    adminRenameUser: await as('root', 'POST', '/admin/users/eve/rename', { new_username: 'eva' }),
    adminDeleteUser: await as('root', 'DELETE', '/admin/users/eva?purge=true'),
    adminCreateOrg: await as('root', 'POST', '/admin/users/bob/orgs', { username: 'hall' }),
    adminListAuditEntries: await as('root', 'GET', '/admin/audit'),
    userListAuditEntries: await as('ada', 'GET', '/user/audit'),
    adminCronList: await as('root', 'GET', '/admin/cron'),
    adminCronRun: await as('root', 'POST', '/admin/cron/sweep-runs'),
    adminGetAllOrgs: await as('root', 'GET', '/admin/orgs'),
    getGeneralAPISettings: await as('anyone', 'GET', '/settings/api'),
    getGeneralRepositorySettings: await as('anyone', 'GET', '/settings/repository'),
    getGeneralAttachmentSettings: await as('anyone', 'GET', '/settings/attachment'),
    getGeneralUISettings: await as('anyone', 'GET', '/settings/ui'),
    listGitignoresTemplates: await as('anyone', 'GET', '/gitignore/templates'),
    listLabelTemplates: await as('anyone', 'GET', '/label/templates'),
    listLicenseTemplates: await as('anyone', 'GET', '/licenses'),
    getGitignoreTemplateInfo: await as('anyone', 'GET', '/gitignore/templates/Go'),
    getLabelTemplateInfo: await as('anyone', 'GET', '/label/templates/Default'),
    getLicenseTemplateInfo: await as('anyone', 'GET', '/licenses/MIT'),
    getNodeInfo: await as('anyone', 'GET', '/nodeinfo'),
    getUserSettings: await as('ada', 'GET', '/user/settings'),
    updateUserSettings: await as('ada', 'PATCH', '/user/settings', { theme: 'dark' }),
    userListEmails: await as('ada', 'GET', '/user/emails'),
    userAddEmail: await as('ada', 'POST', '/user/emails', { emails: ['ada@work.example'] }),
    adminGetAllEmails: await as('root', 'GET', '/admin/emails'),
    adminSearchEmails: await as('root', 'GET', '/admin/emails/search?q=ada'),
    userDeleteEmail: await as('ada', 'DELETE', '/user/emails', { emails: ['ada@work.example'] }),
  }
}
