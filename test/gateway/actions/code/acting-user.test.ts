/** The acting user of a change, which anonymous clients and archived repositories do not permit. */

import t from 'tap'
import { actingUserOf } from '../../../../gateway/actions/code/acting-user.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'

t.test('changes by anonymous clients and in archived repositories are refused', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: ada,
    creator: ada,
    name: 'r',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    hasReadme: false,
  })
  const grant = { who: { kind: 'anonymous' } as const, ...withAccess('read') }
  t.equal(actingUserOf({ ...grant, repository, user: ada }), ada)
  const refused = (changes: object) => () =>
    actingUserOf({ ...grant, repository: { ...repository, ...changes }, user: undefined })
  t.throws(refused({}), { failure: 'sign_in_required' } as Error & { failure: string })
  const archived = { ...repository, isArchived: true }
  t.throws(() => actingUserOf({ ...grant, repository: archived, user: ada }), {
    message: 'repo is archived',
  })
})
