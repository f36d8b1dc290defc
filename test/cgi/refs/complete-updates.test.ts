/** Recovery completes a push that was interrupted between its refs, and moves no other ref. */

import { randomBytes } from 'node:crypto'
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rmdir,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import {
  type JournalEntry,
  listJournalEntries,
  openJournal,
  type RecordedUpdates,
} from '../../../cgi/maintenance/journal.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { writeCommit, writeTree } from '../../../cgi/objects/write-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { type PushedChange, readChangeNote } from '../../../cgi/refs/pushed-changes.js'
import {
  prepareUpdateList,
  readUpdateList,
  settleUpdateList,
  sweepUpdateLists,
  writeUpdateList,
} from '../../../cgi/refs/update-list.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const ABSENT = '1'.repeat(40)

async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const dataDir = await temporaryFolder(t)
  await openJournal(dataDir)
  const bare = join(dataDir, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat })
  const tree = await writeTree(ours, bare, [])
  const ada = { name: 'Ada', email: 'ada@example.com', atMs: 0, offsetMinutes: 0 }
  const commit = (message: string) =>
    writeCommit(ours, bare, { tree, parents: [], author: ada, committer: ada, message })
  const [one, two, three] = await Promise.all(['one', 'two', 'three'].map(commit))
  const ids = { one: one ?? '', two: two ?? '', three: three ?? '' }

  return {
    dataDir,
    bare,
    ...ids,
    commit,
    /** Sets or deletes refs. */
    async set(refs: Readonly<Record<string, string | undefined>>) {
      for (const [name, id] of Object.entries(refs)) {
        const words = id === undefined ? ['-d', `refs/${name}`] : [`refs/${name}`, id]
        await git(['update-ref', ...words], { cwd: bare })
      }
    },
    /** Adds a push whose processes are dead to the journal. */
    async note(changes: readonly PushedChange[], more: Partial<RecordedUpdates> = {}) {
      const { file } = prepareUpdateList(ours, dataDir)
      await writeUpdateList(file, changes)
      const dead = { pid: 999_999_999, identity: 'another boot/1' }
      const entry: JournalEntry = {
        host: hostname(),
        gateway: dead,
        leader: dead,
        repositoryPath: bare,
        startedAtMs: Date.now(),
        updates: { file, writer: 'git', ...more },
      }
      const name = `${randomBytes(12).toString('hex')}.json`
      await symlink(JSON.stringify(entry), join(dataDir, 'pushes', name))
      return file
    },
    /** Runs recovery and returns the refs by name. */
    async recovered() {
      await recover(dataDir)
      t.equal((await listJournalEntries(dataDir)).size, 0, 'the journal entry is removed')
      const text = await git(['for-each-ref', '--format=%(refname) %(objectname)'], { cwd: bare })
      const lines = text === '' ? [] : text.split('\n')
      return Object.fromEntries(lines.map((line) => line.replace('refs/', '').split(' ')))
    },
  }
}

function update(name: string, before: string | undefined, after: string | undefined): PushedChange {
  return { name: `refs/${name}`, before, after }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(
    `${format}: if one ref of an interrupted push has changed, the others are completed`,
    async (t) => {
      const { set, note, recovered, one, two } = await scene(t, format)
      await set({ 'heads/main': two, 'heads/old': one, 'tags/v1': one })
      const file = await note([
        update('heads/main', one, two),
        update('heads/new', undefined, two),
        update('heads/old', one, undefined),
        update('tags/v1', one, two),
      ])
      t.strictSame(await recovered(), { 'heads/main': two, 'heads/new': two, 'tags/v1': two })
      t.equal(await readFile(file).catch(() => 'gone'), 'gone')
    },
  )
}

t.test('if no ref of an interrupted push has changed, none is changed', async (t) => {
  const { set, note, recovered, one, two } = await scene(t)
  const refs = { 'heads/main': one, 'heads/old': one }
  await set(refs)
  await note([
    update('heads/main', one, two),
    update('heads/new', undefined, two),
    update('heads/old', one, undefined),
  ])
  t.strictSame(await recovered(), refs)
})

t.test('a ref that has been moved by another writer since is left unchanged', async (t) => {
  const { set, note, recovered, one, two, three } = await scene(t)
  await set({ 'heads/main': three, 'heads/side': two, 'heads/taken': three })
  await note([
    update('heads/main', one, two),
    update('heads/side', one, two),
    update('heads/taken', undefined, two),
    update('heads/gone', one, two),
    update('heads/new', undefined, two),
  ])
  t.strictSame(await recovered(), {
    'heads/main': three,
    'heads/new': two,
    'heads/side': two,
    'heads/taken': three,
  })
})

t.test('recovery refuses the ref changes that git refuses in a push', async (t) => {
  const { set, note, recovered, one, two, bare } = await scene(t)
  await set({ 'heads/main': one, 'heads/side': two, 'heads/a': one, 'pull/1/head': one })
  const tree = await git(['rev-parse', `${one}^{tree}`], { cwd: bare })
  await note([
    update('heads/main', one, undefined),
    update('heads/side', one, two),
    update('heads/a/b', undefined, two),
    update('heads/tree', undefined, tree),
    update('pull/1/head', one, two),
    update('heads/..', undefined, two),
    update('heads/new', undefined, two),
  ])
  t.strictSame(await recovered(), {
    'heads/a': one,
    'heads/main': one,
    'heads/new': two,
    'heads/side': two,
    'pull/1/head': one,
  })
})

t.test('hidden refs are completed if the gateway itself moved them', async (t) => {
  const { set, note, recovered, one, two } = await scene(t)
  await set({ 'heads/main': two, 'pull/1/head': one })
  const changes = [update('heads/main', one, two), update('pull/1/head', one, two)]
  await note(changes, { writer: 'gateway' })
  t.strictSame(await recovered(), { 'heads/main': two, 'pull/1/head': two })
})

t.test('a ref below a name that the same push deletes is created', async (t) => {
  const { set, note, recovered, one, two } = await scene(t)
  await set({ 'heads/main': two, 'heads/a': one })
  await note([
    update('heads/main', one, two),
    update('heads/a', one, undefined),
    update('heads/a/b', undefined, one),
  ])
  t.strictSame(await recovered(), { 'heads/a/b': one, 'heads/main': two })
})

t.test('refs to missing objects are not created', async (t) => {
  const { set, note, recovered, two, one, bare } = await scene(t)
  await set({ 'heads/main': two })
  const orphan = await git(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
    cwd: bare,
    input: `tree ${ABSENT}\nauthor A <a@b.c> 0 +0000\ncommitter A <a@b.c> 0 +0000\n\nx\n`,
  })
  for (const id of [ABSENT, orphan]) {
    await note([update('heads/main', one, two), update('heads/new', undefined, id)])
    t.strictSame(await recovered(), { 'heads/main': two })
  }
})

t.test('an update list without its last line means that git changed no ref', async (t) => {
  const { set, note, recovered, one, two, dataDir } = await scene(t)
  await set({ 'heads/main': two })
  const file = await note([update('heads/main', one, two)])
  // A client could end the list like this with a ref name that contains line breaks.
  await appendFile(file, `${'0'.repeat(40)} ${two} refs/heads/x\nend\n${dirname(file)}\n`)
  t.equal(await readUpdateList(file), undefined)
  await appendFile(file, `${'0'.repeat(40)} ${two} refs/heads/new\n`)
  t.strictSame(await recovered(), { 'heads/main': two })
  t.equal((await listJournalEntries(dataDir)).size, 0)
})

t.test('webhooks are notified of the completed changes as after any push', async (t) => {
  const { set, note, recovered, one, two, three, dataDir } = await scene(t)
  await set({ 'heads/main': two, 'heads/moved': three })
  const changeNote = join(dataDir, 'changes', '7-ada-0123')
  await mkdir(dirname(changeNote))
  const updates = [
    update('heads/main', one, two),
    update('heads/new', undefined, two),
    update('heads/moved', one, two),
  ]
  await note(updates, { changeNote })
  await recovered()
  const zeros = '0'.repeat(40)
  const lines = [`${one} ${two} refs/heads/main`, `${zeros} ${two} refs/heads/new`, 'end', '']
  t.equal(await readFile(changeNote, 'utf8'), lines.join('\n'))
})

t.test('the only change of an interrupted push is recorded if its ref has changed', async (t) => {
  const { set, note, recovered, one, two, dataDir } = await scene(t)
  await set({ 'heads/main': two })
  const made = join(dataDir, 'changes', '7-ada-0123')
  const failed = join(dataDir, 'changes', '7-ada-4567')
  const change = update('heads/main', one, two)
  await note([], { changeNote: made, change })
  await note([], { changeNote: failed, change: update('heads/new', undefined, two) })
  t.strictSame(await recovered(), { 'heads/main': two })
  t.match(await readChangeNote(made), { changes: [change], isWhole: true })
  t.equal(await readChangeNote(failed), undefined)
})

t.test('a ref lock of another process keeps the push in the journal', async (t) => {
  const { set, note, recovered, one, two, dataDir, bare } = await scene(t)
  await set({ 'heads/main': two })
  await note([update('heads/main', one, two), update('heads/new', undefined, two)])
  // A folder, because an unchanged file is removed as a leftover of a dead push.
  const lock = join(bare, 'refs/heads/new.lock')
  await mkdir(lock)
  t.strictSame(await recover(dataDir), [])
  t.equal((await listJournalEntries(dataDir)).size, 1)
  await rmdir(lock)
  t.strictSame(await recovered(), { 'heads/main': two, 'heads/new': two })
})

t.test(
  'git writes the update list of a push of several refs and empties it after the last one',
  async (t) => {
    const { dataDir, bare } = await scene(t)
    const copy = await newWorkingCopy(t)
    await copy.commit('one')
    const push = async (list: ReturnType<typeof prepareUpdateList>, ...refs: readonly string[]) => {
      const [[key = '', value = ''] = []] = list.config
      await git(['config', key, value], { cwd: bare })
      return copy.try(['push', '--quiet', bare, ...refs], { environment: list.variables })
    }
    const single = prepareUpdateList(ours, dataDir)
    t.equal((await push(single, 'main')).exitCode, 0)
    t.equal(await readFile(single.file, 'utf8').catch(() => 'none'), 'none')
    const several = prepareUpdateList(ours, dataDir)
    t.equal((await push(several, 'main:a', 'main:b', 'main:c')).exitCode, 0)
    t.equal(await readFile(several.file, 'utf8'), '')
    const unwritable = { ...several, variables: { GATEHOUSE_UPDATES: join(dataDir, 'none/x') } }
    t.not(
      (await push(unwritable, 'main:d', 'main:e')).exitCode,
      0,
      'a hook that cannot write the list refuses the push',
    )
    t.not((await tryGit(['rev-parse', '--verify', 'd'], { cwd: bare })).exitCode, 0)
  },
)

t.test('an update list is removed only if it is empty', async (t) => {
  const { dataDir, one } = await scene(t)
  const { file } = prepareUpdateList(ours, dataDir)
  await settleUpdateList(file)
  await writeUpdateList(file, [update('heads/main', undefined, one)])
  await settleUpdateList(file)
  t.strictSame(await readUpdateList(file), [update('heads/main', undefined, one)])
  await writeFile(file, '')
  await settleUpdateList(file)
  t.strictSame(await readdir(dirname(file)), [])
})

t.test('an update list without a journal entry is removed after two days', async (t) => {
  const { dataDir } = await scene(t)
  const [old, young] = [
    prepareUpdateList(ours, dataDir).file,
    prepareUpdateList(ours, dataDir).file,
  ]
  for (const file of [old, young]) await writeUpdateList(file, [])
  await utimes(old, 1, 1)
  await sweepUpdateLists(dataDir)
  t.strictSame(await readdir(dirname(old)), [basename(young)])
})
