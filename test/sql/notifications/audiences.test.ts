/** Recipients of notifications: each once, and only users who may read. */

import t from 'tap'
import { JOBS_USER_ID } from '../../../sql/accounts/jobs-user.js'
import type { Visibility } from '../../../sql/accounts/owners.js'
import { findUserById, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { setIssueSubscription } from '../../../sql/issues/issue-subscriptions.js'
import { createIssue } from '../../../sql/issues/issues.js'
import {
  type Activity,
  isNotifiedOfIssue,
  listAudience,
} from '../../../sql/notifications/audiences.js'
import { accessToRepositories, accessToRepository } from '../../../sql/repositories/access.js'
import {
  deletePendingTransfer,
  insertPendingTransfer,
  isOffered,
} from '../../../sql/repositories/pending-transfers.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { addUserRelation } from '../../../sql/repositories/stars-and-watches.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aCollaborator, anOrganization, aRepository, aTeam, aUser } from '../../helpers/rows.js'

/** Returns the names of all recipients, read in pages of two. */
async function audience(db: Database, repository: Repository, issueId: number, actorId = 0) {
  const names: (string | undefined)[] = []
  for (let afterId = 0; ; ) {
    const activity = {
      repository,
      actorId,
      about: { issueId, isPull: false, to: 'everybody' },
    } as const
    const ids = await listAudience(db, activity, { afterId, limit: 2 })
    for (const id of ids) names.push((await findUserById(db, id))?.name)
    const last = ids.at(-1)
    if (last === undefined) return names.sort()
    afterId = last
  }
}

await forEachMigrated(t, 'watchers who may read the repository are recipients', async (t, db) => {
  const names = ['ada', 'bob', 'eve', 'fay', 'gus', 'hal', 'ivy', 'jan', 'kim']
  const people: User[] = []
  for (const name of names) people.push(await aUser(db, name))
  const [ada, bob, eve, fay, gus, hal, ivy, jan] = people as [...User[], User]
  const idOf = (user: User | undefined) => user?.id ?? 0
  const club = await anOrganization(db, 'club', idOf(ada))
  const repository = await aRepository(db, club.id, 'r')
  await aCollaborator(db, repository, bob as User, 'read')
  const organizationId = club.id
  const whole = { organizationId, includesAll: true }
  await aTeam(db, { ...whole, permission: 'read', memberIds: [idOf(eve)] })
  await aTeam(db, { ...whole, permission: 'none', memberIds: [idOf(fay)] })
  await aTeam(db, { organizationId, permission: 'write', memberIds: [idOf(gus)] })
  await db('users')
    .where({ owner_id: idOf(hal) })
    .update({ is_admin: true })
  await db('users')
    .where({ owner_id: idOf(ivy) })
    .update({ is_active: false })
  await db('users')
    .where({ owner_id: idOf(jan) })
    .update({ is_login_prohibited: true })
  for (const { id } of people) {
    await addUserRelation(db, 'watch', { userId: id, repositoryId: repository.id })
  }
  const issue = await createIssue(db, {
    repositoryId: repository.id,
    isPull: false,
    title: 't',
    content: '',
    authorId: idOf(bob),
  })
  const told = async (visibility: Visibility, isPrivate: boolean) => {
    await db('owners').where({ id: club.id }).update({ visibility })
    await db('repositories').where({ id: repository.id }).update({ is_private: isPrivate })
    const found = (await findRepositoryById(db, repository.id)) as Repository
    const readers: string[] = []
    for (const { id } of people) {
      const user = await findUserById(db, id)
      const modes = (await accessToRepositories(db, user, [found])).get(found.id)
      if (user !== undefined && modes?.issues !== 'none') readers.push(user.name)
    }
    const names = await audience(db, found, issue.id)
    t.strictSame(
      names,
      readers.sort(),
      `${visibility} ${isPrivate}: as accessToRepositories decides`,
    )
    return names
  }
  const all = ['ada', 'bob', 'eve', 'fay', 'gus', 'hal', 'kim']
  t.strictSame(await told('public', false), all)
  t.strictSame(await told('limited', false), all)
  t.strictSame(await told('private', false), all.slice(0, -1))
  t.strictSame(await told('public', true), ['ada', 'bob', 'eve', 'hal'])
  t.strictSame(await told('private', true), ['ada', 'bob', 'eve', 'hal'])
})

await forEachMigrated(
  t,
  'a subscription of the issue overrides mentions and watches',
  async (t, db) => {
    const [ada, bob, eve] = [await aUser(db, 'ada'), await aUser(db, 'bob'), await aUser(db, 'eve')]
    const repository = await aRepository(db, ada.id, 'r')
    const { id: issueId } = await createIssue(db, {
      repositoryId: repository.id,
      isPull: false,
      title: 't',
      content: 'Hello @bob',
      authorId: ada.id,
    })
    const hears = (userId: number) =>
      isNotifiedOfIssue(db, { issueId, repositoryId: repository.id, userId })
    t.strictSame(await audience(db, repository, issueId), ['ada', 'bob'])
    t.strictSame(await audience(db, repository, issueId, bob.id), ['ada'], 'the actor is left out')
    t.strictSame([await hears(bob.id), await hears(eve.id)], [true, false])
    await setIssueSubscription(db, { issueId, userId: bob.id, isSubscribed: false })
    await setIssueSubscription(db, { issueId, userId: eve.id, isSubscribed: true })
    t.strictSame(await audience(db, repository, issueId), ['ada', 'eve'])
    t.strictSame([await hears(bob.id), await hears(eve.id)], [false, true])
  },
)

await forEachMigrated(
  t,
  'one user is the recipient unless the user is gitea-actions, has unsubscribed or cannot read',
  async (t, db) => {
    const [ada, bob, eve] = [await aUser(db, 'ada'), await aUser(db, 'bob'), await aUser(db, 'eve')]
    const repository = await aRepository(db, ada.id, 'r')
    const { id: issueId } = await createIssue(db, {
      repositoryId: repository.id,
      isPull: false,
      title: 't',
      content: '',
      authorId: ada.id,
    })
    const audienceOf = async (about: Activity['about']) => {
      const found = (await findRepositoryById(db, repository.id)) as Repository
      const page = { afterId: -10, limit: 2 }
      return await listAudience(db, { repository: found, actorId: undefined, about }, page)
    }
    const ofRun = (userId: number) => audienceOf({ runId: 1, to: { userId } })
    const ofIssue = (userId: number) => audienceOf({ issueId, isPull: false, to: { userId } })
    await setIssueSubscription(db, { issueId, userId: bob.id, isSubscribed: false })
    t.strictSame([await ofRun(bob.id), await ofIssue(bob.id)], [[bob.id], []])
    t.strictSame([await ofRun(eve.id), await ofIssue(eve.id)], [[eve.id], [eve.id]])
    t.strictSame([await ofRun(JOBS_USER_ID), await ofIssue(JOBS_USER_ID)], [[], []])
    await db('repositories').where({ id: repository.id }).update({ is_private: true })
    t.strictSame([await ofRun(eve.id), await ofIssue(eve.id)], [[], []])
    t.strictSame([await ofRun(ada.id), await ofIssue(ada.id)], [[ada.id], [ada.id]])
  },
)

await forEachMigrated(
  t,
  'recipients of a transfer are the active users who can accept it',
  async (t, db) => {
    const [ada, bob, eve, fay, gus] = [
      await aUser(db, 'ada'),
      await aUser(db, 'bob'),
      await aUser(db, 'eve'),
      await aUser(db, 'fay'),
      await aUser(db, 'gus'),
    ]
    const made = await aRepository(db, ada.id, 'r', { isPrivate: true })
    const repository = (await findRepositoryById(db, made.id)) as Repository
    const club = await anOrganization(db, 'club', eve.id)
    const team = { organizationId: club.id, permission: 'write', includesAll: true }
    await aTeam(db, { ...team, mayCreate: true, memberIds: [fay.id] })
    await aTeam(db, { ...team, memberIds: [gus.id] })
    const offerTo = async (recipientId: number) => {
      await deletePendingTransfer(db, repository.id)
      const offer = { repositoryId: repository.id, actorId: ada.id, recipientId, teamIds: [] }
      await insertPendingTransfer(db, offer)
    }
    const recipients = async (actorId = ada.id) => {
      const activity = { repository, actorId, about: { transferOf: repository.id } }
      const ids = await listAudience(db, activity, { afterId: 0, limit: 9 })
      for (const user of [ada, bob, eve, fay, gus]) {
        const isOne = await isOffered(db, repository.id, user.id)
        t.equal(isOne, [...ids, actorId].includes(user.id) && user.id !== ada.id, user.name)
      }
      return ids
    }
    await offerTo(bob.id)
    t.strictSame(await recipients(), [bob.id])
    await offerTo(club.id)
    t.strictSame(await recipients(), [eve.id, fay.id])
    t.strictSame(await recipients(fay.id), [eve.id], 'the actor is left out')
    await db('users').where({ owner_id: eve.id }).update({ is_active: false })
    const activity = { repository, actorId: ada.id, about: { transferOf: repository.id } }
    t.strictSame(await listAudience(db, activity, { afterId: 0, limit: 9 }), [fay.id])
  },
)

await forEachMigrated(
  t,
  'an audience has the members of the teams that can read its unit',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const club = await anOrganization(db, 'club', ada.id)
    const made = await aRepository(db, club.id, 'r', { isPrivate: true })
    const repository = (await findRepositoryById(db, made.id)) as Repository
    const people: User[] = []
    const teamsOf: Readonly<Record<string, readonly Record<string, string>[]>> = {
      coder: [{ 'repo.code': 'read' }],
      tester: [{ 'repo.issues': 'write', 'repo.code': 'none' }],
      puller: [{ 'repo.pulls': 'read' }],
      reviewer: [{ 'repo.pulls': 'read', 'repo.code': 'read' }],
      // Code is shown by one team, and pull requests by the other.
      both: [{ 'repo.pulls': 'read' }, { 'repo.code': 'read' }],
      publisher: [{ 'repo.releases': 'read', 'repo.packages': 'write' }],
      operator: [{ 'repo.actions': 'write' }],
    }
    for (const [name, teams] of Object.entries(teamsOf)) {
      const user = await aUser(db, name)
      people.push(user)
      for (const units of teams) {
        const inputs = { organizationId: club.id, permission: 'none', includesAll: true }
        await aTeam(db, { ...inputs, units, memberIds: [user.id] })
      }
    }
    for (const unit of ['issues', 'pulls', 'releases', 'actions'] as const) {
      const listed: string[] = []
      const readers: string[] = []
      for (const user of people) {
        const to = { userId: user.id }
        await db('repository_watches').delete()
        await addUserRelation(db, 'watch', { userId: user.id, repositoryId: repository.id })
        const about = {
          issues: { issueId: 1, isPull: false, to },
          pulls: { issueId: 1, isPull: true, to },
          releases: { releaseId: 1, mentionedIds: [] },
          actions: { runId: 1, to },
        }[unit]
        const activity = { repository, actorId: undefined, about }
        const ids = await listAudience(db, activity, { afterId: 0, limit: 9 })
        if (ids.length > 0) listed.push(user.name)
        const modes = await accessToRepository(db, user, repository)
        if (modes[unit] !== 'none') readers.push(user.name)
      }
      t.strictSame(listed, readers, unit)
      const expected = {
        issues: ['tester'],
        pulls: ['reviewer', 'both'],
        releases: ['publisher'],
        actions: ['operator'],
      }
      t.strictSame(listed, expected[unit], unit)
    }
  },
)
