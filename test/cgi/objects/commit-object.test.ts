/** Commits and tags are parsed as git writes them, malformed ones as far as possible. */

import t from 'tap'
import { parseCommit, parseTag } from '../../../cgi/objects/commit-object.js'
import { git } from '../../helpers/git-client.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ID = '1'.repeat(40)

t.test('a commit that git wrote is parsed', async (t) => {
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('a')
  await copy.git('checkout', '--quiet', '--orphan', 'other')
  const second = await copy.commit('b')
  const environment = {
    GIT_AUTHOR_NAME: 'Ada  Łovelace',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_AUTHOR_DATE: '1700000000 -0330',
    GIT_COMMITTER_NAME: 'Bob',
    GIT_COMMITTER_EMAIL: 'bob@example.com',
    GIT_COMMITTER_DATE: '1700000001 +0100',
  }
  const tree = await copy.git('rev-parse', 'HEAD^{tree}')
  const id = await git(
    ['commit-tree', tree, '-p', first, '-p', second, '-m', 'Title', '-m', 'Body'],
    { cwd: copy.path, environment },
  )
  const content = await git(['cat-file', 'commit', id], { cwd: copy.path })
  t.strictSame(parseCommit(id, Buffer.from(`${content}\n`)), {
    id,
    tree,
    parents: [first, second],
    signature: undefined,
    author: {
      name: 'Ada  Łovelace',
      email: 'ada@example.com',
      atMs: 1_700_000_000_000,
      offsetMinutes: -210,
    },
    committer: {
      name: 'Bob',
      email: 'bob@example.com',
      atMs: 1_700_000_001_000,
      offsetMinutes: 60,
    },
    message: 'Title\n\nBody\n',
  })
})

t.test('an annotated tag is parsed', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  await copy.git('tag', '-m', 'The first', 'v1')
  const id = await copy.git('rev-parse', 'v1')
  const content = await copy.git('cat-file', 'tag', id)
  const tag = parseTag(id, Buffer.from(`${content}\n`))
  t.match(tag, { id, object: tip, type: 'commit', name: 'v1', message: 'The first\n' })
  t.type(tag.tagger?.email, 'string')
})

t.test('a signature is separated from the content that it signs', async (t) => {
  const head = `tree ${ID}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n`
  const armored = '-----BEGIN SSH SIGNATURE-----\n\nAAAA\n-----END SSH SIGNATURE-----'
  const signed = `${head}gpgsig ${armored.replaceAll('\n', '\n ')}\n\nTitle\n`
  t.match(parseCommit(ID, Buffer.from(signed)), {
    signature: { armored, payload: Buffer.from(`${head}\nTitle\n`) },
    message: 'Title\n',
  })
})

t.test('malformed commits and tags are parsed as far as possible', async (t) => {
  const authors = ['', 'A', 'A <', '<> 1 +0000', 'A <a@b>', `A <a@b> ${'9'.repeat(30)} +0000`]
  for (const author of authors) {
    const commit = parseCommit(ID, Buffer.from(`tree ${ID}\nauthor ${author}\n\nx`))
    t.equal(commit.message, 'x', author)
    t.ok(Number.isFinite(new Date(commit.author.atMs).getTime()), author)
  }
  t.match(parseCommit(ID, Buffer.from('')), { tree: '', parents: [], message: '' })
  t.match(parseTag(ID, Buffer.from('')), { tagger: undefined, message: '' })
})
