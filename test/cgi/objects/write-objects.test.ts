/** Written objects are identical to those that git writes, and `git fsck` accepts them. */

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseCommit, parseTag } from '../../../cgi/objects/commit-object.js'
import { writeBlob, writeCommit, writeTag, writeTree } from '../../../cgi/objects/write-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { diskFailureOf } from '../../../conf/disk-failure.js'
import { mountSmallDisk } from '../../helpers/small-disk.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const ADA = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  atMs: 1_700_000_000_000,
  offsetMinutes: -210,
}
const BOB = { name: 'Bob', email: 'bob@example.com', atMs: 1_700_000_060_999, offsetMinutes: 345 }

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a commit of two files is identical to git's: ${format}`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const bare = join(copy.path, '.git')
    const absent = '1'.repeat(format === 'sha1' ? 40 : 64)
    const content = Buffer.from([0, 1, 2, 0xff, 0x0a])
    const blob = await writeBlob(ours, bare, content)
    const empty = await writeBlob(ours, bare, '')
    const inner = await writeTree(ours, bare, [
      { mode: '120000', name: 'z', id: blob },
      { mode: '100755', name: Buffer.from([0x61, 0xff]), id: empty },
    ])
    const tree = await writeTree(ours, bare, [
      { mode: '40000', name: 'b', id: inner },
      { mode: '160000', name: 'module', id: absent },
      { mode: '100644', name: 'b.c', id: empty },
    ])
    t.equal(
      await copy.git('ls-tree', '-r', '-t', tree),
      [
        `100644 blob ${empty}\tb.c`,
        `040000 tree ${inner}\tb`,
        `100755 blob ${empty}\t"b/a\\377"`,
        `120000 blob ${blob}\tb/z`,
        `160000 commit ${absent}\tmodule`,
      ].join('\n'),
    )
    const parent = await writeCommit(ours, bare, {
      tree,
      parents: [],
      author: ADA,
      committer: BOB,
      message: 'First\r\n\r\nWhy.\r\n\r\n',
    })
    const child = await writeCommit(ours, bare, {
      tree: inner,
      parents: [parent],
      author: BOB,
      committer: ADA,
      message: 'Zweite: ü',
    })
    const commit = parseCommit(parent, Buffer.from(await copy.git('cat-file', 'commit', parent)))
    t.match(commit, {
      tree,
      parents: [],
      author: ADA,
      committer: { ...BOB, atMs: 1_700_000_060_000 },
    })
    t.equal(commit.message, 'First\n\nWhy.')
    t.equal(
      await copy.git('log', '-1', '--format=%P %an %ai %s', child),
      `${parent} Bob 2023-11-15 03:59:20 +0545 Zweite: ü`,
    )
    const tag = await writeTag(ours, bare, {
      object: child,
      type: 'commit',
      name: 'v1',
      tagger: ADA,
      message: 'One',
    })
    const text = await copy.git('cat-file', 'tag', tag)
    t.match(parseTag(tag, Buffer.from(`${text}\n`)), {
      object: child,
      type: 'commit',
      name: 'v1',
      tagger: ADA,
      message: 'One\n',
    })
    await copy.git('update-ref', 'refs/heads/main', child)
    await copy.git('update-ref', 'refs/tags/v1', tag)
    await copy.git('fsck', '--strict', '--full')
  })
}

t.test('characters that would end a name, an address or a message are left out', async (t) => {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  const tree = await writeTree(ours, bare, [])
  const odd = { ...ADA, name: ' A<d>a\ncommitter x ', email: 'a@b>\n<c', atMs: -5 }
  const none = { ...ADA, name: '<>' }
  const id = await writeCommit(ours, bare, {
    tree,
    parents: [],
    author: odd,
    committer: none,
    message: 'a\0b',
  })
  t.equal(
    await copy.git('cat-file', 'commit', id),
    [
      `tree ${tree}`,
      'author Adacommitter x <a@bc> 0 -0330',
      'committer unknown <ada@example.com> 1700000000 -0330',
      '\nab',
    ].join('\n'),
  )
  await copy.git('update-ref', 'refs/heads/main', id)
  await copy.git('fsck', '--strict')
})

t.test('a tree with an invalid file name is a bug and is not written', async (t) => {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  const id = await writeBlob(ours, bare, 'x')
  for (const name of ['.git', '..', 'a/b', '', 'GIT~1', Buffer.from('.g\u200cit')]) {
    const written = writeTree(ours, bare, [{ mode: '100644', name, id }])
    await t.rejects(written, /unsafe/)
  }
})

t.test('a large file is written completely', async (t) => {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  const id = await writeBlob(ours, bare, Buffer.alloc(5_000_000, 'abcdefg'))
  t.equal(await copy.git('cat-file', '-s', id), '5000000')
})

t.test('an object that the repository has is not written again', async (t) => {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  const id = await writeBlob(ours, bare, 'twice')
  t.equal(await writeBlob(ours, bare, 'twice'), id)
  await copy.git('update-ref', 'refs/tags/blob', id)
  await copy.git('repack', '-a', '-d', '--quiet')
  const before = await readdir(join(bare, 'objects'))
  t.equal(await writeBlob(ours, bare, 'twice'), id, 'also if it is in a pack')
  t.strictSame(await readdir(join(bare, 'objects')), before)
})

t.test('an object that does not fit on the disk leaves no file', async (t) => {
  const disk = await mountSmallDisk(t, 'size=2m')
  if (disk === undefined)
    return t.comment('skipped: a small disk cannot be mounted on this machine')
  const bare = join(disk.path, 'r.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
  const before = await readdir(bare, { recursive: true })
  const written = writeBlob(ours, bare, randomBytes(3_000_000))
  const error = await written.catch((thrown: unknown) => thrown)
  t.match(diskFailureOf(error), { failure: 'insufficient_storage', cause: /No space left/ })
  t.strictSame(await readdir(bare, { recursive: true }), before)
  t.match(
    await writeBlob(ours, bare, 'small'),
    /^[0-9a-f]{40}$/,
    'an object that fits is still written',
  )
})
