/** Branch objects have the viewer's permissions. */

import t from 'tap'
import { parseCommit } from '../../../../cgi/objects/commit-object.js'
import { BRANCH, branchObjects } from '../../../../gateway/objects/code/branch-object.js'
import { openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aRepository } from '../../../helpers/rows.js'

t.test(
  'users with write permission may push and merge unless the repository is archived',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const ada = await fixture.addUser('ada')
    const repository = await aRepository(fixture.db, ada.id, 'r')
    const commit = parseCommit('1'.repeat(40), Buffer.from('tree x\n\nTitle\n'))
    const seen = async (mode: 'read' | 'write', isArchived = false) => {
      const who = { kind: 'anonymous' } as const
      const of = { ...repository, isArchived }
      const grant = { who, user: undefined, repository: of, ...withAccess(mode) }
      const [branch] = await branchObjects(context, grant, [{ name: 'main', commit }])
      t.strictSame(Object.keys(branch ?? {}).sort(), Object.keys(BRANCH.properties).sort())
      return [branch?.name, branch?.user_can_push, branch?.user_can_merge]
    }
    t.strictSame(await seen('read'), ['main', false, false])
    t.strictSame(await seen('write'), ['main', true, true])
    t.strictSame(await seen('write', true), ['main', false, false])
  },
)
