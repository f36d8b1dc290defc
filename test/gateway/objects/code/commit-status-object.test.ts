/** Commit statuses as JSON, alone and combined. */

import t, { type Test } from 'tap'
import {
  combinedStatusObject,
  commitStatusObject,
} from '../../../../gateway/objects/code/commit-status-object.js'
import type { CommitState, CommitStatus } from '../../../../sql/code/commit-statuses.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aRepository } from '../../../helpers/rows.js'

const COMMIT = 'c'.repeat(40)

const STATUS: CommitStatus = {
  id: 7,
  commitId: COMMIT,
  state: 'warning',
  context: 'build / linux',
  description: 'slow',
  targetUrl: 'https://ci.example.com',
  creator: undefined,
  createdAtMs: 1_790_000_000_999,
}

async function aGrant(t: Test) {
  const { context, fixture } = await openContext(t)
  const made = await aRepository(fixture.db, (await fixture.addUser('ada')).id, 'engine')
  // Not empty, because its folder does not exist and must not be read.
  const repository = { ...made, isEmpty: false }
  const who = { kind: 'anonymous' } as const
  const grant = { who, user: undefined, repository, ...withAccess('read') }
  return { context, grant }
}

t.test('a status whose creator is deleted has all other fields', async (t) => {
  const { context, grant } = await aGrant(t)
  t.match(commitStatusObject(context, grant, STATUS), {
    id: 7,
    status: 'warning',
    context: 'build / linux',
    description: 'slow',
    target_url: 'https://ci.example.com',
    creator: { login: 'Ghost' },
    url: `${BASE_URL}/api/v1/repos/ada/engine/statuses/${COMMIT}`,
    created_at: '2026-09-21T14:13:20Z',
    updated_at: '2026-09-21T14:13:20Z',
  })
})

t.test(
  'the combined state is the most severe of all statuses, not only of the listed ones',
  async (t) => {
    const { context, grant } = await aGrant(t)
    const stateOf = async (...states: readonly CommitState[]) => {
      const combined = { commitId: COMMIT, entries: [STATUS], total: states.length, states }
      const object = await combinedStatusObject(context, grant, combined)
      t.match(object, { sha: COMMIT, total_count: states.length, statuses: [{ id: 7 }] })
      return object.state
    }
    t.equal(await stateOf(), 'pending')
    t.equal(await stateOf('skipped'), 'success')
    t.equal(await stateOf('success', 'skipped'), 'success')
    t.equal(await stateOf('success', 'pending'), 'pending')
    t.equal(await stateOf('pending', 'warning', 'success'), 'pending')
    t.equal(await stateOf('warning', 'success'), 'success')
    t.equal(await stateOf('warning'), 'success')
    t.equal(await stateOf('failure', 'pending', 'warning'), 'failure')
    t.equal(await stateOf('success', 'failure', 'error'), 'error')
  },
)
