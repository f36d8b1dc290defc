/** Runners and their registration tokens, on both databases. */

import t from 'tap'
import { closeDatabase, openDatabase } from '../../../sql/database/database.js'
import {
  createRegistrationToken,
  findRunner,
  findRunnerOf,
  listRunners,
  listRunnersOf,
  RUNNERS_MAX,
  registerRunner,
  removeRunner,
  updateRunner,
} from '../../../sql/runners/runners.js'
import { forEachDatabase, forEachMigrated } from '../../helpers/databases.js'
import { anOrganization, aRepository, aUser } from '../../helpers/rows.js'
import { aRunner } from '../../helpers/run-rows.js'

const [KNOWN, ENDED, ONCE] = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
const SITE = { ownerId: undefined, repositoryId: undefined }
const FIELDS = { name: 'r', tokenHash: '0'.repeat(64), labels: ['linux'], version: 'v1' }

await forEachDatabase(t, 'a runner registers with a token that is valid', async (t, location) => {
  const db = await openDatabase({ location, connectionsMax: 4 })
  t.teardown(() => closeDatabase(db))
  const register = (registrationHash = '') =>
    registerRunner(db, { ...FIELDS, isEphemeral: false, registrationHash })
  const token = { ...SITE, isOnce: false, expiresAtMs: undefined }
  await createRegistrationToken(db, { ...token, hash: ENDED ?? '', expiresAtMs: Date.now() - 1 })
  t.equal(await register(ENDED), undefined, 'not with an expired one')
  await createRegistrationToken(db, { ...token, hash: KNOWN ?? '' })
  await createRegistrationToken(db, { ...token, hash: ONCE ?? '', isOnce: true })
  const first = await register(KNOWN)
  t.match(first, { name: 'r', labels: ['linux'], isEphemeral: false, lastSeenAtMs: undefined })
  t.ok(await register(KNOWN), 'again with the same token')
  t.equal(await register('d'.repeat(64)), undefined, 'not with an unknown one')
  const once = await Promise.all(Array.from({ length: 5 }, () => register(ONCE)))
  t.equal(once.filter((runner) => runner !== undefined).length, 1, 'once with one for one use')
  t.equal((await listRunners(db)).length, 3)

  const { id = 0, uuid = '' } = first ?? {}
  await updateRunner(db, id, { labels: ['a', 'b'], lastSeenAtMs: 7 })
  t.match(await findRunner(db, uuid), { labels: ['a', 'b'], version: 'v1', lastSeenAtMs: 7 })
  t.match(first, { isDisabled: false, runsForks: false })
  await updateRunner(db, id, { isDisabled: true })
  t.match(await findRunner(db, uuid), { isDisabled: true, runsForks: false, lastSeenAtMs: 7 })
  await updateRunner(db, id, { isDisabled: false, runsForks: true })
  t.match(await findRunner(db, uuid), { isDisabled: false, runsForks: true })
  t.equal(await removeRunner(db, uuid), true)
  t.equal(await removeRunner(db, uuid), false)
  t.equal(await findRunner(db, uuid), undefined)
})

await forEachMigrated(t, 'each scope has its own runners and token', async (t, db) => {
  const { id: ada } = await aUser(db, 'ada')
  const { id: bob } = await aUser(db, 'bob')
  const { id: engine } = await aRepository(db, ada, 'engine')
  const scopes = [
    SITE,
    { ownerId: ada, repositoryId: undefined },
    { ownerId: bob, repositoryId: undefined },
    { ownerId: undefined, repositoryId: engine },
  ]
  const ids: number[] = []
  for (const scope of scopes) ids.push(await aRunner(db, ['linux'], scope))
  for (const [at, scope] of scopes.entries()) {
    const { entries, total } = await listRunnersOf(db, scope, { page: 1, limit: 10 })
    t.strictSame([entries.map(({ id }) => id), total], [[ids[at]], 1])
    const found = await Promise.all(ids.map((id) => findRunnerOf(db, scope, id)))
    t.strictSame(
      found.flatMap((runner) => runner?.id ?? []),
      [ids[at]],
    )
  }
  const hashes = scopes.map((_, at) => String(at).repeat(64))
  const once = 'e'.repeat(64)
  const [, ofAda = SITE] = scopes
  const token = { isOnce: false, expiresAtMs: undefined }
  await createRegistrationToken(db, { ...ofAda, ...token, hash: once, isOnce: true })
  for (const [at, scope] of scopes.entries()) {
    await createRegistrationToken(db, { ...scope, ...token, hash: hashes[at] ?? '' })
  }
  await createRegistrationToken(db, { ...ofAda, ...token, hash: 'f'.repeat(64) })
  const register = (registrationHash: string) =>
    registerRunner(db, { ...FIELDS, isEphemeral: false, registrationHash })
  t.equal(await register(hashes[1] ?? ''), undefined, 'the earlier token is replaced')
  for (const hash of [hashes[0], hashes[2], hashes[3], once, 'f'.repeat(64)]) {
    t.ok(await register(hash ?? ''), 'a token of another scope or for one use is kept')
  }
})

await forEachMigrated(t, 'a scope has at most 200 runners', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: otherId } = await anOrganization(db, 'acme', ownerId)
  for (let made = 0; made < RUNNERS_MAX; made += 1) await aRunner(db, [], { ownerId })
  await t.rejects(aRunner(db, [], { ownerId }), {
    failure: 'throttled',
    message: 'There are 200 runners of this kind, the maximum. Remove one first.',
  })
  await aRunner(db, [], { ownerId: otherId })
  await aRunner(db, [])
  const { entries } = await listRunnersOf(
    db,
    { ownerId, repositoryId: undefined },
    { page: 2, limit: 150 },
  )
  t.equal(entries.length, 50)
  await removeRunner(db, entries[0]?.uuid ?? '')
  await aRunner(db, [], { ownerId })
})
