/** Pushes to push mirrors: with credentials, to an address that is checked each time. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { initRepository } from '../../../cgi/repository/repository.js'
import { createPushMirror } from '../../../gateway/actions/repositories/push-mirrors.js'
import { SYNC_PUSH_MIRROR } from '../../../gateway/jobs/sync-push-mirror.js'
import { repositoryPathOf } from '../../../gateway/request/repository-path.js'
import { listPushMirrors } from '../../../sql/repositories/push-mirrors.js'
import { updateRepository } from '../../../sql/repositories/repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { git } from '../../helpers/git-client.js'
import { aRepository } from '../../helpers/rows.js'
import { breakOffAfter, referencesOf, serveBare, serveWith } from '../../helpers/sources.js'
import { newWorkingCopy, writeHistory } from '../../helpers/working-copy.js'

async function aPushMirror(t: Test) {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  const there = await serveBare(t)
  const seen: (string | undefined)[] = []
  const front = await serveWith(t, (request, response) => {
    seen.push(request.headers.authorization)
    breakOffAfter(there.url, Number.POSITIVE_INFINITY)(request, response)
  })
  const ada = await fixture.addUser('ada')
  const repository = await aRepository(db, ada.id, 'r')
  const path = repositoryPathOf(context, repository)
  await initRepository(context.git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  await writeHistory(copy, { commits: 5, branches: 3, tags: 2 })
  await copy.git('push', '--quiet', path, 'refs/heads/*', 'refs/tags/*', 'main:refs/pull/1/head')
  await createPushMirror(context, repository, {
    address: front.url,
    username: 'eve',
    password: 'secret',
    intervalMs: 3_600_000,
    syncsOnPush: true,
  })
  const find = async () => {
    const [mirror] = await listPushMirrors(db, repository.id)
    if (mirror === undefined) throw new Error('no push mirror')
    return mirror
  }
  const { id } = await find()
  const run = (changed = context) =>
    SYNC_PUSH_MIRROR.run(changed, String(id), new AbortController().signal)
  return { context, fixture, there, seen, repository, path, copy, find, run }
}

/** Returns the branches and tags of a repository. */
async function sharedRefs(path: string): Promise<readonly string[]> {
  const lines = (await referencesOf(path)).split('\n')
  return lines.filter((line) => /^refs\/(?:heads|tags)\//.test(line))
}

t.test('a push mirror gets all branches and tags, and loses those that are gone', async (t) => {
  const { fixture, there, seen, path, copy, find, run } = await aPushMirror(t)
  const { credentialsSealed } = await find()
  t.ok(credentialsSealed)
  t.notMatch(credentialsSealed, 'secret')
  await run()
  const basic = `Basic ${Buffer.from('eve:secret').toString('base64')}`
  t.strictSame([...new Set(seen)], [basic])
  t.strictSame((await referencesOf(there.path)).split('\n'), await sharedRefs(path), 'no pulls')
  t.match(await find(), { lastError: '' })
  t.ok((await find()).triedAtMs)
  const { next_at } = await fixture.db('push_mirrors').first('next_at')
  t.ok(Math.abs(next_at - Date.now() - 3_600_000) < 60_000)
  await copy.git('commit', '--quiet', '--amend', '-m', 'Another word')
  await copy.git('push', '--quiet', '--force', path, 'main', ':branch-1', ':tag-1', 'main:new')
  await run()
  t.strictSame(await sharedRefs(there.path), await sharedRefs(path))
})

t.test('a refused ref is reported, and the other refs are pushed', async (t) => {
  const { fixture, there, path, find, run } = await aPushMirror(t)
  await git(['config', 'receive.denyDeletes', 'true'], { cwd: there.path })
  await git(['config', 'receive.shallowUpdate', 'false'], { cwd: there.path })
  await git(['push', '--quiet', there.path, 'main:refs/heads/theirs'], { cwd: path })
  await run()
  t.match((await find()).lastError, /^\[remote rejected\] theirs \(deletion prohibited\)$/)
  t.match(fixture.lines.at(-1), { level: 40, msg: 'a push mirror was not updated' })
  const expected = await sharedRefs(path)
  t.strictSame(
    (await sharedRefs(there.path)).filter((line) => !line.includes('/theirs ')),
    expected,
  )
})

t.test('an address that has become private is not called', async (t) => {
  const { fixture, context, seen, find, run } = await aPushMirror(t)
  const settings = {
    ...fixture.settings,
    outbound: { allow: { entries: [], hasName: () => false, hasAddress: () => false } },
  }
  await run({ ...context, settings })
  t.strictSame(seen, [])
  t.match((await find()).lastError, /disallowed hosts/)
})

t.test('nothing is pushed from an empty, archived or deleted repository', async (t) => {
  const { fixture, context, seen, path, find, repository, run } = await aPushMirror(t)
  await updateRepository(fixture.db, repository.id, { isArchived: true })
  await run()
  await updateRepository(fixture.db, repository.id, { isArchived: false })
  await rm(join(path, 'refs'), { recursive: true })
  await mkdir(join(path, 'refs'))
  await run()
  const { signal } = new AbortController()
  await SYNC_PUSH_MIRROR.run(context, '999', signal)
  t.strictSame(seen, [])
  t.equal((await find()).triedAtMs, undefined)
})

t.test('an aborted push is not recorded as a failure of the other server', async (t) => {
  const { context, find } = await aPushMirror(t)
  const { id } = await find()
  await t.rejects(SYNC_PUSH_MIRROR.run(context, String(id), AbortSignal.abort()))
  t.equal((await find()).triedAtMs, undefined)
})
