/** Merge styles produce the expected histories, and conflicts are refused. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Signature } from '../../../cgi/objects/commit-object.js'
import { canMerge, type MergeStyle, makeMerge } from '../../../cgi/objects/merge.js'
import { findGit } from '../../../cgi/process/git.js'
import { commitTreeBomb } from '../../helpers/git-bombs.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Shape of the error for a conflict. */
const CONFLICT = { name: 'Error', failure: 'conflict' }

const AT = { atMs: 1_700_000_000_000, offsetMinutes: 60 }
const ADA: Signature = { name: 'Ada', email: 'ada@example.com', ...AT }
const BOB: Signature = { name: 'Bob', email: 'bob@example.com', ...AT }

interface Sides {
  readonly copy: WorkingCopy
  readonly base: string
  readonly head: string
}

/** Creates the branch `--exec=…` with two commits of one file each, and main with one commit. */
async function twoSides(t: Test, format: 'sha1' | 'sha256' = 'sha1'): Promise<Sides> {
  const copy = await newWorkingCopy(t, format)
  const root = await copy.commit('root')
  await copy.git('checkout', '--quiet', '--detach')
  await copy.commit('t1')
  const head = await copy.commit('t2')
  await copy.git('update-ref', 'refs/heads/--exec=touch-ran', head)
  await copy.git('checkout', '--quiet', 'main')
  t.equal(await copy.git('rev-parse', 'HEAD'), root)
  return { copy, base: await copy.commit('m1'), head }
}

async function merge(sides: Sides, style: MergeStyle): Promise<string> {
  const path = join(sides.copy.path, '.git')
  const { base, head } = sides
  const message = 'Merged\n\nFor a reason'
  const input = { style, base, head, message, author: ADA, committer: BOB }
  return await makeMerge(ours, path, input)
}

/**
 * Subjects of the commits, newest first, each with author and committer, and the files at the tip.
 */
async function historyOf({ copy, base }: Sides, tip: string) {
  await copy.git('fsck', '--strict')
  const log = await copy.git('log', '--topo-order', '--format=%s %an %cn', `${base}..${tip}`)
  const files = await copy.git('ls-tree', '--name-only', tip)
  return { log: log.split('\n').filter(Boolean), files: files.split('\n').join(' ') }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`each merge style produces its history, in ${format}`, async (t) => {
    const sides = await twoSides(t, format)
    const { copy, base, head } = sides
    const parents = (tip: string) => copy.git('log', '-1', '--format=%P', tip)
    const files = 'm1 root t1 t2'

    const merged = await merge(sides, 'merge')
    t.equal(await parents(merged), `${base} ${head}`)
    t.strictSame(await historyOf(sides, merged), {
      log: ['Merged Bob Bob', 'Write t2 Ada Ada', 'Write t1 Ada Ada'],
      files,
    })
    t.equal(await copy.git('log', '-1', '--format=%b', merged), 'For a reason')

    const squashed = await merge(sides, 'squash')
    t.equal(await parents(squashed), base)
    t.strictSame(await historyOf(sides, squashed), { log: ['Merged Ada Bob'], files })

    const rebased = await merge(sides, 'rebase')
    const log = ['Write t2 Ada Bob', 'Write t1 Ada Bob']
    t.strictSame(await historyOf(sides, rebased), { log, files })
    t.equal(await parents(`${rebased}~1`), base)

    const both = await merge(sides, 'rebase-merge')
    t.strictSame(await historyOf(sides, both), { log: ['Merged Bob Bob', ...log], files })
    t.equal(await parents(both), `${base} ${rebased}`)

    await t.rejects(merge(sides, 'fast-forward-only'), CONFLICT)
    t.equal(await copy.git('rev-parse', 'main'), base, 'main has not moved')
    const folder = await readdir(copy.path)
    t.notOk(folder.some((name) => name.includes('ran')))
    t.strictSame(
      folder.filter((name) => name.includes('.new-')),
      [],
    )
  })
}

t.test(
  'a head that is ahead of its base is fast-forwarded or rebased without new commits',
  async (t) => {
    const { copy, head } = await twoSides(t)
    const base = await copy.git('rev-parse', 'main~1')
    const sides = { copy, base, head }
    t.equal(await merge(sides, 'fast-forward-only'), head)
    t.equal(await merge(sides, 'rebase'), head, 'no commit is rewritten')
    const log = ['Merged Bob Bob', 'Write t2 Ada Ada', 'Write t1 Ada Ada']
    t.match(await historyOf(sides, await merge(sides, 'merge')), { log })
    t.match(await historyOf(sides, await merge(sides, 'rebase-merge')), { log })
    t.match(await historyOf(sides, await merge(sides, 'squash')), { log: ['Merged Ada Bob'] })
  },
)

t.test('a conflict is refused in every style and is detected beforehand', async (t) => {
  const { copy, base, head } = await twoSides(t)
  const path = join(copy.path, '.git')
  t.equal(await canMerge(ours, path, { base, head }), true)
  await copy.git('checkout', '--quiet', '--detach', head)
  const other = await copy.commit('m1', 'other\n')
  const sides = { copy, base, head: other }
  t.equal(await canMerge(ours, path, { base, head: other }), false)
  for (const style of ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only'] as const) {
    await t.rejects(merge(sides, style), CONFLICT, style)
  }
  t.equal(await canMerge(ours, path, { base, head: base }), true)
  t.equal(await canMerge(ours, path, { base: head, head: other }), true)
  const objects = await copy.git('count-objects')
  await canMerge(ours, path, { base, head })
  await canMerge(ours, path, { base, head: other })
  t.equal(await copy.git('count-objects'), objects, 'an attempt leaves no object')
  t.strictSame(
    (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`)),
    [],
  )
})

t.test('a rebase flattens merges and skips commits that the base already has', async (t) => {
  const { copy, base } = await twoSides(t)
  await copy.git('checkout', '--quiet', '--detach', 'main~1')
  await copy.commit('edited', 'one\n')
  await copy.commit('m1')
  await copy.git('merge', '--quiet', '-m', 'Merge', 'main')
  await copy.git('commit', '--quiet', '--allow-empty', '-m', 'Empty')
  const head = await copy.commit('edited', 'two\n')
  const sides = { copy, base, head }
  t.strictSame(await historyOf(sides, await merge(sides, 'rebase')), {
    log: ['Write edited Ada Bob', 'Empty Ada Bob', 'Write edited Ada Bob'],
    files: 'edited m1 root',
  })
})

t.test('branches without a common history are not merged', async (t) => {
  const { copy, base } = await twoSides(t)
  await copy.git('checkout', '--quiet', '--orphan', 'other')
  const head = await copy.commit('other')
  t.equal(await canMerge(ours, join(copy.path, '.git'), { base, head }), false)
  await t.rejects(merge({ copy, base, head }, 'merge'), { message: /no history in common/ })
})

t.test('a git that is too old for merges is refused with a message', async (t) => {
  const { copy, base, head } = await twoSides(t)
  const older = { ...ours, version: [2, 34, 1] as const }
  const path = join(copy.path, '.git')
  const input = { base, head, message: '', author: ADA, committer: BOB, style: 'merge' as const }
  await t.rejects(makeMerge(older, path, input), {
    name: 'Error',
    failure: 'unavailable',
    message: /2\.38/,
  })
  t.equal(await canMerge(older, path, { base, head }), false)
})

t.test('a commit that is not given by its full id is refused', async (t) => {
  const sides = await twoSides(t)
  for (const head of ['--exec=touch-ran', '-h', 'refs/heads/main', 'main']) {
    await t.rejects(merge({ ...sides, head }, 'rebase'), /full id/)
    await t.rejects(merge({ ...sides, base: head }, 'merge'), /full id/)
  }
  t.notOk(existsSync(join(sides.copy.path, 'ran')))
})

t.test('a rebase compares no commit with ten billion paths, in base or head', async (t) => {
  const { copy, base } = await twoSides(t)
  const bomb = await commitTreeBomb(copy, { width: 10, depth: 10, content: 'x' }, `${base}~1`)
  const tree = await copy.git('rev-parse', `${base}~1^{tree}`)
  const gone = await copy.git('commit-tree', '-p', bomb, '-m', 'Remove it', tree)
  const refusal = { ...CONFLICT, message: /too many paths/ }
  await t.rejects(merge({ copy, base, head: gone }, 'rebase'), refusal)
  await t.rejects(merge({ copy, base: gone, head: base }, 'rebase'), refusal)
  t.match(await merge({ copy, base, head: gone }, 'merge'), /^[0-9a-f]{40}$/)
})
