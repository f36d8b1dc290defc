/** Releases are found by id and by tag, listed newest first, and changed in part. */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import {
  countReleases,
  createRelease,
  deleteRelease,
  findLatestRelease,
  findRelease,
  findReleaseByTag,
  listReleases,
  type NewRelease,
  updateRelease,
} from '../../../sql/releases/releases.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 10 }

async function openFixture(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const repository = await aRepository(db, ada.id, 'engine')
  const release = (tagName: string, changes: Partial<NewRelease> = {}) =>
    createRelease(db, {
      repositoryId: repository.id,
      tagName,
      target: 'main',
      title: '',
      body: '',
      tagMessage: '',
      isDraft: false,
      isPrerelease: false,
      authorId: bob.id,
      ...changes,
    })
  return { ada, bob, repository, release }
}

await forEachMigrated(
  t,
  'a release is found by its id and by its exact tag only',
  async (t, db) => {
    const { ada, bob, repository, release } = await openFixture(db)
    const text = { title: 'Ünö', body: 'x'.repeat(70_000), tagMessage: 'signed off' }
    const made = await release('v1/Ä', { ...text, isPrerelease: true })
    t.match(made, { ...text, tagName: 'v1/Ä', target: 'main', isDraft: false, isPrerelease: true })
    t.match(made.author, { id: bob.id, name: 'bob' })
    t.equal(made.publishedAtMs, made.createdAtMs)
    t.strictSame(await findRelease(db, repository.id, made.id), made)
    t.strictSame(await findReleaseByTag(db, repository.id, 'v1/Ä'), made)
    for (const other of ['V1/Ä', 'v1/ä', 'v1/A', 'v1/Ä ', 'v1', '%']) {
      t.equal(await findReleaseByTag(db, repository.id, other), undefined, other)
    }
    const another = await aRepository(db, ada.id, 'other')
    t.equal(await findRelease(db, another.id, made.id), undefined)
    t.equal(await findReleaseByTag(db, another.id, 'v1/Ä'), undefined)
    await t.rejects(findReleaseByTag(db, repository.id, 0 as never), TypeError)
  },
)

await forEachMigrated(t, 'of concurrent releases of one tag one is created', async (t, db) => {
  const { ada, release } = await openFixture(db)
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => release('v1')))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    t.match(outcome.reason, {
      failure: 'conflict',
      message: 'release tag already exist [tag_name: v1]',
    })
  }
  const other = await aRepository(db, ada.id, 'other')
  t.ok(
    await release('v1', { repositoryId: other.id }),
    'another repository has its own release of the tag',
  )
  t.ok(await release('V1'), 'a tag in another case too')
  const gone = release('v1', { repositoryId: other.id + 100 })
  await t.rejects(gone, { failure: 'not_found', message: /repository does not exist/ })
})

await forEachMigrated(
  t,
  'releases are listed newest first, and the latest is neither draft nor prerelease',
  async (t, db) => {
    const { repository, release } = await openFixture(db)
    const repositoryId = repository.id
    t.equal(await findLatestRelease(db, repositoryId), undefined)
    await release('v1')
    await release('v2')
    await release('v3', { isPrerelease: true })
    const draft = await release('v4', { isDraft: true })
    const tags = async (question: { isDraft?: boolean; isPrerelease?: boolean }, page = PAGE) => {
      const { entries, total } = await listReleases(db, { repositoryId, page, ...question })
      return [total, ...entries.map(({ tagName }) => tagName)]
    }
    t.strictSame(await tags({}), [4, 'v4', 'v3', 'v2', 'v1'])
    t.strictSame(await tags({}, { page: 2, limit: 3 }), [4, 'v1'])
    t.strictSame(await tags({ isDraft: false }), [3, 'v3', 'v2', 'v1'])
    t.strictSame(await tags({ isDraft: true }), [1, 'v4'])
    t.strictSame(await tags({ isDraft: false, isPrerelease: false }), [2, 'v2', 'v1'])
    t.equal((await findLatestRelease(db, repositoryId))?.tagName, 'v2')
    t.equal((await countReleases(db, [repositoryId]))(repositoryId), 3)
    await updateRelease(db, draft, { isDraft: false, publishedAtMs: draft.createdAtMs - 1_000 })
    t.strictSame(await tags({}), [4, 'v3', 'v2', 'v1', 'v4'], 'ordered by time of publication')
    t.equal((await countReleases(db, [repositoryId]))(repositoryId), 4)
  },
)

await forEachMigrated(t, 'only the given fields of a release change', async (t, db) => {
  const { bob, repository, release } = await openFixture(db)
  const made = await release('v1', { title: 'one', body: 'text' })
  await release('v2')
  t.strictSame(await updateRelease(db, made, {}), made)
  const changed = await updateRelease(db, made, { title: 'two', isPrerelease: true })
  t.strictSame(changed, { ...made, title: 'two', isPrerelease: true })
  const moved = await updateRelease(db, made, { tagName: 'v3', target: 'old', body: 'more' })
  t.match(moved, { tagName: 'v3', target: 'old', body: 'more', title: 'two' })
  const taken = updateRelease(db, made, { tagName: 'v2' })
  await t.rejects(taken, { failure: 'conflict', message: /\[tag_name: v2\]/ })
  const elsewhere = { id: made.id, repositoryId: repository.id + 1 }
  t.equal(await updateRelease(db, elsewhere, { title: 'x' }), undefined)
  await deleteUser(db, bob.id)
  const left = await findRelease(db, repository.id, made.id)
  t.match(left, { title: 'two', author: undefined }, 'a release is kept without its author')
  t.equal(await deleteRelease(db, made.id), true)
  t.equal(await deleteRelease(db, made.id), false)
})

await forEachMigrated(t, 'releases are deleted with their repository', async (t, db) => {
  const { repository, release } = await openFixture(db)
  await release('v1')
  await deleteRepository(db, repository.id)
  t.strictSame(await db('releases'), [])
})
