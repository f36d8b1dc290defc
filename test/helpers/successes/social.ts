/** Successful requests, one for each operation on stars, watches, notifications and templates. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import { untilAllAreNotified } from '../notified.js'

/** Sends the requests. Requires ada's repository `r`. */
export async function successesOfSocial(gateway: GatewayWithUsers) {
  return {
    ...(await successesOfRelations(gateway)),
    ...(await successesOfFollows(gateway)),
    ...(await successesOfFeeds(gateway)),
    ...(await successesOfNotifications(gateway)),
    ...(await successesOfTemplates(gateway)),
  }
}

async function successesOfRelations({ as }: GatewayWithUsers) {
  const [star, watch] = ['/user/starred/ada/r', '/repos/ada/r/subscription']
  return {
    userCurrentPutStar: await as('bob', 'PUT', star),
    userCurrentCheckStarring: await as('bob', 'GET', star),
    userCurrentListStarred: await as('bob', 'GET', '/user/starred'),
    userListStarred: await as('anyone', 'GET', '/users/bob/starred'),
    repoListStargazers: await as('anyone', 'GET', '/repos/ada/r/stargazers'),
    userCurrentDeleteStar: await as('bob', 'DELETE', star),
    userCurrentPutSubscription: await as('bob', 'PUT', watch),
    userCurrentCheckSubscription: await as('bob', 'GET', watch),
    userCurrentListSubscriptions: await as('bob', 'GET', '/user/subscriptions'),
    userListSubscriptions: await as('anyone', 'GET', '/users/bob/subscriptions'),
    repoListSubscribers: await as('anyone', 'GET', '/repos/ada/r/subscribers'),
    userCurrentDeleteSubscription: await as('bob', 'DELETE', watch),
  }
}

async function successesOfFollows({ as }: GatewayWithUsers) {
  const follow = '/user/following/bob'
  return {
    userCurrentPutFollow: await as('ada', 'PUT', follow),
    userCurrentCheckFollowing: await as('ada', 'GET', follow),
    userCurrentListFollowing: await as('ada', 'GET', '/user/following'),
    userCurrentListFollowers: await as('bob', 'GET', '/user/followers'),
    userListFollowing: await as('anyone', 'GET', '/users/ada/following'),
    userListFollowers: await as('anyone', 'GET', '/users/bob/followers'),
    userCheckFollowing: await as('anyone', 'GET', '/users/ada/following/bob'),
    userCurrentDeleteFollow: await as('ada', 'DELETE', follow),
    ...(await successesOfBlocks(as)),
  }
}

async function successesOfFeeds({ as }: GatewayWithUsers) {
  const [team] = (await as('ada', 'GET', '/orgs/club/teams')).json as { id: number }[]
  return {
    userListActivityFeeds: await as('anyone', 'GET', '/users/ada/activities/feeds'),
    orgListActivityFeeds: await as('anyone', 'GET', '/orgs/club/activities/feeds'),
    orgListTeamActivityFeeds: await as('ada', 'GET', `/teams/${team?.id}/activities/feeds`),
    repoListActivityFeeds: await as('anyone', 'GET', '/repos/ada/r/activities/feeds'),
    userGetHeatmapData: await as('anyone', 'GET', '/users/ada/heatmap'),
  }
}

async function successesOfBlocks(as: GatewayWithUsers['as']) {
  await as('ada', 'POST', '/orgs', { username: 'closed' })
  const [own, ofOrganization] = ['/user/blocks', '/orgs/closed/blocks']
  return {
    userBlockUser: await as('root', 'PUT', `${own}/bob`),
    userCheckUserBlock: await as('root', 'GET', `${own}/bob`),
    userListBlocks: await as('root', 'GET', own),
    userUnblockUser: await as('root', 'DELETE', `${own}/bob`),
    organizationBlockUser: await as('ada', 'PUT', `${ofOrganization}/bob?note=spam`),
    organizationCheckUserBlock: await as('ada', 'GET', `${ofOrganization}/bob`),
    organizationListBlocks: await as('ada', 'GET', ofOrganization),
    organizationUnblockUser: await as('ada', 'DELETE', `${ofOrganization}/bob`),
  }
}

async function successesOfNotifications(gateway: GatewayWithUsers) {
  const { as } = gateway
  const made = await as('ada', 'POST', '/repos/ada/r/issues', { title: 'Look', body: '@bob' })
  const { number } = made.json as { number: number }
  const subscriptions = `/repos/ada/r/issues/${number}/subscriptions`
  await untilAllAreNotified(gateway)
  const list = await as('bob', 'GET', '/notifications')
  const [thread] = list.json as { id: number }[]
  const path = `/notifications/threads/${thread?.id}`
  return {
    issueAddSubscription: await as('root', 'PUT', `${subscriptions}/root`),
    issueSubscriptions: await as('anyone', 'GET', subscriptions),
    issueCheckSubscription: await as('root', 'GET', `${subscriptions}/check`),
    issueDeleteSubscription: await as('root', 'DELETE', `${subscriptions}/root`),
    notifyGetList: list,
    notifyGetRepoList: await as('bob', 'GET', '/repos/ada/r/notifications'),
    notifyNewAvailable: await as('bob', 'GET', '/notifications/new'),
    notifyGetThread: await as('bob', 'GET', path),
    notifyReadThread: await as('bob', 'PATCH', `${path}?to-status=pinned`),
    notifyReadRepoList: await as('bob', 'PUT', '/repos/ada/r/notifications?to-status=unread'),
    notifyReadList: await as('bob', 'PUT', '/notifications?all=true'),
  }
}

async function successesOfTemplates({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'pattern', template: true, auto_init: true })
  const input = { owner: 'bob', name: 'cut', git_content: true }
  return { generateRepo: await as('bob', 'POST', '/repos/ada/pattern/generate', input) }
}
