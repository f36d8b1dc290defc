/** Successful requests, one for each operation on organizations, teams, collaborators, topics. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests. Requires ada's repository `r` and the organization `club`. */
export async function successesOfPeople(gateway: GatewayWithUsers) {
  return {
    ...(await successesOfOrganizations(gateway)),
    ...(await successesOfRepositories(gateway)),
    ...(await successesOfTeams(gateway)),
  }
}

async function successesOfOrganizations({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/orgs', { username: 'gone' })
  const shown = '/orgs/club/public_members/ada'
  return {
    orgGetAll: await as('anyone', 'GET', '/orgs'),
    orgListAuditEntries: await as('ada', 'GET', '/orgs/club/audit'),
    orgListCurrentUserOrgs: await as('ada', 'GET', '/user/orgs'),
    orgListUserOrgs: await as('ada', 'GET', '/users/ada/orgs'),
    orgGet: await as('anyone', 'GET', '/orgs/club'),
    orgEdit: await as('ada', 'PATCH', '/orgs/club', { description: 'changed' }),
    orgGetUserPermissions: await as('ada', 'GET', '/users/ada/orgs/club/permissions'),
    renameOrg: await as('ada', 'POST', '/orgs/gone/rename', { new_name: 'going' }),
    orgDelete: await as('ada', 'DELETE', '/orgs/going'),
    orgListMembers: await as('ada', 'GET', '/orgs/club/members'),
    orgIsMember: await as('ada', 'GET', '/orgs/club/members/ada'),
    orgPublicizeMember: await as('ada', 'PUT', shown),
    orgListPublicMembers: await as('anyone', 'GET', '/orgs/club/public_members'),
    orgIsPublicMember: await as('anyone', 'GET', shown),
    orgConcealMember: await as('ada', 'DELETE', shown),
    orgListRepos: await as('anyone', 'GET', '/orgs/club/repos'),
    userSearch: await as('anyone', 'GET', '/users/search?q=ad'),
  }
}

async function successesOfRepositories({ as }: GatewayWithUsers) {
  const { id } = (await as('ada', 'GET', '/repos/ada/r')).json as { id: number }
  const bob = '/repos/ada/r/collaborators/bob'
  const topics = '/repos/ada/r/topics'
  await as('ada', 'POST', '/user/repos', { name: 'started', auto_init: true })
  await as('bob', 'POST', '/repos/ada/started/forks', {})
  for (const name of ['offered', 'refused']) {
    await as('ada', 'POST', '/user/repos', { name })
    await as('ada', 'POST', `/repos/ada/${name}/transfer`, { new_owner: 'bob' })
  }
  return {
    userListRepos: await as('anyone', 'GET', '/users/ada/repos'),
    repoSearch: await as('anyone', 'GET', '/repos/search?q=r'),
    repoGetByID: await as('anyone', 'GET', `/repositories/${id}`),
    repoAddCollaborator: await as('ada', 'PUT', bob, { permission: 'read' }),
    repoListCollaborators: await as('ada', 'GET', '/repos/ada/r/collaborators'),
    repoCheckCollaborator: await as('ada', 'GET', bob),
    repoGetRepoPermissions: await as('ada', 'GET', `${bob}/permission`),
    repoDeleteCollaborator: await as('ada', 'DELETE', bob),
    repoUpdateTopics: await as('ada', 'PUT', topics, { topics: ['engines'] }),
    repoAddTopic: await as('ada', 'PUT', `${topics}/wheels`),
    repoListTopics: await as('anyone', 'GET', topics),
    topicSearch: await as('anyone', 'GET', '/topics/search?q=eng'),
    repoDeleteTopic: await as('ada', 'DELETE', `${topics}/wheels`),
    createFork: await as('bob', 'POST', '/repos/ada/r/forks', { name: 'mine' }),
    repoMergeUpstream: await as('bob', 'POST', '/repos/bob/started/merge-upstream', {}),
    listForks: await as('anyone', 'GET', '/repos/ada/r/forks'),
    repoTransfer: await as('bob', 'POST', '/repos/bob/mine/transfer', { new_owner: 'hall' }),
    acceptRepoTransfer: await as('bob', 'POST', '/repos/ada/offered/transfer/accept'),
    rejectRepoTransfer: await as('bob', 'POST', '/repos/ada/refused/transfer/reject'),
  }
}

async function successesOfTeams({ as }: GatewayWithUsers) {
  const made = await as('ada', 'POST', '/orgs/club/teams', {
    name: 'Workers',
    permission: 'write',
    units: ['repo.code'],
  })
  const { id } = made.json as { id: number }
  const team = `/teams/${id}`
  return {
    orgCreateTeam: made,
    orgListTeams: await as('ada', 'GET', '/orgs/club/teams'),
    teamSearch: await as('ada', 'GET', '/orgs/club/teams/search?q=work'),
    orgGetTeam: await as('ada', 'GET', team),
    orgEditTeam: await as('ada', 'PATCH', team, { description: 'changed' }),
    orgAddTeamMember: await as('ada', 'PUT', `${team}/members/bob`),
    orgListTeamMembers: await as('ada', 'GET', `${team}/members`),
    orgListTeamMember: await as('ada', 'GET', `${team}/members/bob`),
    userListTeams: await as('bob', 'GET', '/user/teams'),
    orgAddTeamRepository: await as('ada', 'PUT', `${team}/repos/club/r`),
    ...(await successesOfTeamsOf(as)),
    orgListTeamRepos: await as('bob', 'GET', `${team}/repos`),
    orgListTeamRepo: await as('bob', 'GET', `${team}/repos/club/r`),
    orgRemoveTeamRepository: await as('ada', 'DELETE', `${team}/repos/club/r`),
    orgRemoveTeamMember: await as('ada', 'DELETE', `${team}/members/bob`),
    orgDeleteMember: await addAndDelete({ as }, team),
    orgDeleteTeam: await as('ada', 'DELETE', team),
  }
}

async function addAndDelete({ as }: Pick<GatewayWithUsers, 'as'>, team: string) {
  await as('ada', 'PUT', `${team}/members/bob`)
  return await as('ada', 'DELETE', '/orgs/club/members/bob')
}

async function successesOfTeamsOf(as: GatewayWithUsers['as']) {
  await as('ada', 'POST', '/orgs/club/teams', { name: 'guests', units: ['repo.code'] })
  const path = '/repos/club/r/teams'
  return {
    repoListTeams: await as('ada', 'GET', path),
    repoAddTeam: await as('ada', 'PUT', `${path}/guests`),
    repoCheckTeam: await as('ada', 'GET', `${path}/guests`),
    repoDeleteTeam: await as('ada', 'DELETE', `${path}/guests`),
  }
}
