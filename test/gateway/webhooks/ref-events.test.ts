/** Webhook events of branches and tags that are created, moved and deleted. */

import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { changeReferences } from '../../../gateway/actions/code/references-moved.js'
import { makeRepository } from '../../../gateway/actions/repositories/create-repository.js'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { BASE_URL, openContext } from '../../helpers/gateway.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ZEROS = '0'.repeat(40)

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: ada,
    creator: ada,
    name: 'library',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    hasReadme: false,
  })
  await aWebhook(fixture.db, { repositoryId: repository.id })
  const path = repositoryPath(fixture.settings.data.dir, repository.storage)
  const copy = await newWorkingCopy(t)
  const push = (...refs: readonly string[]) => copy.git('push', '--quiet', '--force', path, ...refs)
  const deliveriesOf = async (name: string, before?: string, after?: string) => {
    const seen = (await listDeliveredPayloads(fixture.db)).length
    const changes = [{ name, before, after }]
    const key = randomUUID()
    await context.events.record({ kind: 'refs_changed', repository, pusher: ada, changes, key })
    return (await listDeliveredPayloads(fixture.db)).slice(seen)
  }
  return { context, fixture, ada, repository, copy, push, deliveriesOf }
}

t.test('the payload of a push has the newest five commits and the total number', async (t) => {
  const { copy, push, deliveriesOf } = await scene(t)
  const ids: string[] = []
  for (let number = 0; number < 8; number += 1) ids.push(await copy.commit(`file-${number}`))
  await push('main')
  const [first, , , , , , , last] = ids
  const [pushed, ...others] = await deliveriesOf('refs/heads/main', first, last)
  t.strictSame(others, [])
  t.match(pushed, {
    event: 'push',
    payload: {
      ref: 'refs/heads/main',
      before: first,
      after: last,
      total_commits: 7,
      compare_url: `${BASE_URL}/ada/library/compare/${first}...${last}`,
      head_commit: { id: last, url: `${BASE_URL}/ada/library/commit/${last}` },
    },
  })
  const commits = pushed?.payload['commits'] as { id: string; added: string[]; author: object }[]
  t.strictSame(
    commits.map(({ id }) => id),
    [...ids].reverse().slice(0, 5),
  )
  t.match(commits[0], { added: ['file-7'], author: { username: 'ada', email: 'ada@example.com' } })
})

t.test(
  'a new branch causes create and push events, and at most ten commits are counted',
  async (t) => {
    const { copy, push, deliveriesOf } = await scene(t)
    for (let number = 0; number < 12; number += 1) await copy.commit(`file-${number}`)
    await push('main', 'main:refs/heads/side/way')
    const last = await copy.git('rev-parse', 'HEAD')
    t.match(await deliveriesOf('refs/heads/side/way', undefined, last), [
      { event: 'create', payload: { sha: last, ref: 'side/way', ref_type: 'branch' } },
      {
        event: 'push',
        payload: { before: ZEROS, total_commits: 10, compare_url: /compare\/main\.\.\./ },
      },
    ])
    t.match(await deliveriesOf('refs/heads/side/way', last, undefined), [
      { event: 'delete', payload: { ref: 'side/way', ref_type: 'branch', pusher_type: 'user' } },
    ])
  },
)

t.test('the payload of a reset branch has a head commit and no new commits', async (t) => {
  const { copy, push, deliveriesOf } = await scene(t)
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await push('main')
  t.match(await deliveriesOf('refs/heads/main', second, first), [
    { payload: { commits: [], total_commits: 0, head_commit: { id: first } } },
  ])
})

t.test(
  'an annotated tag causes create and push events, and its deletion push and delete',
  async (t) => {
    const { copy, push, deliveriesOf } = await scene(t)
    const commit = await copy.commit('one')
    await copy.git('tag', '-a', '-m', 'first', 'v1')
    const tag = await copy.git('rev-parse', 'v1')
    await push('main', 'v1')
    t.match(await deliveriesOf('refs/tags/v1', undefined, tag), [
      { event: 'create', payload: { sha: tag, ref: 'v1', ref_type: 'tag' } },
      {
        event: 'push',
        payload: { ref: 'refs/tags/v1', after: tag, commits: [], head_commit: { id: commit } },
      },
    ])
    t.match(await deliveriesOf('refs/tags/v1', tag, undefined), [
      { event: 'push', payload: { before: tag, after: ZEROS, head_commit: null } },
      { event: 'delete', payload: { ref: 'v1', ref_type: 'tag' } },
    ])
  },
)

t.test('refs of pull requests and of deleted repositories cause no event', async (t) => {
  const { ada, copy, push, deliveriesOf, fixture, repository, context } = await scene(t)
  const commit = await copy.commit('one')
  await push('main')
  t.strictSame(await deliveriesOf('refs/pull/1/head', undefined, commit), [])
  await fixture.db('repositories').where({ id: repository.id }).delete()
  const changes = [{ name: 'refs/heads/main', before: undefined, after: commit }]
  const event = { kind: 'refs_changed', repository, pusher: ada, changes, key: 'k' } as const
  await context.events.record(event)
  t.strictSame(await listDeliveredPayloads(fixture.db), [])
})

t.test('a ref that is changed over the API causes the events of a push', async (t) => {
  const { context, fixture, ada, repository, copy, push } = await scene(t)
  const commit = await copy.commit('one')
  await push('main')
  const path = repositoryPath(fixture.settings.data.dir, repository.storage)
  const changes = [{ name: 'refs/heads/side', before: undefined, after: commit }]
  await changeReferences(context, { repository, path, pusher: ada, changes })
  t.match(await listDeliveredPayloads(fixture.db), [
    { event: 'create', payload: { ref: 'side' } },
    { event: 'push', payload: { after: commit } },
  ])
})
