/** Webhooks are stored unchanged, belong to one repository or owner, and are deleted with it. */

import { t } from 'tap'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import {
  deleteWebhook,
  findWebhook,
  findWebhookById,
  hasSubscribersAnywhere,
  listeningWebhooks,
  listWebhooks,
  updateWebhook,
} from '../../../sql/webhooks/webhooks.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aWebhook } from '../../helpers/deliveries.js'
import { anOrganization, aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 50 }

await forEachMigrated(
  t,
  'a webhook is created, changed and deleted through its owner',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id: repositoryId } = await aRepository(db, ada.id, 'library')
    const place = { repositoryId }
    const made = await aWebhook(db, place, { events: ['push', 'create'], secretSealed: 'sealed' })
    t.match(made, { place, target: 'repository', events: ['create', 'push'], isActive: true })
    t.strictSame(await findWebhook(db, place, made.id), made)
    t.equal(
      await findWebhook(db, { ownerId: ada.id }, made.id),
      undefined,
      'not through another owner',
    )
    await updateWebhook(db, made.id, { ...made, url: 'http://other.example.org/', isActive: false })
    t.match(await findWebhookById(db, made.id), {
      url: 'http://other.example.org/',
      isActive: false,
      secretSealed: 'sealed',
    })
    t.match(await listWebhooks(db, place, PAGE), { total: 1, entries: [{ id: made.id }] })
    t.notOk(await deleteWebhook(db, { ownerId: ada.id }, made.id))
    t.ok(await deleteWebhook(db, place, made.id))
    t.notOk(await deleteWebhook(db, place, made.id))
  },
)

await forEachMigrated(
  t,
  'active webhooks of a repository and its owner are subscribed',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const club = await anOrganization(db, 'club', ada.id)
    const repository = await aRepository(db, club.id, 'library')
    const other = await aRepository(db, ada.id, 'other')
    const first = await aWebhook(db, { repositoryId: repository.id }, { events: ['package'] })
    const second = await aWebhook(db, { ownerId: club.id }, { events: ['push'] })
    await aWebhook(db, { ownerId: club.id }, { isActive: false })
    await aWebhook(db, { repositoryId: other.id }, { events: ['push'] })
    const third = await aWebhook(db, { ownerId: ada.id }, { events: ['push'] })
    t.equal(second.target, 'organization')
    t.equal(third.target, 'user')
    const ids = async (place: Parameters<typeof listeningWebhooks>[1]) =>
      (await listeningWebhooks(db, place)).map(({ id }) => id)
    t.strictSame(await ids({ repositoryId: repository.id, ownerId: club.id }), [
      first.id,
      second.id,
    ])
    t.strictSame(await ids({ ownerId: ada.id }), [third.id])
    t.strictSame(await ids({}), [])
    t.ok(await hasSubscribersAnywhere(db, club.id, 'package'), 'through a repository of the owner')
    t.notOk(await hasSubscribersAnywhere(db, club.id, 'fork'))
    t.notOk(await hasSubscribersAnywhere(db, ada.id, 'package'))
    await deleteRepository(db, repository.id)
    t.equal(await findWebhookById(db, first.id), undefined, 'it is deleted with its repository')
  },
)
