/** Creation of tags for releases, which never changes an existing tag. */

import t, { type Test } from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import { makeTag, refuseEmpty } from '../../../../gateway/actions/code/make-tag.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'

async function aRepositoryOf(t: Test, objectFormat: 'sha1' | 'sha256', hasReadme = true) {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: ada,
    creator: ada,
    name: 'r',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat,
    hasReadme,
  })
  const cwd = repositoryPath(fixture.settings.data.dir, repository.storage)
  const tag = (name: string, { target = 'main', message = '' } = {}) =>
    makeTag(context, { repository, name, target, message, tagger: ada, codeMode: 'write' })
  return { context, repository, cwd, tag }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(
    `${format}: lightweight and annotated tags are created from any name of a commit`,
    async (t) => {
      const { cwd, tag } = await aRepositoryOf(t, format)
      const tip = await git(['rev-parse', 'main'], { cwd })
      await tag('plain', { target: tip.slice(0, 12) })
      await tag('noted', { target: 'refs/tags/plain', message: 'One\r\n\r\nTwo' })
      await tag('deep/er', { target: 'noted' })
      const shown = await git(
        ['for-each-ref', '--format=%(refname) %(objecttype) %(*objectname)', 'refs/tags'],
        { cwd },
      )
      t.strictSame(
        shown.split('\n').map((line) => line.trimEnd()),
        ['refs/tags/deep/er commit', `refs/tags/noted tag ${tip}`, 'refs/tags/plain commit'],
      )
      t.equal(
        await git(['rev-parse', 'deep/er'], { cwd }),
        tip,
        'a tag of a tag points to its commit',
      )
      const contents = await git(
        ['for-each-ref', '--format=%(contents)%(taggeremail)', 'refs/tags/noted'],
        {
          cwd,
        },
      )
      t.equal(contents, 'One\n\nTwo\n<ada@example.com>')
      await git(['fsck', '--strict', '--no-dangling', '--no-progress'], { cwd })
    },
  )
}

t.test('an existing tag is not changed', async (t) => {
  const { cwd, tag } = await aRepositoryOf(t, 'sha1')
  const blob = await git(['rev-parse', 'main:README.md'], { cwd })
  await git(['tag', 'odd', blob], { cwd })
  await tag('odd', { target: 'absent', message: 'x' })
  t.equal(await git(['rev-parse', 'refs/tags/odd'], { cwd }), blob)
  await t.rejects(tag('new', { target: blob }), { failure: 'not_found', message: /not found$/ })
  await t.rejects(tag('odd/er'), { failure: 'conflict', message: /name conflicts/ })
  const many = await Promise.allSettled([1, 2, 3, 4].map(() => tag('race')))
  const lost = many.filter(({ status }) => status === 'rejected')
  for (const one of lost) t.match(one, { reason: { failure: 'conflict' } })
  t.ok(lost.length < many.length)
})

t.test('a release in an empty repository is refused', async (t) => {
  const empty = await aRepositoryOf(t, 'sha1', false)
  const refused = refuseEmpty(empty.context, empty.repository)
  await t.rejects(refused, { failure: 'invalid', message: 'repo is empty' })
  const full = await aRepositoryOf(t, 'sha1')
  await refuseEmpty(full.context, full.repository)
  await refuseEmpty(full.context, { ...full.repository, isEmpty: true })
})
