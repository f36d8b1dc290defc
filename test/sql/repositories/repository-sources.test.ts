/** Sources of repositories, and the time at which a mirror is due. */

import t from 'tap'
import { deleteRepository, findRepositoryById } from '../../../sql/repositories/repositories.js'
import {
  addSource,
  findMirror,
  listDueMirrors,
  noteMirrorTry,
  setMirrorInterval,
} from '../../../sql/repositories/repository-sources.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const URL_THERE = 'https://code.example.com/x.git'
const MIRROR = { credentialsSealed: undefined, hasWiki: false, lfs: undefined }

await forEachMigrated(t, 'a repository has its source', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const [own, taken, mirror] = [
    await aRepository(db, ada.id, 'own'),
    await aRepository(db, ada.id, 'taken'),
    await aRepository(db, ada.id, 'mirror'),
  ]
  t.equal(own.source, undefined)
  await addSource(db, taken.id, { url: URL_THERE, mirror: undefined })
  const lfs = { url: `${URL_THERE}/info/lfs`, credentialsSealed: undefined }
  const sealed = { intervalMs: 60_000, credentialsSealed: 'sealed', hasWiki: true, lfs }
  await addSource(db, mirror.id, { url: URL_THERE, mirror: sealed })
  const sourceOf = async (id: number) => (await findRepositoryById(db, id))?.source
  t.strictSame(await sourceOf(taken.id), { url: URL_THERE, mirror: undefined })
  t.match(await sourceOf(mirror.id), { url: URL_THERE, mirror: { intervalMs: 60_000 } })
  t.equal(await findMirror(db, taken.id), undefined)
  t.strictSame(await findMirror(db, mirror.id), { url: URL_THERE, ...sealed })
  await deleteRepository(db, mirror.id)
  t.equal(await findMirror(db, mirror.id), undefined)
})

await forEachMigrated(t, 'a mirror is due one interval after its last attempt', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const ids: number[] = []
  for (const name of ['a', 'b', 'c']) {
    const { id } = await aRepository(db, ada.id, name)
    const mirror = { ...MIRROR, intervalMs: 60_000 }
    await addSource(db, id, { url: URL_THERE, mirror: name === 'c' ? undefined : mirror })
    ids.push(id)
  }
  const [a = 0, b = 0, c = 0] = ids
  t.strictSame(await listDueMirrors(db, 10), [])
  const pastMs = Date.now() - 1_000
  const back = (id: number, ms: number) =>
    db('repository_sources')
      .where({ repository_id: id })
      .update({ next_at: pastMs - ms })
  await back(a, 1)
  await back(b, 2)
  await back(c, 3)
  t.strictSame(await listDueMirrors(db, 10), [b, a], 'longest waiting first, mirrors only')
  t.strictSame(await listDueMirrors(db, 1), [b])
  const synced = async (id: number) =>
    (await findRepositoryById(db, id))?.source?.mirror?.syncedAtMs ?? 0
  await db('repository_sources').update({ synced_at: 1 })
  await noteMirrorTry(db, a, { intervalMs: 60_000, hasSucceeded: false })
  await noteMirrorTry(db, b, { intervalMs: 60_000, hasSucceeded: true })
  t.equal(await synced(a), 1)
  t.ok((await synced(b)) > 1)
  t.strictSame(await listDueMirrors(db, 10), [])
  await setMirrorInterval(db, a, 0)
  await setMirrorInterval(db, c, 60_000)
  const rows = await db('repository_sources').orderBy('repository_id').select('next_at')
  t.strictSame(
    rows.map((row) => row.next_at === null),
    [true, false, false],
  )
  t.equal(
    (await findRepositoryById(db, c))?.source?.mirror,
    undefined,
    'it does not become a mirror',
  )
})
