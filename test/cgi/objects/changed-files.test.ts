/** Files that a commit changed relative to its first parent, whatever their names are. */

import t from 'tap'
import { commitsWithFiles, countCommits } from '../../../cgi/objects/changed-files.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const git = await findGit()
const ODD = ['a b', 'ä"', 'M', 'new\nline', 'f'.repeat(40)]

t.test(
  'added, removed and modified files are listed for each commit, newest commit first',
  async (t) => {
    const copy = await newWorkingCopy(t)
    for (const name of ODD) await copy.commit(name)
    const before = await copy.git('rev-parse', 'HEAD')
    await copy.git('rm', '--quiet', 'M')
    await copy.git('mv', 'a b', 'moved')
    const second = await copy.commit('ä"', 'changed')
    await copy.git('commit', '--quiet', '--allow-empty', '-m', 'nothing')
    const last = await copy.git('rev-parse', 'HEAD')
    const range = { last, before, commitsMax: 5 }
    const found = await commitsWithFiles(git, copy.path, range)
    t.strictSame(
      found.map(({ commit: { id, message }, ...lists }) => ({ id, message, ...lists })),
      [
        { id: last, message: 'nothing\n', added: [], removed: [], modified: [] },
        {
          id: second,
          message: 'Write ä"\n',
          added: ['moved'],
          removed: ['M', 'a b'],
          modified: ['ä"'],
        },
      ],
    )
    t.equal(await countCommits(git, copy.path, range), 2)
    const all = { last: before, before: undefined, commitsMax: 3 }
    const firsts = await commitsWithFiles(git, copy.path, all)
    t.strictSame(
      firsts.map(({ added }) => added),
      [['f'.repeat(40)], ['new\nline'], ['M']],
    )
    t.equal(await countCommits(git, copy.path, all), 3)
  },
)

t.test('a merge lists the files that its first parent lacks', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('one')
  await copy.git('checkout', '--quiet', '-b', 'side')
  await copy.commit('side.txt')
  await copy.git('checkout', '--quiet', 'main')
  await copy.commit('two')
  await copy.git('merge', '--quiet', '--no-edit', 'side')
  const last = await copy.git('rev-parse', 'HEAD')
  const range = { last, before: undefined, commitsMax: 1 }
  t.match(await commitsWithFiles(git, copy.path, range), [
    { commit: { id: last }, added: ['side.txt'] },
  ])
})

t.test('a text that is not an object id is not passed to git', async (t) => {
  for (const last of ['--all', 'main', '^main', '']) {
    const range = { last, before: undefined, commitsMax: 1 }
    await t.rejects(commitsWithFiles(git, '/', range), { message: 'not a full commit id' }, last)
  }
})
