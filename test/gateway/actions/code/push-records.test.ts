/** Records of pushes: written for feeds and webhooks, and published once. */

import { readdir, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../../../cgi/maintenance/journal.js'
import { recover } from '../../../../cgi/maintenance/recovery.js'
import { startProcessNow } from '../../../../cgi/process/run.js'
import { readChangeNote } from '../../../../cgi/refs/pushed-changes.js'
import { openPush } from '../../../../gateway/actions/code/open-push.js'
import { openPushRecord, publishLeftPushes } from '../../../../gateway/actions/code/push-records.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { DEFAULT_SETTINGS } from '../../../../gateway/objects/code/branch-protection-object.js'
import { createEvents } from '../../../../gateway/request/events.js'
import { repositoryPathOf } from '../../../../gateway/request/repository-path.js'
import { createProtection } from '../../../../sql/code/branch-protections.js'
import { closeDatabase } from '../../../../sql/database/database.js'
import { aWebhook, listDeliveredPayloads } from '../../../helpers/deliveries.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'
import { until } from '../../../helpers/server-processes.js'

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const user = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: user,
    creator: user,
    name: 'library',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    hasReadme: true,
  })
  const listen = () =>
    aWebhook(fixture.db, { repositoryId: repository.id }, { events: ['delete', 'push'] })
  const folder = join(fixture.settings.data.dir, 'changes')
  const left = () => readdir(folder).catch(() => [])
  const line = `${'1'.repeat(40)} ${'0'.repeat(40)} refs/heads/side\n`
  return { context, fixture, user, repository, listen, left, line }
}

t.test('git records no changes without an interested subscriber', async (t) => {
  const { context, repository, user, left } = await scene(t)
  const uninterested = { ...context, events: createEvents(context.log) }
  const note = await openPushRecord(uninterested, { repository, user })
  t.match(note, { config: [], variables: {} })
  await note.publish()
  t.strictSame(await left(), [])
})

t.test("a record is published with the pusher's name and deleted", async (t) => {
  const { context, fixture, repository, user, listen, left, line } = await scene(t)
  await listen()
  for (const pusher of [user, undefined]) {
    const note = await openPushRecord(context, { repository, user: pusher })
    await writeFile(note.variables['GATEHOUSE_CHANGES'] ?? '', `${line}end\n`)
    await note.publish()
    await note.publish()
  }
  const deliveries = await listDeliveredPayloads(fixture.db)
  t.equal(deliveries.length, 2)
  t.match(deliveries[0], { event: 'delete', payload: { ref: 'side', sender: { login: 'ada' } } })
  t.strictSame(await left(), [])
})

t.test('a known change is published once, or recorded while the database fails', async (t) => {
  const { context, fixture, repository, user, listen, left } = await scene(t)
  await listen()
  const change = { name: 'refs/heads/side', before: '1'.repeat(40), after: undefined }
  const open = () => openPushRecord(context, { repository, user, change })
  const known = await open()
  t.match(known, { change, config: [], variables: {} })
  await known.publish()
  await known.publish()
  const [delivery, ...others] = await listDeliveredPayloads(fixture.db)
  t.match(delivery, { event: 'delete', payload: { ref: 'side', sender: { login: 'ada' } } })
  t.strictSame([others, await left()], [[], []])
  const unlucky = await open()
  await closeDatabase(fixture.db)
  await unlucky.publish()
  t.strictSame(await left(), [basename(unlucky.file ?? '')])
  t.match(await readChangeNote(unlucky.file ?? ''), { changes: [change], isWhole: true })
})

t.test('a known change is published after a crash between git and the publication', async (t) => {
  const { context, fixture, repository, user, left } = await scene(t)
  await aWebhook(fixture.db, { repositoryId: repository.id }, { events: ['create'] })
  const path = repositoryPathOf(context, repository)
  const id = await git(['rev-parse', 'main'], { cwd: path })
  await git(['branch', 'side', 'main'], { cwd: path })
  const change = { name: 'refs/heads/side', before: undefined, after: id }
  const push = await openPush(context, { repository, path, user, hasOneRef: true, change })
  const ended = startProcessNow('/bin/true', [], { environment: {}, timeoutMs: 10_000 })
  await push.begin(ended.pid ?? 0)
  ended.input.end()
  for await (const _ of ended.output);
  const { dir } = fixture.settings.data
  t.equal((await listJournalEntries(dir)).size, 1)
  await recover(dir)
  // A time later than now, as that of a file written in the present millisecond has a fraction.
  const soon = Date.now() / 1_000 + 1
  for (const name of await left()) await utimes(join(dir, 'changes', name), soon, soon)
  const finder = publishLeftPushes(context)
  await finder.stop()
  const deliveries = await listDeliveredPayloads(fixture.db)
  t.match(deliveries, [{ event: 'create', payload: { ref: 'side', sender: { login: 'ada' } } }])
  await push.end('applied')
  t.equal((await listDeliveredPayloads(fixture.db)).length, 1, 'no change is delivered twice')
  await push.close()
})

t.test('the hook records the change of a push that rules may refuse', async (t) => {
  const { context, fixture, repository, user } = await scene(t)
  const path = repositoryPathOf(context, repository)
  const change = { name: 'refs/heads/side', before: '1'.repeat(40), after: undefined }
  const open = async () => {
    const push = await openPush(context, { repository, path, user, hasOneRef: true, change })
    await push.close()
    return push
  }
  t.strictSame((await open()).change, change, 'without a rule, the gateway records it')
  await createProtection(fixture.db, {
    repositoryId: repository.id,
    ruleName: 'main',
    priority: 0,
    settings: DEFAULT_SETTINGS,
    lists: {},
  })
  t.match(await open(), { change: undefined, variables: { GATEHOUSE_CHANGES: /./ } })
})

t.test('records that were not published are published later, once', async (t) => {
  const { context, fixture, repository, user, listen, left, line } = await scene(t)
  await listen()
  const note = await openPushRecord(context, { repository, user })
  await writeFile(note.variables['GATEHOUSE_CHANGES'] ?? '', `${line}end\n`)
  const cut = await openPushRecord(context, { repository, user })
  await writeFile(cut.variables['GATEHOUSE_CHANGES'] ?? '', line)
  const finders = [publishLeftPushes(context), publishLeftPushes(context)]
  await until(left, (names) => names.length === 1, 10_000)
  await Promise.all(finders.map((finder) => finder.stop()))
  t.equal((await listDeliveredPayloads(fixture.db)).length, 1)
  t.equal((await left()).length, 1, 'an incomplete record is kept, because git may still write it')
  await closeDatabase(fixture.db)
  await cut.publish()
  t.equal((await left()).length, 1, 'the record is kept while the database is unavailable')
  t.match(fixture.lines.at(-1), {
    msg: 'the changes of a push were not published; they will be tried again',
  })
})
