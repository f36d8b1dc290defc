/** Revisions that callers name are resolved as plain names only. */

import t from 'tap'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { findObject, findRevision } from '../../../cgi/refs/revision.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('a branch takes precedence over a tag, and both over an object id', async (t) => {
  const copy = await newWorkingCopy(t)
  const one = await copy.commit('a')
  const two = await copy.commit('b')
  await copy.git('tag', 'both', one)
  await copy.git('branch', 'both', two)
  await copy.git('tag', '-m', 'annotated', 'v1', one)
  await copy.git('branch', 'feature/x', one)
  await copy.git('update-ref', 'refs/pull/7/head', one)
  await copy.git('update-ref', 'refs/internal/x', one)
  await copy.git('branch', one.slice(0, 8), two)
  await withObjects(ours, copy.path, async (objects) => {
    const find = (text: string) => findRevision(objects, text)
    const branch = (name: string, commitId: string) => ({
      kind: 'branch',
      shortName: name,
      name: `refs/heads/${name}`,
      commitId,
    })
    t.strictSame(await find('both'), branch('both', two))
    t.strictSame(await find('refs/heads/both'), branch('both', two))
    t.strictSame(await find('feature/x'), branch('feature/x', one))
    t.strictSame(await find(one.slice(0, 8)), branch(one.slice(0, 8), two))
    const tag = { kind: 'tag', shortName: 'both', name: 'refs/tags/both', commitId: one }
    t.strictSame(await find('refs/tags/both'), tag)
    t.match(await find('v1'), { kind: 'tag', commitId: one })
    t.match(await find('refs/pull/7/head'), { kind: 'other', commitId: one })
    t.match(await find('HEAD'), { kind: 'other', commitId: two })
    for (const id of [one, one.slice(0, 7), one.toUpperCase()]) {
      t.strictSame(await find(id), { kind: 'commit', commitId: one, name: one, shortName: one }, id)
    }
    t.equal((await findObject(objects, 'v1'))?.type, 'tag')
    t.equal((await findObject(objects, one))?.type, 'commit')
  })
})

t.test("git's revision syntax is refused", async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  await copy.git('update-ref', 'refs/internal/x', tip)
  const texts = [
    '',
    '@',
    'main~0',
    'main^',
    'main^0',
    'main@{0}',
    'main:a',
    ':/a',
    '-h',
    '--all',
    '..',
    'main..main',
    'refs/internal/x',
    'internal/x',
    'refs/pull/x/head',
    'refs/pull/1/merge',
    'main\n',
    'main\0',
    '../main',
    'refs/heads/../tags/v1',
    tip.slice(0, 6),
    `${tip}0`,
    'FETCH_HEAD',
  ]
  await withObjects(ours, copy.path, async (objects) => {
    for (const text of texts) {
      t.equal(await findRevision(objects, text), undefined, text)
      t.equal(await findObject(objects, text), undefined, text)
    }
  })
})
