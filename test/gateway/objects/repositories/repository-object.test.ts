/** Repository objects: permissions by access, addresses by settings, and defaults. */

import t from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import {
  PREFERENCES,
  repositoryObject,
} from '../../../../gateway/objects/repositories/repository-object.js'
import { findRepositoryById } from '../../../../sql/repositories/repositories.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'

const WANTED = {
  name: 'r',
  description: '',
  isPrivate: false,
  isTemplate: false,
  defaultBranch: 'main',
  objectFormat: 'sha1',
  hasReadme: false,
} as const

t.test('permissions follow from the access', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
  for (const [mode, permissions] of [
    ['none', { admin: false, push: false, pull: false }] as const,
    ['read', { admin: false, push: false, pull: true }] as const,
    ['write', { admin: false, push: true, pull: true }] as const,
    ['admin', { admin: true, push: true, pull: true }] as const,
    ['owner', { admin: true, push: true, pull: true }] as const,
  ]) {
    t.strictSame((await repositoryObject(context, repository, mode)).permissions, permissions, mode)
  }
})

t.test('SSH addresses with another port have the long form', async (t) => {
  const environment = { GATEHOUSE_SSH_PORT: '2222', GATEHOUSE_SSH_LISTEN_HOST: 'ssh.example.com' }
  const { context, fixture } = await openContext(t, { environment })
  const ada = await fixture.addUser('ada')
  const repository = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
  const { ssh_url } = await repositoryObject(context, repository, 'read')
  t.equal(ssh_url, 'ssh://git@ssh.example.com:2222/ada/r.git')
})

t.test(
  'a repository is shown as not empty after the first push, however it was pushed',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const ada = await fixture.addUser('ada')
    const repository = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
    t.equal((await repositoryObject(context, repository, 'read')).empty, true)
    const cwd = repositoryPath(context.settings.data.dir, repository.storage)
    const tree = await git(['mktree'], { cwd, input: '' })
    const commit = await git(['commit-tree', tree, '-m', 'x'], { cwd })
    await git(['update-ref', 'refs/heads/main', commit], { cwd })
    t.equal((await repositoryObject(context, repository, 'read')).empty, false)
    t.equal(
      (await findRepositoryById(fixture.db, repository.id))?.isEmpty,
      false,
      'and the change is stored',
    )
  },
)

t.test('each preference has a default that a stored value replaces', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const made = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
  const object: Record<string, unknown> = await repositoryObject(context, made, 'read')
  for (const name of Object.keys(PREFERENCES)) t.not(object[name], undefined, name)
  const changed = { ...made, preferences: { has_issues: false } }
  t.match(await repositoryObject(context, changed, 'read'), {
    has_issues: false,
    has_releases: true,
    default_merge_style: 'merge',
  })
})

t.test('with registries disabled has_packages is false', async (t) => {
  for (const isEnabled of [true, false]) {
    const environment = { GATEHOUSE_PACKAGES_ENABLED: String(isEnabled) }
    const { context, fixture } = await openContext(t, { environment })
    const ada = await fixture.addUser('ada')
    const made = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
    for (const [preferences, wanted] of [
      [{}, isEnabled] as const,
      [{ has_packages: true }, isEnabled] as const,
      [{ has_packages: false }, false] as const,
    ]) {
      const { has_packages } = await repositoryObject(context, { ...made, preferences }, 'read')
      t.equal(has_packages, wanted)
    }
  }
})
