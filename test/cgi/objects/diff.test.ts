/** Differences of two commits: lists with line counts, diffs, and patches that `git am` accepts. */

import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  type DiffInput,
  listChangedFiles,
  readDiff,
  readFileDiff,
} from '../../../cgi/objects/diff.js'
import { findGit } from '../../../cgi/process/git.js'
import { git } from '../../helpers/git-client.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('')

/** Name that git quotes or splits unless `-z` is given. */
const ODD = 'tab\tand\nbreak "ü" -h'

async function changed(t: Test) {
  const copy = await newWorkingCopy(t)
  for (const name of ['moved', 'gone', 'edited']) await copy.commit(name, `${LINES}${name}\n`)
  await copy.commit('bytes', Buffer.concat([Buffer.of(0), randomBytes(100)]))
  const from = await copy.commit('blank', 'a b\n')
  await copy.git('mv', 'moved', 'moved here')
  await copy.git('rm', '--quiet', 'gone')
  await copy.commit('edited', `${LINES.replace('line 3\n', 'other\n')}edited\nmore\n`)
  await copy.commit('bytes', Buffer.concat([Buffer.of(0), randomBytes(120)]))
  await copy.commit('blank', 'a  b\n')
  await writeFile(join(copy.path, ODD), 'new\n')
  await copy.git('add', ODD)
  await copy.git('commit', '--quiet', '-m', 'Write odd')
  const to = await copy.git('rev-parse', 'HEAD')
  return { copy, from, to }
}

async function textOf(copy: WorkingCopy, input: Omit<DiffInput, 'hasBinary'>, hasBinary = false) {
  const chunks: Uint8Array[] = []
  const diff = await readDiff(ours, copy.path, { ...input, hasBinary })
  for await (const chunk of diff) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

t.test('changed files are listed with their status, line counts and former names', async (t) => {
  const { copy, from, to } = await changed(t)
  const list = await listChangedFiles(ours, copy.path, { from, to })
  const file = (status: string, path: string, additions: number, deletions: number) => ({
    status,
    path,
    additions,
    deletions,
    formerPath: undefined,
  })
  t.strictSame(list, [
    file('changed', 'blank', 1, 1),
    file('changed', 'bytes', 0, 0),
    file('changed', 'edited', 2, 1),
    file('deleted', 'gone', 0, 21),
    { ...file('renamed', 'moved here', 0, 0), formerPath: 'moved' },
    file('added', ODD, 1, 0),
  ])
  const blank = (await listChangedFiles(ours, copy.path, { from, to, whitespace: 'ignore-change' }))
    .filter(({ path }) => path === 'blank')
    .map(({ additions }) => additions)
  t.strictSame(blank, [0])
  t.strictSame(await listChangedFiles(ours, copy.path, { from: to, to }), [])
})

t.test('git applies the diff, also that of binary files', async (t) => {
  const { copy, from, to } = await changed(t)
  const diff = await textOf(copy, { from, to, format: 'diff' })
  t.match(diff, /^diff --git a\/blank b\/blank\n/)
  t.match(diff, /^Binary files a\/bytes and b\/bytes differ$/m)
  t.match(diff, /^rename to moved here$/m)
  const whole = await textOf(copy, { from, to, format: 'diff' }, true)
  await copy.git('checkout', '--quiet', '--detach', from)
  const { exitCode } = await copy.try(['apply', '--index'], { input: whole })
  t.equal(exitCode, 0)
  t.equal(await copy.git('write-tree'), await copy.git('rev-parse', `${to}^{tree}`))
})

t.test('the patch format contains one mail per commit, oldest first', async (t) => {
  const { copy, from, to } = await changed(t)
  const patches = await textOf(copy, { from, to, format: 'patch' }, true)
  t.strictSame(
    [...patches.matchAll(/^Subject: \[PATCH (\d)\/4\] Write (\w+)/gm)].map(
      ([, n, name]) => `${n}${name}`,
    ),
    ['1edited', '2bytes', '3blank', '4odd'],
  )
  await copy.git('checkout', '--quiet', '--detach', from)
  t.match(await copy.try(['am', '--quiet'], { input: patches }), { exitCode: 0, errorText: '' })
  t.equal(await copy.git('rev-parse', 'HEAD^{tree}'), await copy.git('rev-parse', `${to}^{tree}`))
  t.match(await textOf(copy, { from, to, format: 'patch' }), /Binary files/)
})

t.test('the diff of one file is selected by its literal name, not by a pattern', async (t) => {
  const { copy, from, to } = await changed(t)
  const of = (file: string) => readFileDiff(ours, copy.path, { from, to, file })
  t.match(await of('edited'), /^diff --git a\/edited b\/edited\n.*\+other\n/s)
  t.match(await of(ODD), /\+new\n/)
  for (const file of ['*', ':(glob)**', 'absent', '-h', '--output=x']) t.equal(await of(file), '')
})

t.test("diff programs that the repository's attributes configure are not run", async (t) => {
  const { copy, from, to } = await changed(t)
  const script = join(copy.path, 'touch.sh')
  const mark = join(copy.path, 'ran')
  await writeFile(script, `#!/bin/sh\ntouch ${mark}\n`)
  await chmod(script, 0o755)
  await mkdir(join(copy.path, '.git', 'info'))
  await writeFile(join(copy.path, '.git', 'info', 'attributes'), '* diff=evil\n')
  await copy.git('config', 'diff.evil.command', script)
  await copy.git('config', 'diff.evil.textconv', script)
  await copy.git('diff', from, to)
  const { exitCode } = await copy.try(['ls-files', '--error-unmatch', '-o', 'ran'])
  t.equal(exitCode, 0, 'plain git runs the program')
  await copy.git('clean', '--quiet', '-f', 'ran')
  await textOf(copy, { from, to, format: 'diff' })
  await textOf(copy, { from, to, format: 'patch' })
  await listChangedFiles(ours, copy.path, { from, to })
  t.match(await copy.try(['ls-files', '--error-unmatch', '-o', 'ran']), { exitCode: 1 })
})

t.test('a commit that is not a full id is refused and a missing one is an error', async (t) => {
  const { copy, from } = await changed(t)
  for (const to of ['main', '-h', '--output=x', `${from}~1`]) {
    await t.rejects(listChangedFiles(ours, copy.path, { from, to }), /full id/)
    await t.rejects(textOf(copy, { from, to, format: 'diff' }), /full id/)
    await t.rejects(textOf(copy, { from, to, format: 'patch' }), /full id/)
    await t.rejects(readFileDiff(ours, copy.path, { from, to, file: 'a' }), /full id/)
  }
  const absent = 'f'.repeat(40)
  await t.rejects(listChangedFiles(ours, copy.path, { from, to: absent }), /git diff-tree failed/)
})

t.test('a diff of more files than the limit is refused before git runs', async (t) => {
  const copy = await newWorkingCopy(t)
  const from = await copy.commit('a')
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd: copy.path, input: 'x' })
  const mktree = (entry: string) => {
    const entries = Array.from({ length: 300 }, (_, at) => `${entry}\t${at}\n`)
    return git(['mktree'], { cwd: copy.path, input: entries.join('') })
  }
  const tree = await mktree(`040000 tree ${await mktree(`100644 blob ${blob}`)}`)
  const many = await copy.git('commit-tree', '-m', 'x', '-p', from, tree)
  const gone = await copy.git('commit-tree', '-m', 'x', '-p', many, `${from}^{tree}`)
  const tooMany = { message: 'Too many files differ to list them.' }
  await t.rejects(listChangedFiles(ours, copy.path, { from, to: many }), tooMany)
  await t.rejects(textOf(copy, { from, to: many, format: 'diff' }), tooMany)
  await t.rejects(readFileDiff(ours, copy.path, { from, to: many, file: '7' }), tooMany)
  t.equal(await textOf(copy, { from, to: gone, format: 'diff' }), '')
  await t.rejects(
    textOf(copy, { from, to: gone, format: 'patch' }),
    tooMany,
    'two patches with many files each',
  )
  const merge = await copy.git('commit-tree', '-m', 'x', '-p', from, '-p', many, `${from}^{tree}`)
  const young = await copy.git('commit-tree', '-m', 'y', '-p', merge, `${from}^{tree}`)
  t.match(
    await textOf(copy, { from: many, to: young, format: 'patch' }),
    /^$/,
    'a merge has no patch',
  )
})
