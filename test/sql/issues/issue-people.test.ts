/** Users of an issue: assignees, mentions, and assignable users. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  addIssueAssignees,
  assigneesOfIssues,
  listAssignable,
  noteMentions,
  replaceIssueAssignees,
} from '../../../sql/issues/issue-people.js'
import { createIssue } from '../../../sql/issues/issues.js'
import { accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aCollaborator, anOrganization, aRepository, aTeam, aUser } from '../../helpers/rows.js'

async function anIssue(db: Database) {
  const [ada, bob, eve] = [await aUser(db, 'ada'), await aUser(db, 'bob'), await aUser(db, 'eve')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const fields = { title: 't', content: '', authorId: ada.id }
  const issue = await createIssue(db, { ...fields, repositoryId, isPull: false })
  return { ada, bob, eve, issue }
}

await forEachMigrated(t, 'assignees are replaced as a whole', async (t, db) => {
  const { ada, bob, eve, issue } = await anIssue(db)
  const names = async () =>
    ((await assigneesOfIssues(db, [issue.id])).get(issue.id) ?? []).map(({ name }) => name).join()
  await addIssueAssignees(db, issue.id, [ada.id, bob.id, ada.id])
  await addIssueAssignees(db, issue.id, [ada.id])
  t.equal(await names(), 'ada,bob')
  t.strictSame(await replaceIssueAssignees(db, issue.id, [eve.id, bob.id]), {
    assigned: [eve.id],
    unassigned: [ada.id],
  })
  t.equal(await names(), 'bob,eve')
  await replaceIssueAssignees(db, issue.id, [])
  t.equal(await names(), '')
  t.equal((await assigneesOfIssues(db, [])).size, 0)
})

await forEachMigrated(
  t,
  'a mention is a name after an at sign at the start of a word',
  async (t, db) => {
    const { ada, bob, eve, issue } = await anIssue(db)
    const mentioned = async (text: string) => {
      await db('issue_mentions').delete()
      await noteMentions(db, issue.id, text)
      const rows: readonly { user_id: number }[] = await db('issue_mentions').orderBy('user_id')
      return rows.map((row) => row.user_id)
    }
    t.strictSame(await mentioned('@ADA, (@bob). @ada'), [ada.id, bob.id])
    t.strictSame(await mentioned('@eve.'), [eve.id], 'a full stop is not part of a name')
    t.strictSame(await mentioned('me@ada x/@bob @@eve @nobody @-ada'), [])
    t.strictSame(await mentioned(`${'@x'.repeat(100_000)} ${'@'.repeat(100_000)}`), [])
    await noteMentions(db, issue.id, '@ada')
    await noteMentions(db, issue.id, '@ada @bob')
    t.equal((await db('issue_mentions')).length, 2, 'each once')
  },
)

await forEachMigrated(t, 'assignable users are exactly those who may write', async (t, db) => {
  const names = ['ada', 'bob', 'eve', 'kim', 'lee', 'max', 'ned', 'off']
  const users = []
  for (const name of names) users.push(await aUser(db, name))
  const [ada, bob, eve, kim, lee, max, ned, off] = users as Awaited<ReturnType<typeof aUser>>[]
  if (!ada || !bob || !eve || !kim || !lee || !max || !ned || !off) throw new Error('eight users')
  const club = await anOrganization(db, 'club', ada.id)
  const ofClub = await aRepository(db, club.id, 'engine')
  const ofBob = await aRepository(db, bob.id, 'notes', { isPrivate: true })
  const team = { organizationId: club.id, includesAll: true }
  await aTeam(db, { ...team, permission: 'write', memberIds: [eve.id, off.id] })
  await aTeam(db, { ...team, permission: 'read', memberIds: [kim.id] })
  await aTeam(db, { ...team, includesAll: false, permission: 'admin', memberIds: [lee.id] })
  for (const repository of [ofClub, ofBob]) {
    await aCollaborator(db, repository, max, 'write')
    await aCollaborator(db, repository, ned, 'read')
  }
  const units = { 'repo.code': 'write', 'repo.issues': 'read' }
  await aTeam(db, { ...team, permission: 'read', units, memberIds: [kim.id] })
  const ofIssues = { 'repo.issues': 'write' }
  await aTeam(db, { ...team, permission: 'none', units: ofIssues, memberIds: [ned.id] })
  await db('users').where({ owner_id: off.id }).update({ is_active: false })
  const isOff = { ...off, isActive: false }
  for (const repository of [ofClub, ofBob]) {
    const expected: string[] = []
    for (const user of [ada, bob, eve, kim, lee, max, ned, isOff]) {
      const { issues, pulls } = await accessToRepository(db, user, repository)
      if (atLeast(issues, 'write') || atLeast(pulls, 'write')) expected.push(user.name)
    }
    const listed = (await listAssignable(db, repository)).map(({ name }) => name)
    t.strictSame(listed, expected, repository.name)
  }
  t.match(
    (await listAssignable(db, ofClub)).map(({ name }) => name),
    ['ada', 'eve', 'max', 'ned'],
  )
})
