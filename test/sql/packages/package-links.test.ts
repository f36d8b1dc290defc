/** A package is linked to at most one repository, and never to a deleted one. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  findLinkedRepositoryId,
  linkPackage,
  unlinkPackage,
} from '../../../sql/packages/package-links.js'
import { removeVersion } from '../../../sql/packages/publications.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const NO_PACKAGE = { failure: 'not_found', message: 'package does not exist' }
const NO_REPOSITORY = { failure: 'not_found', message: 'repository does not exist' }
const LINKED = {
  failure: 'bad_request',
  message: 'The package is linked to a repository already.',
}
const UNLINKED = { failure: 'bad_request', message: 'The package is linked to no repository.' }

async function aPackage(db: Database) {
  const { id: ownerId } = await aUser(db, 'ada')
  await aPublication(db, { ownerId, packageName: 'Tool' })
  await aPublication(db, { ownerId, packageName: 'Tool', format: 'go' })
  const namespace = namespaceOf(ownerId)
  return {
    ownerId,
    namespace,
    link: (repositoryId: number, packageName = 'tool') =>
      linkPackage(db, namespace, { packageName, repositoryId }),
    unlink: (packageName = 'TOOL') => unlinkPackage(db, namespace, packageName),
    links: async () =>
      (await db('packages').orderBy('id')).map(({ repository_id }) => repository_id),
  }
}

await forEachMigrated(t, 'a link is made once, removed once, and made again', async (t, db) => {
  const { ownerId, link, unlink, links } = await aPackage(db)
  const engine = await aRepository(db, ownerId, 'engine')
  const other = await aRepository(db, ownerId, 'other')
  await t.rejects(unlink(), UNLINKED)
  await link(engine.id)
  t.strictSame(await links(), [engine.id, null], 'only in this format')
  await t.rejects(link(engine.id), LINKED)
  await t.rejects(link(other.id), LINKED)
  await unlink()
  await t.rejects(unlink(), UNLINKED)
  await link(other.id)
  t.strictSame(await links(), [other.id, null])
})

await forEachMigrated(t, 'a missing package or repository is not linked', async (t, db) => {
  const { ownerId, namespace, link, unlink } = await aPackage(db)
  const { id } = await aRepository(db, ownerId, 'engine')
  await t.rejects(link(id, 'absent'), NO_PACKAGE)
  await t.rejects(unlink('absent'), NO_PACKAGE)
  await t.rejects(link(id + 1), NO_REPOSITORY)
  await removeVersion(db, namespace, { packageName: 'tool', version: '1.0' })
  await t.rejects(link(id), NO_PACKAGE, 'a package without a version')
  await t.rejects(unlink(), NO_PACKAGE)
})

await forEachMigrated(
  t,
  'deleting a repository keeps its packages and removes their links',
  async (t, db) => {
    const { ownerId, link, links } = await aPackage(db)
    const { id } = await aRepository(db, ownerId, 'engine')
    await link(id)
    await deleteRepository(db, id)
    t.strictSame(await links(), [null, null])
  },
)

await forEachMigrated(t, 'of many concurrent links of one package one succeeds', async (t, db) => {
  const { ownerId, link, links } = await aPackage(db)
  const ids: number[] = []
  for (let n = 0; n < 10; n += 1) ids.push((await aRepository(db, ownerId, `r${n}`)).id)
  const outcomes = await Promise.allSettled([...ids, ...ids].map((id) => link(id)))
  const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []))
  t.equal(lost.length, 19)
  for (const failure of lost) t.match(failure, LINKED)
  t.ok(ids.includes((await links())[0]))
})

await forEachMigrated(
  t,
  'a link to a repository that is being deleted is not kept',
  async (t, db) => {
    const { ownerId, link, links } = await aPackage(db)
    for (let n = 0; n < 10; n += 1) {
      const { id } = await aRepository(db, ownerId, `r${n}`)
      const works = [() => link(id), () => deleteRepository(db, id)]
      if (n % 2 === 1) works.reverse()
      for (const outcome of await Promise.allSettled(works.map((work) => work()))) {
        if (outcome.status === 'rejected') t.match(outcome.reason, NO_REPOSITORY)
      }
      t.strictSame(await links(), [null, null])
    }
  },
)

await forEachMigrated(t, 'the repository of a link is found', async (t, db) => {
  const { ownerId, link, unlink } = await aPackage(db)
  const engine = await aRepository(db, ownerId, 'engine')
  const [{ id }] = await db('packages').where({ format: namespaceOf(ownerId).format })
  t.equal(await findLinkedRepositoryId(db, id), undefined)
  await link(engine.id)
  t.equal(await findLinkedRepositoryId(db, id), engine.id)
  await unlink()
  t.equal(await findLinkedRepositoryId(db, id), undefined)
  t.equal(await findLinkedRepositoryId(db, id + 100), undefined, 'a package that does not exist')
})
