/** Cached lists of references are what git lists at that moment. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { allReferences, pageOfReferences } from '../../../cgi/refs/known-references.js'
import {
  listReferences,
  type ReferenceListInput,
  VISIBLE_REFERENCES,
} from '../../../cgi/refs/list-references.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
/** A git that cannot be started, so that only cached lists are returned. */
const absent = { ...ours, file: '/absent/git', prlimit: undefined }

const INPUTS: readonly ReferenceListInput[] = [
  { namespaces: VISIBLE_REFERENCES },
  { namespaces: ['refs/heads'] },
  { namespaces: ['refs/heads'], order: 'newest' },
  { namespaces: ['refs/tags'], order: 'newest' },
]

t.test('references are listed in pages', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  for (const name of ['b', 'c']) await copy.git('branch', name)
  const part = { namespaces: ['refs/heads'], offset: 1, limit: 1 } as const
  t.match(await pageOfReferences(ours, join(copy.path, '.git'), part), {
    total: 3,
    entries: [{ name: 'refs/heads/c', id: tip, type: 'commit' }],
  })
  const beyond = { ...part, offset: 9 }
  t.strictSame((await pageOfReferences(ours, join(copy.path, '.git'), beyond)).entries, [])
})

t.test('each change of references is seen, with and without a pause before it', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  await copy.commit('a')
  const check = async (change: string) => {
    for (const input of INPUTS) {
      const listed = []
      for await (const reference of listReferences(ours, path, input)) listed.push(reference)
      t.strictSame(await allReferences(ours, path, input), listed, change)
    }
  }
  const changes = [
    ['commit', '--allow-empty', '-m', 'two'],
    ['branch', 'side'],
    ['tag', '-m', 'a tag', 'v1'],
    ['commit', '--allow-empty', '-m', 'three'],
    ['pack-refs', '--all'],
    ['update-ref', 'refs/heads/side', 'HEAD'],
    ['update-ref', 'refs/pull/1/head', 'HEAD'],
    ['tag', '--delete', 'v1'],
    ['branch', '--delete', '--force', 'side'],
  ]
  for (const pauseMs of [0, 60]) {
    for (const change of changes) {
      await sleep(pauseMs)
      await check(`before ${change.join(' ')}`)
      await copy.git(...change)
      await check(`after ${change.join(' ')}`)
    }
  }
})

t.test('a list needs no process if only branches moved', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  await copy.commit('a')
  await copy.git('tag', 'v1')
  await sleep(60)
  for (const input of INPUTS) {
    const listed = await allReferences(ours, path, input)
    t.equal(await allReferences(absent, path, input), listed, 'the same state')
  }
  const tip = await copy.commit('b')
  const [main, , newest, tags] = INPUTS
  if (!main || !newest || !tags) throw new Error('inputs are missing')
  t.match(await allReferences(absent, path, main), [{ name: 'refs/heads/main', id: tip }, {}])
  t.match(await allReferences(absent, path, tags), [{ name: 'refs/tags/v1' }])
  await t.rejects(allReferences(absent, path, newest), 'the order may be another one')
})
