/** References are listed by namespace and order, in pages. */

import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  listMergedTags,
  listReferences,
  VISIBLE_REFERENCES,
} from '../../../cgi/refs/list-references.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('references are listed by namespace, in order, and in pages', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  for (const name of ['refs/heads/b', 'refs/heads/a/x', 'refs/pull/1/head', 'refs/pull/1/merge']) {
    await copy.git('update-ref', name, tip)
  }
  for (const [name, at] of [
    ['t1', 3],
    ['t2', 1],
    ['t3', 2],
  ] as const) {
    const environment = { GIT_COMMITTER_DATE: `${at}000000000 +0000` }
    await copy.try(['tag', '-m', name, name], { environment })
  }
  const names = async (...args: Parameters<typeof listReferences>) => {
    const found: string[] = []
    for await (const { name } of listReferences(...args)) found.push(name)
    return found
  }
  const heads = ['refs/heads/a/x', 'refs/heads/b', 'refs/heads/main']
  const tags = (...numbers: number[]) => numbers.map((number) => `refs/tags/t${number}`)
  t.strictSame(await names(ours, copy.path, { namespaces: ['refs/heads'] }), heads)
  const newest = { namespaces: ['refs/tags'], order: 'newest' } as const
  t.strictSame(await names(ours, copy.path, newest), tags(1, 3, 2))
  const visible = await names(ours, copy.path, { namespaces: VISIBLE_REFERENCES })
  t.strictSame(visible, [...heads, 'refs/pull/1/head', ...tags(1, 2, 3)])
})

t.test('the tags of a commit and of its ancestors are listed', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a')
  await copy.git('tag', 'first')
  const commitId = await copy.commit('b')
  await copy.git('tag', 'light')
  await copy.git('tag', '-m', 'annotated', 'noted')
  await copy.commit('c')
  await copy.git('tag', 'later')
  const found: unknown[] = []
  for await (const tag of listMergedTags(ours, copy.path, { commitId })) found.push(tag)
  t.strictSame(found, [
    { name: 'refs/tags/first', isOfCommit: false },
    { name: 'refs/tags/light', isOfCommit: true },
    { name: 'refs/tags/noted', isOfCommit: true },
  ])
})
