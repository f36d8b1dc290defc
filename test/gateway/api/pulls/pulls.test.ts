/** Pull requests over the API: opened, listed, found, updated, changed. */

import t from 'tap'
import { createLabel } from '../../../../sql/issues/labels.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { refusal } from '../../../helpers/gateway-with-users.js'
import { addPullRepository, type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'
import { sharedGateways } from '../../../helpers/shared-gateways.js'

const gateways = sharedGateways(t)

const NO_CHANGES = 'Invalid PullRequest: There are no changes between the head and the base'
const BUG = {
  name: 'bug',
  color: 'ff0000',
  description: '',
  isExclusive: false,
  isArchived: false,
}
const BODY = { title: 'x', head: 'topic', base: 'main' }
const URL_OF_ONE = `${BASE_URL}/ada/r/pulls/1`

await onOneDatabase(t, 'a pull request is opened and read', async (t, location) => {
  const { of, write, open, copy, bare, db } = await startGatewayWithPull(t, { location })
  const base = await copy.git('rev-parse', 'main')
  const head = await write('topic', 'a')
  const label = await createLabel(db, { repositoryId: 1 }, BUG)
  const opened = await open('topic', {
    title: 'WIP: Topic',
    body: 'Why',
    assignees: ['ada'],
    reviewers: ['bob'],
    labels: [label.id],
    due_date: '2030-01-02T03:04:05Z',
  })
  const branch = (name: string, sha: string) => ({
    label: name,
    ref: name,
    sha,
    repo_id: 1,
    repo: { full_name: 'ada/r' },
  })
  t.match(opened, {
    id: 1,
    number: 1,
    url: URL_OF_ONE,
    html_url: URL_OF_ONE,
    state: 'open',
    diff_url: `${URL_OF_ONE}.diff`,
    patch_url: `${URL_OF_ONE}.patch`,
    title: 'WIP: Topic',
    body: 'Why',
    draft: true,
    mergeable: false,
    merged: false,
    merged_at: null,
    merge_commit_sha: null,
    merged_by: null,
    closed_at: null,
    user: { login: 'ada' },
    assignee: { login: 'ada' },
    assignees: [{ login: 'ada' }],
    requested_reviewers: [{ login: 'bob' }],
    requested_reviewers_teams: null,
    additions: 1,
    deletions: 0,
    changed_files: 1,
    merge_base: base,
    milestone: null,
    labels: [{ name: 'bug', color: 'ff0000' }],
    base: branch('main', base),
    head: branch('topic', head),
    due_date: '2030-01-02T23:59:59Z',
  })
  t.match((await of('anyone', 'GET', '/pulls/1')).json, { number: 1, head: { sha: head } })
  t.equal(await copy.git('ls-remote', bare, 'refs/pull/1/head'), `${head}\trefs/pull/1/head`)
  t.match((await of('ada', 'PATCH', '/pulls/1', { title: 'Topic' })).json, {
    draft: false,
    mergeable: true,
  })
  for (const number of ['2', '0', 'x', '1x', '999999999999999']) {
    t.equal((await of('ada', 'GET', `/pulls/${number}`)).status, 404, number)
  }
})

await gateways.onSqlite('an invalid pull request is refused', async (t, shared) => {
  const { of, as, write, open, copy, bare } = await addPullRepository(t, shared)
  const tip = await write('topic', 'a')
  await copy.git('push', '--quiet', bare, `${tip}:refs/tags/v1`)
  const refused = async (body: Fields, status: number, message: string | RegExp) => {
    const sent = { title: 'x', head: 'topic', base: 'main', ...body }
    const answer = await of('ada', 'POST', '/pulls', sent)
    t.equal(answer.status, status, JSON.stringify(body))
    t.match(answer.json, typeof message === 'string' ? refusal(message) : { message })
  }
  await refused({ title: undefined }, 422, '[Title]: Required')
  await refused({ title: '' }, 422, '[Title]: Required')
  await refused({ head: undefined }, 422, '[Head]: Required')
  await refused({ base: 'topic' }, 422, NO_CHANGES)
  await refused({ head: 'ada:main' }, 422, NO_CHANGES)
  await refused({ head: 'v1' }, 422, 'Invalid PullRequest: base and head must be branches')
  await refused({ base: tip }, 422, 'Invalid PullRequest: base and head must be branches')
  for (const name of ['absent', '-h', '--exec=id', 'a b', 'bob:topic', 'ada:topic:x', 'a:b:c']) {
    await refused({ head: name }, 404, /./)
    await refused({ base: name }, 404, /./)
  }
  await refused({ assignees: ['nobody'] }, 422, 'Assignee does not exist: [name: nobody]')
  await refused({ reviewers: ['nobody'] }, 404, /nobody/)
  await refused({ reviewers: ['ada'] }, 422, /cannot review it/)
  await refused({ milestone: 9 }, 404, /milestone/)
  await refused({ labels: [9] }, 422, /label/)
  t.match(await of('ada', 'GET', '/pulls'), { json: [], headers: { 'x-total-count': '0' } })
  t.equal((await of('anyone', 'POST', '/pulls', {})).status, 401)
  const { id, number } = await open('topic')
  const message =
    `pull request already exists for these targets [id: ${id}, issue_id: 1, head_repo_id: 1, ` +
    'base_repo_id: 1, head_branch: topic, base_branch: main]'
  await refused({}, 409, message)
  await refused({ head: 'ada:topic' }, 409, message)
  t.equal(number, 1, 'the refused one used no number')
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  t.equal((await of('ada', 'POST', '/pulls', BODY)).status, 423)
  t.equal((await of('ada', 'PATCH', '/pulls/1', { title: 'x' })).status, 423)
  await as('ada', 'PATCH', '/repos/ada/r', { archived: false, has_pull_requests: false })
  for (const path of ['/pulls', '/pulls/1', '/pulls/main/topic', '/pulls/1/files']) {
    t.equal((await of('ada', 'GET', path)).status, 404, path)
  }
  t.equal((await of('ada', 'POST', '/pulls', BODY)).status, 404)
})

await gateways.onSqlite(
  'a reader may open a pull request but not set assignees and labels',
  async (t, shared) => {
    const { of, write } = await addPullRepository(t, shared)
    await write('topic', 'a')
    const body = { title: 'x', head: 'topic', base: 'main', assignees: ['ada'], labels: [7] }
    const opened = await of('bob', 'POST', '/pulls', body)
    t.match(opened, { status: 201, json: { user: { login: 'bob' }, assignees: null, labels: [] } })
    const edit = (name: 'ada' | 'bob', fields: Fields) => of(name, 'PATCH', '/pulls/1', fields)
    t.match((await edit('bob', { title: 'y', assignees: ['ada'] })).json, {
      title: 'y',
      assignees: null,
    })
    t.match((await edit('ada', { assignees: ['ada'] })).json, { assignees: [{ login: 'ada' }] })
    t.match((await edit('ada', { assignees: [] })).json, { assignees: null, title: 'y' })
    await of('ada', 'POST', '/pulls', { title: 'ada’s', head: 'main', base: 'topic' })
    t.equal((await of('bob', 'PATCH', '/pulls/2', { title: 'z' })).status, 403)
  },
)

await gateways.onSqlite(
  'an open pull request follows its head, however it is moved',
  async (t, shared) => {
    const { of, write, open, copy, bare } = await addPullRepository(t, shared)
    const first = await write('topic', 'a')
    await open('topic')
    const kept = () => copy.git('ls-remote', bare, 'refs/pull/1/head')
    t.match(await kept(), first)
    const second = await write('topic', 'b')
    const read = async () => (await of('ada', 'GET', '/pulls/1')).json as Fields
    t.match(await read(), { head: { sha: second }, changed_files: 2, mergeable: true })
    t.match(await kept(), second)
    const onMain = await write('main', 'a', 'other\n')
    t.match(await read(), { base: { sha: onMain }, mergeable: false })
    const third = await write('topic', 'a', 'other\n')
    t.match((await of('ada', 'GET', '/pulls')).json, [{ head: { sha: third }, mergeable: true }])
    t.match(await kept(), third)
    await copy.git('push', '--quiet', bare, ':refs/heads/topic')
    t.match(await read(), { head: { sha: third, ref: 'refs/pull/1/head', label: 'topic' } })
    t.match(await kept(), third, 'the head is kept when the branch is deleted')
  },
)

await onOneDatabase(t, 'pull requests are listed by each filter', async (t, location) => {
  const { of, write, open } = await startGatewayWithPull(t, { location })
  await write('other', 'x')
  for (const name of ['a', 'b', 'c', 'd']) await write(name, name)
  for (const name of ['a', 'b', 'c']) await open(name)
  await of('bob', 'POST', '/pulls', { title: 'd', head: 'd', base: 'other' })
  await of('ada', 'PATCH', '/pulls/2', { state: 'closed' })
  const page = async (query: string) => {
    const { status, headers, json } = await of('ada', 'GET', `/pulls${query}`)
    t.equal(status, 200, query)
    const numbers = (json as Fields[]).map(({ number }) => number).join('')
    return [numbers, headers['x-total-count']]
  }
  t.strictSame(await page(''), ['431', '3'])
  t.strictSame(await page('?state=closed'), ['2', '1'])
  t.strictSame(await page('?state=all&sort=oldest'), ['1234', '4'])
  t.strictSame(await page('?state=all&poster=BOB'), ['4', '1'])
  t.strictSame(await page('?base_branch=other'), ['4', '1'])
  t.strictSame(await page('?labels=9'), ['', '0'])
  t.strictSame(await page('?milestone=9'), ['', '0'])
  t.strictSame(await page('?state=all&limit=3&page=2'), ['1', '4'])
  t.equal((await of('ada', 'GET', '/pulls?poster=nobody')).status, 404)
  const { headers, json } = await of('ada', 'GET', '/pulls?state=all&limit=3&sort=oldest')
  const next = `${BASE_URL}/api/v1/repos/ada/r/pulls?state=all&sort=oldest&limit=3&page=2`
  t.equal(headers['link'], `<${next}>; rel="next",<${next}>; rel="last"`)
  t.notOk('additions' in ((json as Fields[])[0] ?? {}), 'counted fields are left out of lists')
})

await onOneDatabase(t, 'a pull request is found by its branches', async (t, location) => {
  const { of, write, open } = await startGatewayWithPull(t, { location })
  await write('release/1', 'x')
  await write('feature/a', 'a')
  await open('feature/a')
  await open('feature/a', { base: 'release/1' })
  const numberOf = async (path: string) => {
    const { status, json } = await of('anyone', 'GET', `/pulls/${path}`)
    return status === 200 ? (json as Fields)['number'] : status
  }
  for (const head of ['feature%2Fa', 'feature/a', 'ada:feature/a']) {
    t.equal(await numberOf(`main/${head}`), 1, head)
    t.equal(await numberOf(`release%2F1/${head}`), 2, head)
    t.equal(await numberOf(`release/1/${head}`), 2, head)
  }
  for (const path of ['main/absent', 'feature/a/main', 'main/bob:feature/a', 'x/-h', 'a/%00']) {
    t.equal(await numberOf(path), 404, path)
  }
})

await gateways.onSqlite(
  'a pull request is changed, closed, reopened and moved to another base',
  async (t, shared) => {
    const { of, write, open } = await addPullRepository(t, shared)
    await write('other', 'x')
    await write('topic', 'a')
    await open('topic')
    const edit = async (fields: Fields) => {
      const { status, json } = await of('ada', 'PATCH', '/pulls/1', fields)
      return [status, json as Fields] as const
    }
    t.match(await edit({ state: 'closed' }), [201, { state: 'closed', mergeable: false }])
    t.match(await edit({ base: 'other' }), [422])
    await open('topic')
    t.match(await edit({ state: 'open' }), [409, { message: /^pull request already exists/ }])
    await of('ada', 'PATCH', '/pulls/2', { state: 'closed' })
    t.match(await edit({ state: 'open' }), [201, { state: 'open', closed_at: null }])
    t.match(await edit({ base: 'other' }), [201, { base: { ref: 'other' } }])
    t.match(await edit({ base: 'absent' }), [404])
    t.match(await edit({ base: 'topic' }), [422])
    await open('topic')
    t.match(await edit({ base: 'main' }), [409])
    t.match(await edit({ due_date: '2030-05-06T00:00:00Z' }), [201, { due_date: /^2030-05-06/ }])
    t.match(await edit({ unset_due_date: true }), [201, { due_date: null }])
    t.match(await edit({ allow_maintainer_edit: true }), [201, { allow_maintainer_edit: true }])
    t.match(await edit({ state: 'x' }), [422])
    t.match(await edit({ title: 'x'.repeat(256) }), [422])
  },
)
