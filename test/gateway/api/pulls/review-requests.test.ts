/** Review requests over the API: permitted reviewers and callers, until the review is written. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'

t.test("a user's review is requested once until they have reviewed", async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  await write('topic', 'a')
  await open('topic')
  const ask = (reviewers: readonly string[], name: 'ada' | 'bob' = 'ada') =>
    of(name, 'POST', '/pulls/1/requested_reviewers', { reviewers })
  const asked = async () => {
    const { json } = await of('anyone', 'GET', '/pulls/1')
    const people = (json as { requested_reviewers: Fields[] | null }).requested_reviewers
    return people?.map(({ login }) => login) ?? null
  }
  t.strictSame(await asked(), null)
  const first = await ask(['Bob', 'root', 'bob'])
  t.match(first, {
    status: 201,
    json: [
      { state: 'REQUEST_REVIEW', user: { login: 'bob' }, official: false, stale: false },
      { state: 'REQUEST_REVIEW', user: { login: 'root' }, official: true },
    ],
  })
  t.match(await ask(['bob']), { status: 201, json: [] }, 'an existing request is not repeated')
  t.strictSame(await asked(), ['bob', 'root'])
  await of('bob', 'POST', '/pulls/1/reviews', { event: 'APPROVED' })
  t.strictSame(await asked(), ['root'])
  const back = { reviewers: ['root', 'bob'] }
  t.equal((await of('ada', 'DELETE', '/pulls/1/requested_reviewers', back)).status, 204)
  t.strictSame(await asked(), null)
  t.match((await of('ada', 'GET', '/pulls/1/reviews')).json, [{ state: 'APPROVED' }])
})

t.test('review requests by callers and for users without permission are refused', async (t) => {
  const { of, as, write, open } = await startGatewayWithPull(t)
  await write('topic', 'a')
  await open('topic')
  const status = async (method: string, body: Fields, name: 'ada' | 'bob' | 'anyone' = 'ada') =>
    (await of(name, method, '/pulls/1/requested_reviewers', body)).status
  for (const method of ['POST', 'DELETE']) {
    t.equal(await status(method, { reviewers: ['root'] }, 'anyone'), 401)
    t.equal(await status(method, { reviewers: ['root'] }, 'bob'), 403)
    t.equal(await status(method, { reviewers: ['nobody'] }), 404)
    t.equal(await status(method, { team_reviewers: ['team'] }), 422)
    t.equal(await status(method, { reviewers: 'root' }), 422)
  }
  t.equal(await status('POST', { reviewers: ['ada'] }), 422, 'the author of the pull request')
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal(await status('POST', { reviewers: ['bob'] }), 422, 'a user without read permission')
})

await onOneDatabase(
  t,
  "a team's review is requested until a member has decided",
  async (t, location) => {
    const { as, write, addOrganization, ada } = await startGatewayWithPull(t, { location })
    await write('topic', 'a')
    await addOrganization('club', ada)
    await as('ada', 'POST', '/repos/ada/r/transfer', { new_owner: 'club' })
    const team = async (name: string, fields: Fields = {}) => {
      const { json } = await as('ada', 'POST', '/orgs/club/teams', { name, ...fields })
      return (json as { id: number }).id
    }
    const crew = await team('Crew', { permission: 'write', includes_all_repositories: true })
    await team('Away')
    await as('ada', 'PUT', `/teams/${crew}/members/bob`)
    const pulls = (method: string, path: string, body?: unknown, name: 'ada' | 'bob' = 'ada') =>
      as(name, method, `/repos/club/r/pulls${path}`, body)
    const ask = async (method: string, ...names: readonly string[]) =>
      await pulls(method, '/1/requested_reviewers', { team_reviewers: names })
    const sent = { title: 'x', head: 'topic', base: 'main', team_reviewers: ['owners'] }
    t.match((await pulls('POST', '', sent)).json, {
      requested_reviewers: null,
      requested_reviewers_teams: [{ name: 'Owners' }],
    })
    const asked = await ask('POST', 'crew', 'CREW')
    t.match(asked, {
      status: 201,
      json: [{ state: 'REQUEST_REVIEW', user: null, official: true, team: { name: 'Crew' } }],
    })
    t.match(
      await ask('POST', 'Crew'),
      { status: 201, json: [] },
      'an existing request is not repeated',
    )
    t.equal((await ask('POST', 'none')).status, 404)
    t.equal((await ask('POST', 'Away')).status, 422, 'the team cannot read the repository')
    const waiting = async () => {
      const { json } = await pulls('GET', '/1')
      const teams = (json as { requested_reviewers_teams: Fields[] | null })[
        'requested_reviewers_teams'
      ]
      return teams?.map(({ name }) => name) ?? null
    }
    t.strictSame(await waiting(), ['Owners', 'Crew'])
    await pulls('POST', '/1/reviews', { event: 'COMMENT', body: 'Hm' }, 'bob')
    t.strictSame(await waiting(), ['Owners', 'Crew'], 'a comment does not end a request')
    await pulls('POST', '/1/reviews', { event: 'APPROVED' }, 'bob')
    t.strictSame(await waiting(), ['Owners'], 'bob is in one of the teams')
    t.equal((await ask('DELETE', 'Owners', 'Crew')).status, 204)
    t.strictSame(await waiting(), null)
    await ask('POST', 'Crew')
    await as('ada', 'DELETE', `/teams/${crew}`)
    t.strictSame(await waiting(), null)
    t.match((await pulls('GET', '/1/reviews')).json, [{ state: 'COMMENT' }, { state: 'APPROVED' }])
  },
)
