/** Lists of few references without a process are those of git. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { listFewReferences } from '../../../cgi/refs/few-references.js'
import {
  listReferences,
  type ReferenceListInput,
  VISIBLE_REFERENCES,
} from '../../../cgi/refs/list-references.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

const INPUTS: readonly ReferenceListInput[] = [
  { namespaces: VISIBLE_REFERENCES },
  { namespaces: ['refs/heads'] },
  { namespaces: ['refs/heads'], order: 'newest' },
  { namespaces: ['refs/tags'] },
  { namespaces: ['refs/tags'], order: 'newest' },
]

/** Creates branches, heads of pull requests, and tags of every kind of object. */
async function addReferences(copy: WorkingCopy): Promise<void> {
  const at = (seconds: number) => ({ GIT_COMMITTER_DATE: `${seconds} +0100` })
  const create = (seconds: number, ...args: readonly string[]) =>
    copy.try(args, { environment: at(seconds) })
  await create(1_500_000_300, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  await create(1_500_000_100, 'commit', '--quiet', '--allow-empty', '-m', 'second')
  await copy.git('branch', 'older', 'HEAD^')
  await copy.git('branch', 'same', 'HEAD')
  for (const name of ['refs/pull/1/head', 'refs/pull/2/other', 'refs/notes/x']) {
    await copy.git('update-ref', name, 'HEAD')
  }
  for (const [name, target] of [
    ['light', 'HEAD'],
    ['light-2', 'HEAD'],
    ['old', 'HEAD^'],
    ['tree', 'HEAD^{tree}'],
  ] as const) {
    await copy.git('tag', name, target)
  }
  await create(1_500_000_200, 'tag', '-m', 'A tag', 'v1', 'HEAD^')
  await create(1_500_000_200, 'tag', '-m', 'Another', 'v2', 'HEAD')
  await create(1_500_000_900, 'tag', '-m', 'Of a tag', 'v3', 'v1')
  const { exitCode, output } = await copy.try(['hash-object', '-t', 'tag', '-w', '--stdin'], {
    input: `object ${await copy.git('rev-parse', 'HEAD')}\ntype commit\ntag v0\n\nNo tagger\n`,
  })
  t.equal(exitCode, 0)
  await copy.git('update-ref', 'refs/tags/v0', output.trim())
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`references are listed as by git, in ${format}`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const path = join(copy.path, '.git')
    await addReferences(copy)
    t.equal(await listFewReferences(path, { namespaces: ['refs/tags'] }), undefined, 'no packs')
    await copy.git('repack', '-a', '-d', '--quiet')
    for (const place of ['in their own files', 'packed']) {
      if (place === 'packed') await copy.git('pack-refs', '--all')
      for (const input of INPUTS) {
        const listed = []
        for await (const reference of listReferences(ours, path, input)) listed.push(reference)
        t.strictSame(await listFewReferences(path, input), listed, place)
      }
    }
  })
}

t.test('many references whose objects must be read are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  await copy.commit('a')
  const add = async (from: number, to: number) => {
    const names = Array.from({ length: to - from }, (_, at) => `refs/tags/v${from + at}`)
    const input = names.map((name) => `create ${name} HEAD\n`).join('')
    t.equal((await copy.try(['update-ref', '--stdin'], { input })).exitCode, 0)
    await copy.git('repack', '-a', '-d', '--quiet')
  }
  const count = async () => (await listFewReferences(path, { namespaces: ['refs/tags'] }))?.length
  await add(0, 100)
  t.equal(await count(), 100)
  await add(100, 101)
  t.equal(await count(), undefined)
  t.equal((await listFewReferences(path, { namespaces: ['refs/heads'] }))?.length, 1)
})

t.test('a tag of an object that is not read here is left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  await copy.commit('large', randomBytes(1_000_000))
  await copy.git('tag', 'v1', 'HEAD:large')
  await copy.git('repack', '-a', '-d', '--quiet')
  for (const order of ['name', 'newest'] as const) {
    t.equal(await listFewReferences(path, { namespaces: ['refs/tags'], order }), undefined, order)
  }
})
