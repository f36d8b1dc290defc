/** Access to issues: enabled units, and permissions of authors and users with write access. */

import t from 'tap'
import {
  isServed,
  issueOf,
  numberOf,
  refuseLocked,
  refuseOthers,
  servedKind,
  titleOf,
} from '../../../../gateway/actions/issues/issue-access.js'
import { createIssue } from '../../../../sql/issues/issues.js'
import { openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aRepository } from '../../../helpers/rows.js'

async function anIssue(t: Parameters<typeof openContext>[0]) {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const repository = await aRepository(fixture.db, ada.id, 'r')
  const issue = await createIssue(fixture.db, {
    repositoryId: repository.id,
    isPull: false,
    title: 'x',
    content: '',
    authorId: bob.id,
  })
  const who = { kind: 'anonymous' } as const
  return { context, ada, bob, issue, grant: { who, repository, user: bob } }
}

t.test('issues and pull requests can be disabled separately', async (t) => {
  const { context, grant, issue } = await anIssue(t)
  const { repository } = grant
  const kinds = (preferences: Record<string, boolean>) => {
    const changed = { ...repository, preferences }
    const kind = (wanted?: string) => {
      try {
        return servedKind({ repository: changed, ...withAccess('read') }, wanted) ?? 'both'
      } catch {
        return 'none'
      }
    }
    t.equal(isServed(changed, { isPull: false }), kind('issues') === false)
    t.equal(isServed(changed, { isPull: true }), kind('pulls') === true)
    return kind()
  }
  t.equal(kinds({}), 'both')
  t.equal(kinds({ has_issues: false }), true)
  t.equal(kinds({ has_pull_requests: false }), false)
  t.equal(kinds({ has_issues: false, has_pull_requests: false }), 'none')
  const read = { ...grant, ...withAccess('read') }
  t.strictSame(await issueOf(context, read, { index: '1' }), issue)
  const off = { ...read, repository: { ...repository, preferences: { has_issues: false } } }
  const notFound = { failure: 'not_found', message: 'not found' }
  await t.rejects(issueOf(context, off, { index: '1' }), notFound)
  for (const index of ['2', '1x', '-1', '', '0x1']) {
    await t.rejects(issueOf(context, read, { index }), notFound, index)
  }
  t.equal(numberOf({ id: '12' }, 'id'), 12)
})

t.test('authors can change their own issues, and users with write access all issues', async (t) => {
  const { ada, grant, issue } = await anIssue(t)
  const by = (user: typeof ada | undefined, mode: 'read' | 'write') => ({
    ...grant,
    user,
    ...withAccess(mode),
  })
  refuseOthers(by(grant.user, 'read'), issue)
  refuseOthers(by(ada, 'write'), issue)
  const others = { failure: 'forbidden', message: /author/ } as unknown as Error
  t.throws(() => refuseOthers(by(ada, 'read'), issue), others)
  t.throws(() => refuseOthers(by(undefined, 'read'), { authorId: undefined }), others)
  refuseLocked(by(ada, 'read'), issue)
  refuseLocked(by(ada, 'write'), { ...issue, isLocked: true })
  const locked = { failure: 'forbidden', message: /locked/ } as unknown as Error
  t.throws(() => refuseLocked(by(grant.user, 'read'), { ...issue, isLocked: true }), locked)
})

t.test('a title is trimmed, limited in characters, and free of control characters', async (t) => {
  t.equal(titleOf(' näive\n'), 'näive')
  t.equal(titleOf('𝄞'.repeat(255)), '𝄞'.repeat(255))
  for (const text of ['', ' ', 'a\tb', 'a\u0007', 'x'.repeat(256)]) {
    t.throws(() => titleOf(text), { message: /title|Title/ })
  }
})
