/** Teams whose units differ, over the API: packages, lists, notifications and releases. */

import { type Test, t } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { createIssue } from '../../../../sql/issues/issues.js'
import { notifyUsers } from '../../../../sql/notifications/notifications.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

type Fields = Record<string, unknown>

/** Starts a gateway with the private repository club/r, an issue, a pull request and a team. */
async function aClub(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as, ada, bob, db, addOrganization } = gateway
  await addOrganization('club', ada, 'private')
  await as('ada', 'POST', '/orgs/club/repos', { name: 'r', private: true, auto_init: true })
  const repository = await findRepository(db, 'club', 'r')
  if (repository === undefined) throw new Error('The repository is missing.')
  for (const isPull of [false, true]) {
    const title = isPull ? 'a pull request' : 'an issue'
    const place = { repositoryId: repository.id, isPull, authorId: ada.id }
    const { id: issueId } = await createIssue(db, { ...place, title, content: 'content' })
    const about = { issueId, isPull, to: 'everybody' } as const
    await notifyUsers(db, [bob.id], { repository, actorId: ada.id, about })
    await as('ada', 'POST', `/repos/club/r/issues/${isPull ? 2 : 1}/comments`, { body: title })
  }
  const made = await as('ada', 'POST', '/orgs/club/teams', {
    name: 'team',
    includes_all_repositories: true,
  })
  const path = `/teams/${(made.json as Fields)['id']}`
  await as('ada', 'PUT', `${path}/members/bob`)
  /** Gives bob's team these units. */
  const hold = async (units: Readonly<Record<string, string>>) => {
    const named = Object.fromEntries(
      Object.entries(units).map(([unit, level]) => [`repo.${unit}`, level]),
    )
    t.equal((await as('ada', 'PATCH', path, { permission: 'read', units_map: named })).status, 200)
  }
  return { ...gateway, hold }
}

await onOneDatabase(t, 'a team publishes packages by its unit packages', async (t, location) => {
  const { ask, as, authorizationOf, hold } = await aClub(t, location)
  const put = async (version: string) => {
    const path = `/api/packages/club/generic/tool/${version}/file`
    const authorization = authorizationOf('bob')
    return (await ask({ method: 'PUT', path, body: 'x', authorization })).status
  }
  await hold({ packages: 'write', code: 'read' })
  t.equal(await put('1'), 201)
  t.equal((await as('bob', 'GET', '/repos/club/r/contents')).status, 200)
  await hold({ packages: 'write' })
  t.equal(await put('2'), 201)
  t.equal((await as('bob', 'GET', '/repos/club/r')).status, 404, 'packages show no repository')
  t.strictSame((await as('bob', 'GET', '/orgs/club/repos')).json, [])
  for (const units of [{ packages: 'read' }, { packages: 'none' }, { code: 'write' }]) {
    await hold(units as Record<string, string>)
    t.equal(await put('3'), 401, JSON.stringify(units))
    t.equal((await as('bob', 'GET', '/packages/club')).status, 200, 'members read packages')
  }
})

await onOneDatabase(
  t,
  'lists, searches and notifications have the issues or pull requests that the team can read',
  async (t, location) => {
    const { as, hold } = await aClub(t, location)
    const titles = async (path: string) => {
      const { status, json } = await as('bob', 'GET', path)
      if (status !== 200) return status
      return (json as Fields[])
        .map(
          (entry) =>
            (entry['subject'] as Fields | undefined)?.['title'] ?? entry['title'] ?? entry['body'],
        )
        .sort()
    }
    const issue = ['an issue']
    const pull = ['a pull request']
    const lists = async () => [
      await titles('/repos/club/r/issues?type='),
      await titles('/repos/club/r/issues/comments'),
      await titles('/repos/issues/search'),
      await titles('/notifications?all=true'),
    ]
    const sameIn = (entries: readonly string[]) => [entries, entries, entries, entries]
    await hold({ issues: 'write', code: 'read' })
    t.strictSame(await lists(), sameIn(issue))
    t.equal(await titles('/repos/club/r/issues?type=pulls'), 404)
    t.equal((await as('bob', 'GET', '/repos/club/r/issues/2')).status, 404)
    t.equal((await as('bob', 'GET', '/repos/club/r/pulls/2')).status, 404)
    t.equal((await as('bob', 'GET', '/repos/club/r/issues/comments/2')).status, 404)
    const add = (number: number) =>
      as('bob', 'PUT', `/repos/club/r/issues/${number}/lock`, { lock_reason: 'spam' })
    t.equal((await add(1)).status, 204, 'issues are written')
    t.equal((await add(2)).status, 404)
    const file = { content: '', message: 'm' }
    t.equal((await as('bob', 'POST', '/repos/club/r/contents/f', file)).status, 403)
    await hold({ pulls: 'read', code: 'read' })
    t.strictSame(await lists(), sameIn(pull))
    t.equal((await as('bob', 'POST', '/repos/club/r/issues', { title: 't' })).status, 404)
    await hold({ pulls: 'read', issues: 'read', code: 'read' })
    t.strictSame(await lists(), sameIn([...pull, ...issue]))
    await hold({ releases: 'write', actions: 'write' })
    t.strictSame(await lists(), [404, 404, [], []])
    await hold({ pulls: 'write' })
    t.strictSame(await lists(), [404, 404, [], []], 'no pull requests without code')
  },
)

await onOneDatabase(
  t,
  'a team that writes releases needs write access to code for new tags',
  async (t, location) => {
    const { as, hold } = await aClub(t, location)
    await as('ada', 'POST', '/repos/club/r/tags', { tag_name: 'v1' })
    const release = (tag: string) =>
      as('bob', 'POST', '/repos/club/r/releases', { tag_name: tag, name: tag })
    await hold({ releases: 'write' })
    t.equal((await release('v1')).status, 201)
    const refused = await release('v2')
    t.match(refused, { status: 403, json: { message: /tag v2 does not exist/ } })
    t.equal((await as('bob', 'GET', '/repos/club/r/tags')).status, 404)
    t.equal((await as('bob', 'GET', '/repos/club/r/archive/v1.zip')).status, 404)
    await hold({ releases: 'write', code: 'write' })
    t.equal((await release('v2')).status, 201)
    await hold({ code: 'write' })
    t.equal((await release('v3')).status, 404)
    t.equal((await as('bob', 'GET', '/repos/club/r/releases')).status, 404)
  },
)
