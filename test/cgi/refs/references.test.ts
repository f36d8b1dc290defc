/** References are updated in one transaction, and only from their expected values. */

import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { writeCommit, writeTree } from '../../../cgi/objects/write-objects.js'
import { findGit, type Git } from '../../../cgi/process/git.js'
import { moveReferences, type ReferenceChange } from '../../../cgi/refs/references.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { isFailure } from '../../../conf/failures.js'
import { countedGit } from '../../helpers/counted-git.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()

async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const dataDir = await temporaryFolder(t)
  const bare = join(dataDir, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat })
  const journal = await openJournal(dataDir)
  const tree = await writeTree(ours, bare, [])
  const ada = { name: 'Ada', email: 'ada@example.com', atMs: 0, offsetMinutes: 0 }
  const ids = await Promise.all(
    ['one', 'two'].map((message) =>
      writeCommit(ours, bare, { tree, parents: [], author: ada, committer: ada, message }),
    ),
  )
  const [one = '', two = ''] = ids
  return {
    dataDir,
    bare,
    tree,
    one,
    two,
    move: (changes: readonly ReferenceChange[], by: Git = ours) =>
      moveReferences(by, bare, changes, { journal }),
    async all() {
      const text = await git(['for-each-ref', '--format=%(refname) %(objectname)'], { cwd: bare })
      return text === '' ? [] : text.split('\n')
    },
  }
}

const CONFLICT = { failure: 'conflict', message: /meanwhile|name conflicts/ }

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`references are created, moved and deleted: ${format}`, async (t) => {
    const { move, all, one, two, dataDir } = await scene(t, format)
    const main = 'refs/heads/main'
    await move([
      { name: main, before: undefined, after: one },
      { name: 'refs/tags/-x"y', before: undefined, after: two },
    ])
    t.strictSame(await all(), [`${main} ${one}`, `refs/tags/-x"y ${two}`])
    await move([{ name: main, before: one, after: two }])
    t.strictSame(await all(), [`${main} ${two}`, `refs/tags/-x"y ${two}`])
    await move([
      { name: main, before: two, after: undefined },
      { name: 'refs/heads/new', before: undefined, after: two },
      { name: 'refs/tags/-x"y', before: two, after: undefined },
    ])
    t.strictSame(await all(), [`refs/heads/new ${two}`])
    t.equal((await listJournalEntries(dataDir)).size, 0, 'no journal entry is left')
  })
}

t.test(
  'a reference with another value, or a conflicting name, refuses the whole transaction',
  async (t) => {
    const { move, all, one, two, bare, dataDir } = await scene(t)
    await move([
      { name: 'refs/heads/main', before: undefined, after: one },
      { name: 'refs/heads/a/b', before: undefined, after: one },
    ])
    const other = { name: 'refs/heads/other', before: undefined, after: one }
    const refused: readonly ReferenceChange[] = [
      { name: 'refs/heads/main', before: two, after: one },
      { name: 'refs/heads/main', before: undefined, after: two },
      { name: 'refs/heads/main', before: two, after: undefined },
      { name: 'refs/heads/absent', before: one, after: two },
      { name: 'refs/heads/absent', before: one, after: undefined },
      { name: 'refs/heads/main/x', before: undefined, after: two },
      { name: 'refs/heads/a', before: undefined, after: two },
      { name: 'refs/heads/other/x', before: undefined, after: two },
    ]
    for (const pack of [false, true]) {
      if (pack) await git(['pack-refs', '--all'], { cwd: bare })
      const before = await all()
      for (const change of refused) {
        await t.rejects(move([other, change]), CONFLICT, JSON.stringify(change))
      }
      t.strictSame(await all(), before)
    }
    t.equal((await listJournalEntries(dataDir)).size, 0)
  },
)

t.test('of many concurrent moves from the same value exactly one succeeds', async (t) => {
  const { move, all, one, two } = await scene(t)
  const change = { name: 'refs/heads/main', before: undefined }
  const moves = Array.from({ length: 8 }, (_, at) =>
    move([{ ...change, after: at % 2 ? one : two }]),
  )
  const ends = await Promise.allSettled(moves)
  t.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const end of ends) if (end.status === 'rejected') t.ok(isFailure(end.reason, 'conflict'))
  t.equal((await all()).length, 1)
})

t.test('an invalid reference name or object id is a bug', async (t) => {
  const { move, one } = await scene(t)
  const wrong: readonly ReferenceChange[] = [
    { name: 'HEAD', before: undefined, after: one },
    { name: 'refs/heads/a b', before: undefined, after: one },
    { name: 'refs/heads/../x', before: undefined, after: one },
    { name: 'refs/heads/a', before: undefined, after: 'HEAD' },
    { name: 'refs/heads/a', before: undefined, after: undefined },
  ]
  for (const change of wrong) await t.rejects(move([change]), /change of a reference is not valid/)
  const absent = '1'.repeat(40)
  await t.rejects(
    move([{ name: 'refs/heads/a', before: undefined, after: absent }]),
    /nonexistent object/,
  )
})

t.test(
  'a git that was killed while it held a lock stays in the journal and is recovered',
  async (t) => {
    const { move, all, two, bare, dataDir } = await scene(t)
    const lock = join(bare, 'refs', 'heads', 'main.lock')
    const folder = join(dataDir, 'bin')
    await mkdir(folder)
    const file = join(folder, 'git')
    // The script takes the lock as git does, and is killed as by the kernel when memory runs out.
    await writeFile(file, `#!/bin/sh\ncat >/dev/null\n: > '${lock}'\nkill -9 $$\n`)
    await chmod(file, 0o755)
    const change = { name: 'refs/heads/main', before: undefined, after: two }
    await t.rejects(move([change], { ...ours, file }), /SIGKILL/)
    t.ok(existsSync(lock))
    t.equal((await listJournalEntries(dataDir)).size, 1)
    t.strictSame(await recover(dataDir), [bare])
    t.notOk(existsSync(lock))
    await move([change])
    t.strictSame(await all(), [`refs/heads/main ${two}`])
  },
)

t.test('a transaction of several refs that was killed after the first is completed', async (t) => {
  const { move, all, one, two, bare, dataDir } = await scene(t)
  const first = { name: 'refs/heads/main', before: undefined, after: one }
  const file = join(dataDir, 'git')
  const script = `cat >/dev/null; git -C '${bare}' update-ref ${first.name} ${one}; kill -9 $$`
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const others = [
    { name: 'refs/pull/1/head', before: undefined, after: two },
    { name: 'refs/heads/side', before: undefined, after: two },
  ]
  await t.rejects(move([first, ...others], { ...ours, file }), /SIGKILL/)
  t.strictSame(await all(), [`refs/heads/main ${one}`])
  t.strictSame(await recover(dataDir), [bare])
  t.strictSame(await all(), [
    `refs/heads/main ${one}`,
    `refs/heads/side ${two}`,
    `refs/pull/1/head ${two}`,
  ])
  t.strictSame(await readdir(join(dataDir, 'pushes')), [], 'no journal entry is left')
})

t.test('git is started for a change unless it moves an existing branch', async (t) => {
  const { move, all, one, two, dataDir } = await scene(t)
  const counted = await countedGit(dataDir)
  const main = 'refs/heads/main'
  await move([{ name: main, before: undefined, after: one }], counted)
  t.strictSame(await counted.started(), ['update-ref'])
  await move([{ name: main, before: one, after: two }], counted)
  t.equal((await counted.started()).length, 1)
  t.strictSame(await all(), [`${main} ${two}`])
  await move([{ name: 'refs/tags/x', before: undefined, after: one }])
  await move([{ name: 'refs/tags/x', before: one, after: two }], counted)
  await move([{ name: main, before: two, after: undefined }], counted)
  t.strictSame(await counted.started(), ['update-ref', 'update-ref', 'update-ref'])
  t.equal((await listJournalEntries(dataDir)).size, 0, 'no journal entry is left')
})

t.test('a branch is moved only to a commit that exists', async (t) => {
  const { move, all, one, tree } = await scene(t)
  const main = { name: 'refs/heads/main', before: one }
  await move([{ ...main, before: undefined, after: one }])
  await t.rejects(move([{ ...main, after: '1'.repeat(40) }]), /nonexistent object/)
  await t.rejects(move([{ ...main, after: tree }]), /non-commit object/)
  t.strictSame(await all(), [`${main.name} ${one}`])
})

t.test('a lock of another process is waited for and then reported as a conflict', async (t) => {
  const { move, one, bare } = await scene(t)
  await writeFile(join(bare, 'refs', 'heads', 'main.lock'), '')
  const moved = move([{ name: 'refs/heads/main', before: undefined, after: one }])
  await t.rejects(moved, { failure: 'conflict', message: /Another process is changing/ })
})
