/** Activity feeds and heatmaps over the API. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { type Name, startGatewayWithUsers, visible } from '../../../helpers/gateway-with-users.js'

interface Entry {
  readonly op_type: string
  readonly act_user: { readonly login: string }
  readonly repo: { readonly full_name: string }
  readonly ref_name: string
  readonly content: string
}

/** Starts a gateway with a function that returns the entries of a feed as texts. */
async function startFixture(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const feed = async (name: Name, path: string) => {
    const { status, json, headers } = await gateway.as(name, 'GET', path)
    t.equal(status, 200, path)
    const entries = json as readonly Entry[]
    t.equal(headers['x-total-count'], String(entries.length), path)
    return entries.map(({ op_type, act_user, repo, ref_name, content }) =>
      [op_type, act_user.login, repo.full_name, ref_name, content].join(' ').trim(),
    )
  }
  return { ...gateway, feed }
}

await onOneDatabase(
  t,
  'the activities of users are recorded, and listed newest first',
  async (t, location) => {
    const { as, feed } = await startFixture(t, location)
    const repo = '/repos/ada/r'
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    const file = { content: Buffer.from('x').toString('base64'), branch: 'main' }
    await as('ada', 'POST', `${repo}/contents/a.txt`, file)
    await as('ada', 'POST', `${repo}/branches`, { new_branch_name: 'side' })
    await as('ada', 'PUT', `${repo}/contents/b.txt`, { ...file, branch: 'side' })
    await as('bob', 'POST', `${repo}/issues`, { title: 'Look', body: 'here' })
    await as('ada', 'POST', `${repo}/issues/1/comments`, { body: 'I see' })
    await as('ada', 'PATCH', `${repo}/issues/1`, { state: 'closed' })
    await as('ada', 'PATCH', `${repo}/issues/1`, { title: 'Another title' })
    await as('ada', 'PATCH', `${repo}/issues/1`, { state: 'open' })
    await as('ada', 'POST', `${repo}/pulls`, { title: 'Take', head: 'side', base: 'main' })
    await as('bob', 'POST', `${repo}/pulls/2/reviews`, { event: 'APPROVED', body: 'Yes' })
    await as('ada', 'POST', `${repo}/pulls/2/merge`, { Do: 'merge' })
    await as('ada', 'POST', `${repo}/releases`, { tag_name: 'v1', name: 'First' })
    await as('bob', 'POST', `${repo}/forks`, {})
    await as('ada', 'DELETE', `${repo}/branches/side`)
    const opened = 'create_issue bob ada/r  1|Look'
    const approved = 'approve_pull_request bob ada/r  2|Yes'
    const all = [
      'delete_branch ada ada/r refs/heads/side',
      'publish_release ada ada/r refs/tags/v1 First',
      'push_tag ada ada/r refs/tags/v1',
      'merge_pull_request ada ada/r  2|Take',
      'commit_repo ada ada/r refs/heads/main',
      approved,
      'create_pull_request ada ada/r  2|Take',
      'reopen_issue ada ada/r  1|Another title',
      'close_issue ada ada/r  1|Look',
      'comment_issue ada ada/r  1|I see',
      opened,
      'commit_repo ada ada/r refs/heads/side',
      'commit_repo ada ada/r refs/heads/side',
      'commit_repo ada ada/r refs/heads/main',
      'create_repo ada ada/r',
    ]
    t.strictSame(await feed('anyone', `${repo}/activities/feeds`), all)
    t.strictSame(await feed('anyone', '/users/ada/activities/feeds'), all)
    const own = '/users/ada/activities/feeds?only-performed-by=true'
    t.strictSame(
      await feed('anyone', own),
      all.filter((entry) => entry !== opened && entry !== approved),
    )
    const forked = 'create_repo bob bob/r'
    t.strictSame(await feed('bob', '/users/bob/activities/feeds'), [forked, approved, opened])
    const today = new Date().toISOString().slice(0, 10)
    t.strictSame(await feed('bob', `/users/bob/activities/feeds?date=${today}`), [
      forked,
      approved,
      opened,
    ])
    t.strictSame(await feed('bob', '/users/bob/activities/feeds?date=2001-02-03'), [])
    const heatmap = (await as('anyone', 'GET', '/users/bob/heatmap')).json as {
      timestamp: number
      contributions: number
    }[]
    t.equal(
      heatmap.reduce((sum, { contributions }) => sum + contributions, 0),
      3,
    )
    for (const { timestamp } of heatmap) t.equal(timestamp % 900, 0)
  },
)

await onOneDatabase(
  t,
  'activities in repositories that the caller cannot read are left out',
  async (t, location) => {
    const { as, feed, db, ada } = await startFixture(t, location)
    await as('ada', 'POST', '/orgs', { username: 'club' })
    await as('ada', 'POST', '/orgs/club/repos', { name: 'hidden', private: true })
    await as('ada', 'POST', '/orgs/club/repos', { name: 'seen' })
    const [hidden, seen] = ['create_repo ada club/hidden', 'create_repo ada club/seen']
    const teams = (await as('ada', 'GET', '/orgs/club/teams')).json as { id: number }[]
    const path = '/activities/feeds'
    for (const place of ['/users/ada', '/orgs/club']) {
      t.strictSame(await feed('ada', `${place}${path}`), [seen, hidden])
      t.strictSame(await feed('root', `${place}${path}`), [seen, hidden])
      t.strictSame(await feed('bob', `${place}${path}`), [seen])
      t.strictSame(await feed('anyone', `${place}${path}`), [seen])
    }
    t.strictSame(await feed('ada', `/teams/${teams[0]?.id}${path}`), [seen, hidden])
    t.equal((await as('bob', 'GET', `/teams/${teams[0]?.id}${path}`)).status, 404)
    const missing = await as('bob', 'GET', `/repos/club/absent${path}`)
    t.strictSame(visible(await as('bob', 'GET', `/repos/club/hidden${path}`)), visible(missing))

    await as('ada', 'PATCH', '/user/settings', { hide_activity: true })
    t.strictSame(await feed('bob', `/users/ada${path}`), [])
    t.strictSame((await as('bob', 'GET', '/users/ada/heatmap')).json, [])
    t.strictSame(await feed('ada', `/users/ada${path}`), [seen, hidden])
    await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
    for (const place of [path, '/heatmap']) {
      const absent = await as('bob', 'GET', `/users/absent${place}`)
      t.equal(absent.status, 404)
      t.strictSame(visible(await as('bob', 'GET', `/users/ada${place}`)), visible(absent), place)
    }
  },
)
