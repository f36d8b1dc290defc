/** Mirror updates: with credentials, to an address that is checked each time. */

import t, { type Test } from 'tap'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { importRepository } from '../../../gateway/imports/import-repository.js'
import { SYNC_MIRROR } from '../../../gateway/jobs/sync-mirror.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { aSource, breakOffAfter, referencesOf, serveWith } from '../../helpers/sources.js'

async function aMirror(t: Test, authorization?: string) {
  const { context, fixture } = await openContext(t)
  const source = await aSource(t)
  const seen: (string | undefined)[] = []
  const state = { isAway: false }
  const front = await serveWith(t, (request, response) => {
    seen.push(request.headers.authorization)
    if (state.isAway) return void response.writeHead(500).end()
    breakOffAfter(source.url, Number.POSITIVE_INFINITY)(request, response)
  })
  const importer = { signal: new AbortController().signal, address: '192.0.2.1', client: 'ada' }
  const repository = await importRepository(context, importer, {
    owner: await fixture.addUser('ada'),
    name: 'm',
    description: '',
    isPrivate: false,
    url: new URL(front.url),
    authorization,
    mirror: { intervalMs: 60_000 },
    hasWiki: false,
    lfs: undefined,
    contents: undefined,
  })
  const { db } = fixture
  await db('repository_sources').update({ synced_at: 1, next_at: 1 })
  const path = repositoryPath(fixture.settings.data.dir, repository.storage)
  return {
    fixture,
    context,
    source,
    seen,
    state,
    path,
    repository,
    run: (subject = String(repository.id)) =>
      SYNC_MIRROR.run(context, subject, new AbortController().signal),
    find: async () => (await findRepository(db, 'ada', 'm')) ?? repository,
    row: async () => db('repository_sources').first('credentials_sealed', 'synced_at', 'next_at'),
  }
}

t.test('a mirror update fetches new commits with the stored credentials', async (t) => {
  const { fixture, source, seen, path, run, find, row } = await aMirror(t, 'Basic secret')
  t.notMatch((await row()).credentials_sealed, 'secret')
  await source.copy.git('push', '--quiet', source.path, 'main:fresh', ':branch-3')
  await source.copy.git('push', '--quiet', source.path, 'main:refs/pull/2/head')
  seen.length = 0
  await run()
  t.strictSame([...new Set(seen)], ['Basic secret'])
  const wanted = (await referencesOf(source.path)).split('\n')
  t.strictSame(
    (await referencesOf(path)).split('\n'),
    wanted.filter((line) => !line.startsWith('refs/pull/')),
  )
  const { synced_at, next_at } = await row()
  t.ok(synced_at > 1)
  t.equal(next_at, synced_at + 60_000)
  t.ok((await find()).pushedAtMs)
  t.equal((await fixture.db('jobs').where({ kind: 'maintain-repository' })).length, 1)
})

t.test('an unreachable source changes nothing and is retried after the interval', async (t) => {
  const { fixture, state, path, run, row } = await aMirror(t)
  const before = await referencesOf(path)
  state.isAway = true
  await run()
  t.equal(await referencesOf(path), before)
  const { synced_at, next_at } = await row()
  t.equal(synced_at, 1)
  t.ok(next_at > Date.now())
  t.match(fixture.lines.at(-1), { level: 40, msg: 'a mirror was not updated', reason: /500/ })
})

t.test('an address that has become private is not called', async (t) => {
  const { fixture, context, run, row, repository, seen } = await aMirror(t)
  seen.length = 0
  const settings = {
    ...fixture.settings,
    outbound: { allow: { entries: [], hasName: () => false, hasAddress: () => false } },
  }
  const { signal } = new AbortController()
  await SYNC_MIRROR.run({ ...context, settings }, String(repository.id), signal)
  t.strictSame(seen, [])
  t.match(fixture.lines.at(-1), { reason: 'You can not import from disallowed hosts.' })
  t.equal((await row()).synced_at, 1)
  await run('999')
  t.pass('nothing is done for a deleted repository')
})
