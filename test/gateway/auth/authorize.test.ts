/** Authorization: each access, for each kind of caller and each kind of repository. */

import t, { type Test } from 'tap'
import { newStorageKey } from '../../../cgi/repository/paths.js'
import { Failure } from '../../../conf/failures.js'
import { ANONYMOUS, type Identity } from '../../../gateway/auth/authenticate.js'
import { type Access, authorize } from '../../../gateway/auth/authorize.js'
import { accessToLinked } from '../../../gateway/auth/authorize-repository.js'
import type { Scope } from '../../../gateway/auth/scopes.js'
import type { Owner, Visibility } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { addAttachment } from '../../../sql/releases/attachments.js'
import { addDeployKey, removeDeployKey } from '../../../sql/repositories/deploy-keys.js'
import {
  createRepository,
  deleteRepository,
  updateRepository,
} from '../../../sql/repositories/repositories.js'
import { addSource } from '../../../sql/repositories/repository-sources.js'
import { openContext } from '../../helpers/gateway.js'
import { aBlobOf, aRelease } from '../../helpers/release-rows.js'
import { aCollaborator, aTeam } from '../../helpers/rows.js'
import { aKey } from '../../helpers/ssh-keys.js'

/** Identity of a user with a password, or with a token of these scopes. */
function as(user: User, ...scopes: readonly string[]): Identity {
  if (scopes.length > 0) return { kind: 'user', user, by: 'token', scopes }
  return { kind: 'user', user, by: 'password', scopes: undefined }
}

interface Circumstances {
  readonly scopes?: Scope[]
  readonly challenges?: boolean
  readonly anonymousBytesMax?: number
}

async function openFixture(t: Test) {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const addRepository = (owner: Owner, name: string, isPrivate: boolean) =>
    createRepository(db, {
      ownerId: owner.id,
      name,
      storage: newStorageKey(),
      description: '',
      website: '',
      isPrivate,
      isTemplate: false,
      isEmpty: true,
      defaultBranch: 'main',
      objectFormat: 'sha1',
      preferences: {},
    })
  /** Returns `ok`, or the name of the failure. */
  const asked = async (
    who: Identity,
    access: Access,
    params: Record<string, string> = {},
    { scopes = [], challenges = false, anonymousBytesMax }: Circumstances = {},
  ) => {
    try {
      await authorize(db, { who, access, scopes, params, challenges, anonymousBytesMax })
      return 'ok'
    } catch (error) {
      if (error instanceof Failure) return error.failure
      throw error
    }
  }
  return { ...fixture, ada, bob, addRepository, asked }
}

const to = (mode: 'read' | 'write' | 'admin' | 'owner') => ({ kind: 'repository', mode }) as const

t.test('a collaborator has exactly the permissions of its mode', async (t) => {
  const { db, ada, bob, addRepository, asked } = await openFixture(t)
  const repository = await addRepository(ada, 'r', true)
  const params = { owner: 'ada', repo: 'r' }
  t.equal(await asked(as(bob), to('read'), params), 'not_found')
  t.equal(await asked(as(bob), to('write'), params), 'not_found', 'and not forbidden')
  const grant = (mode: string) =>
    db('collaborators')
      .insert({ repository_id: repository.id, user_id: bob.id, mode })
      .onConflict(['repository_id', 'user_id'])
      .merge()
  const allowed: Record<string, readonly string[]> = {
    read: ['ok', 'forbidden', 'forbidden', 'forbidden'],
    write: ['ok', 'ok', 'forbidden', 'forbidden'],
    admin: ['ok', 'ok', 'ok', 'forbidden'],
  }
  for (const [mode, wanted] of Object.entries(allowed)) {
    await grant(mode)
    const got: string[] = []
    for (const needed of ['read', 'write', 'admin', 'owner'] as const) {
      got.push(await asked(as(bob), to(needed), params))
    }
    t.strictSame(got, wanted, mode)
  }
  t.equal(await asked(as(ada), to('owner'), params), 'ok')
})

t.test(
  'anonymous git clients are asked to sign in for missing and private repositories alike',
  async (t) => {
    const { ada, bob, addRepository, asked } = await openFixture(t)
    await addRepository(ada, 'hidden', true)
    await addRepository(ada, 'open', false)
    for (const challenges of [true, false]) {
      const unseen = challenges ? 'sign_in_required' : 'not_found'
      for (const repo of ['hidden', 'absent']) {
        const params = { owner: 'ada', repo }
        t.equal(await asked(ANONYMOUS, to('read'), params, { challenges }), unseen)
        t.equal(await asked(ANONYMOUS, to('write'), params, { challenges }), 'sign_in_required')
        t.equal(await asked(as(bob), to('read'), params, { challenges }), 'not_found')
      }
      const open = { owner: 'ada', repo: 'open' }
      t.equal(await asked(ANONYMOUS, to('read'), open, { challenges }), 'ok')
      t.equal(await asked(ANONYMOUS, to('write'), open, { challenges }), 'sign_in_required')
      t.equal(await asked(as(bob), to('write'), open, { challenges }), 'forbidden')
    }
  },
)

t.test('a token needs every required scope, and a password needs none', async (t) => {
  const { ada, asked } = await openFixture(t)
  const scopes: Scope[] = ['read:user', 'read:repository']
  const signedIn = { kind: 'signed-in' } as const
  t.equal(await asked(as(ada), signedIn, {}, { scopes }), 'ok')
  t.equal(await asked(as(ada, 'all'), signedIn, {}, { scopes }), 'ok')
  t.equal(await asked(as(ada, 'write:repository', 'read:user'), signedIn, {}, { scopes }), 'ok')
  t.equal(await asked(as(ada, 'read:user'), signedIn, {}, { scopes }), 'scope_missing')
  t.equal(await asked(as(ada, 'read:issue'), { kind: 'anyone' }, {}, { scopes }), 'scope_missing')
  t.equal(await asked(ANONYMOUS, { kind: 'anyone' }, {}, { scopes }), 'ok')
})

t.test('a public-only token does not grant access to a private repository', async (t) => {
  const { ada, bob, addRepository, asked, addOrganization } = await openFixture(t)
  await addRepository(ada, 'hidden', true)
  await addRepository(ada, 'open', false)
  await addRepository(await addOrganization('club', ada, 'private'), 'inner', false)
  const limited = as(ada, 'public-only', 'all')
  t.equal(await asked(limited, to('read'), { owner: 'ada', repo: 'open' }), 'ok')
  t.equal(await asked(limited, to('read'), { owner: 'ada', repo: 'hidden' }), 'forbidden')
  t.equal(await asked(limited, to('read'), { owner: 'club', repo: 'inner' }), 'forbidden')
  const unrelated = as(bob, 'public-only', 'all')
  t.equal(await asked(unrelated, to('read'), { owner: 'ada', repo: 'hidden' }), 'not_found')
})

t.test('a public-only token neither lists nor creates objects of any visibility', async (t) => {
  const { ada, asked, addOrganization } = await openFixture(t)
  await addOrganization('club', ada, 'public')
  const limited = as(ada, 'public-only', 'all')
  const signedIn = { kind: 'signed-in' } as const
  const inClub = { kind: 'organization-repositories' } as const
  t.equal(await asked(limited, signedIn, {}, { scopes: ['read:user'] }), 'ok')
  t.equal(await asked(limited, signedIn, {}, { scopes: ['write:repository'] }), 'forbidden')
  t.equal(await asked(limited, signedIn, {}, { scopes: ['write:user'] }), 'forbidden')
  t.equal(await asked(limited, inClub, { org: 'club' }), 'forbidden')
  t.equal(await asked(as(ada, 'all'), inClub, { org: 'club' }), 'ok')
})

t.test(
  'an account is accessible to itself and to site administrators, with a password',
  async (t) => {
    const { ada, bob, addUser, asked } = await openFixture(t)
    const root = await addUser('root', { isAdmin: true })
    const account = { kind: 'account' } as const
    t.equal(await asked(as(ada), account, { username: 'ADA' }), 'ok')
    t.equal(await asked(as(ada, 'all'), account, { username: 'ada' }), 'sign_in_required')
    t.equal(await asked(as(bob), account, { username: 'ada' }), 'forbidden')
    t.equal(await asked(as(bob), account, { username: 'absent' }), 'forbidden')
    t.equal(await asked(as(root), account, { username: 'ada' }), 'ok')
    t.equal(await asked(as(root), account, { username: 'absent' }), 'not_found')
    t.equal(await asked(ANONYMOUS, account, { username: 'ada' }), 'sign_in_required')
  },
)

t.test("an SSH key grants its user's access, except where a password is required", async (t) => {
  const { ada, addRepository, asked } = await openFixture(t)
  await addRepository(ada, 'r', true)
  const byKey: Identity = { kind: 'user', user: ada, by: 'ssh-key', scopes: undefined }
  t.equal(await asked(byKey, to('owner'), { owner: 'ada', repo: 'r' }), 'ok')
  t.equal(await asked(byKey, { kind: 'account' }, { username: 'ada' }), 'sign_in_required')
})

t.test("a deploy key grants each repository's mode for it and nothing else", async (t) => {
  const { db, ada, addRepository, asked, addOrganization } = await openFixture(t)
  const club = await addOrganization('club', ada)
  const read = await addRepository(ada, 'read', true)
  const write = await addRepository(club, 'write', true)
  const others = [['open', false] as const, ['hidden', true] as const]
  for (const [name, isPrivate] of others) await addRepository(ada, name, isPrivate)
  const key = aKey()
  const add = (repositoryId: number, mode: 'read' | 'write') =>
    addDeployKey(db, { repositoryId, title: 'ci', mode, key })
  const { keyId, id } = await add(read.id, 'read')
  await add(write.id, 'write')
  const who: Identity = { kind: 'deploy-key', keyId }
  const modes = async (owner: string, repo: string) => {
    const answers: string[] = []
    for (const mode of ['read', 'write', 'admin', 'owner'] as const) {
      answers.push(await asked(who, to(mode), { owner, repo }))
    }
    return answers.join()
  }
  t.equal(await modes('ada', 'read'), 'ok,forbidden,forbidden,forbidden')
  t.equal(await modes('club', 'write.git'), 'ok,ok,forbidden,forbidden')
  const unknown = 'not_found,not_found,not_found,not_found'
  for (const repo of ['open', 'hidden', 'absent']) t.equal(await modes('ada', repo), unknown, repo)
  for (const challenges of [true, false]) {
    const params = { owner: 'ada', repo: 'hidden' }
    t.equal(await asked(who, to('read'), params, { challenges }), 'not_found')
  }
  t.equal(await asked(who, { kind: 'signed-in' }), 'sign_in_required')
  t.equal(await asked(who, { kind: 'account' }, { username: 'ada' }), 'sign_in_required')
  t.equal(
    await asked(who, { kind: 'organization-repositories' }, { org: 'club' }),
    'sign_in_required',
  )
  await removeDeployKey(db, read.id, id)
  t.equal(await modes('ada', 'read'), unknown, 'a deleted key')
  await deleteRepository(db, write.id)
  await addRepository(club, 'write', false)
  t.equal(await modes('club', 'write'), unknown, 'another repository of the same name')
})

t.test('a grant has the current name of the repository', async (t) => {
  const { db, ada, addRepository } = await openFixture(t)
  const { id } = await addRepository(ada, 'old', false)
  await updateRepository(db, id, { name: 'new' })
  for (const [repo, hasMoved] of [['old', true] as const, ['NEW.git', false] as const]) {
    const params = { owner: 'Ada', repo }
    const question = {
      who: ANONYMOUS,
      access: to('read'),
      scopes: [],
      params,
      challenges: false,
      anonymousBytesMax: undefined,
    }
    t.match(await authorize(db, question), { repository: { name: 'new' }, hasMoved, mode: 'read' })
  }
})

t.test(
  'anonymous clients may not clone a repository over the size limit, and signed-in users may',
  async (t) => {
    const { db, bob, ada, addRepository, asked } = await openFixture(t)
    const { id } = await addRepository(ada, 'large', false)
    const params = { owner: 'ada', repo: 'large' }
    const download = { ...to('read'), isDownload: true } as const
    const limit = { anonymousBytesMax: 2_048 }
    await updateRepository(db, id, { sizeKib: 2 })
    t.equal(await asked(ANONYMOUS, download, params, limit), 'ok', 'exactly at the limit')
    await updateRepository(db, id, { sizeKib: 3 })
    t.equal(await asked(ANONYMOUS, download, params, limit), 'sign_in_required')
    t.equal(await asked(ANONYMOUS, to('read'), params, limit), 'ok', 'to read parts of it')
    t.equal(await asked(ANONYMOUS, download, params), 'ok', 'without a limit')
    t.equal(await asked(as(bob), download, params, limit), 'ok')
  },
)

/** Results for reading and writing packages. */
type Outcome = readonly [read: string, write: string]

const MAY_ALL: Outcome = ['ok', 'ok']
const MAY_READ: Outcome = ['ok', 'forbidden']
const HIDDEN: Outcome = ['not_found', 'not_found']
const NOT_PUBLIC: Outcome = ['forbidden', 'forbidden']

type ByVisibility = Readonly<Record<Visibility, Outcome>>

const OUTCOMES: Readonly<Record<string, ByVisibility>> = {
  everybody: { public: MAY_READ, limited: MAY_READ, private: HIDDEN },
  members: { public: MAY_READ, limited: MAY_READ, private: MAY_READ },
  all: { public: MAY_ALL, limited: MAY_ALL, private: MAY_ALL },
  none: { public: HIDDEN, limited: HIDDEN, private: HIDDEN },
  allOfPublic: { public: MAY_ALL, limited: NOT_PUBLIC, private: NOT_PUBLIC },
  readOfPublic: { public: MAY_READ, limited: NOT_PUBLIC, private: HIDDEN },
}

/**
 * Creates packages of `ada` and her organization `club`, and callers with their expected results.
 */
async function openPackageFixture(t: Test) {
  const fixture = await openFixture(t)
  const { db, ada, bob, addUser, addOrganization, addRepository } = fixture
  const root = await addUser('root', { isAdmin: true })
  const club = await addOrganization('club', ada)
  const repository = await addRepository(ada, 'r', false)
  const key = { repositoryId: repository.id, title: 'ci', mode: 'write', key: aKey() } as const
  const { keyId } = await addDeployKey(db, key)
  const members: [string, Identity, ByVisibility | undefined][] = []
  for (const permission of ['none', 'read', 'write', 'admin', 'owner']) {
    const member = await addUser(permission)
    const inputs = { organizationId: club.id, memberIds: [member.id], permission }
    await aTeam(db, inputs)
    const may =
      permission === 'none' || permission === 'read' ? OUTCOMES['members'] : OUTCOMES['all']
    members.push([`a member who may ${permission}`, as(member), may])
  }
  const callers: [string, Identity, ByVisibility | undefined][] = [
    ['an unrelated user', as(bob), OUTCOMES['everybody']],
    ['an unrelated user with a token', as(bob, 'all'), OUTCOMES['everybody']],
    ['an inactive admin', as({ ...root, isActive: false }), OUTCOMES['none']],
    [
      'an administrator barred from signing in',
      as({ ...root, isLoginProhibited: true }),
      OUTCOMES['none'],
    ],
    ['the owner', as(ada), OUTCOMES['all']],
    ['the owner with a token', as(ada, 'all'), OUTCOMES['all']],
    ['the owner with a public-only token', as(ada, 'public-only', 'all'), OUTCOMES['allOfPublic']],
    ['a site admin', as(root), OUTCOMES['all']],
    [
      'a site admin with a public-only token',
      as(root, 'all', 'public-only'),
      OUTCOMES['allOfPublic'],
    ],
    [
      'an unrelated user with a public-only token',
      as(bob, 'public-only', 'all'),
      OUTCOMES['readOfPublic'],
    ],
    ['a deploy key', { kind: 'deploy-key', keyId }, OUTCOMES['none']],
  ]
  const show = (owner: Owner, visibility: Visibility) =>
    db('owners').where({ id: owner.id }).update({ visibility })
  return { ...fixture, club, callers, members, show }
}

const VISIBILITIES = ['public', 'limited', 'private'] as const

const packages = (mode: 'read' | 'write', isSignedIn?: true): Access =>
  isSignedIn ? { kind: 'packages', mode, isSignedIn } : { kind: 'packages', mode }

t.test("access to packages follows from the owner's visibility and teams", async (t) => {
  const { ada, club, callers, members, show, asked } = await openPackageFixture(t)
  for (const [owner, everyone] of [
    [ada, callers] as const,
    [club, [...callers, ...members]] as const,
  ]) {
    for (const visibility of VISIBILITIES) {
      await show(owner, visibility)
      for (const [name, who, outcomes] of everyone) {
        const params = { owner: owner.name.toUpperCase() }
        for (const challenges of [true, false]) {
          for (const isSignedIn of [true, undefined] as const) {
            const got = [
              await asked(who, packages('read', isSignedIn), params, { challenges }),
              await asked(who, packages('write', isSignedIn), params, { challenges }),
            ]
            const [read, write] = outcomes?.[visibility] ?? HIDDEN
            // Clients of registries send their credentials only after a challenge.
            const asks = challenges && read === 'ok' && write === 'forbidden'
            const wanted = [read, asks ? 'sign_in_required' : write]
            t.strictSame(got, wanted, `${visibility} ${owner.kind}: ${name}`)
          }
        }
      }
    }
  }
})

t.test('access to packages does not disclose a private owner', async (t) => {
  const { ada, bob, club, members, show, asked } = await openPackageFixture(t)
  for (const owner of [ada, club]) await show(owner, 'private')
  for (const owner of ['ada', 'club', 'absent', '', 'ada ', 'a%']) {
    for (const mode of ['read', 'write'] as const) {
      for (const challenges of [true, false]) {
        t.equal(await asked(as(bob), packages(mode), { owner }, { challenges }), 'not_found', owner)
      }
    }
  }
  const [, member] = members[4] ?? []
  t.equal(await asked(member ?? ANONYMOUS, packages('read'), { owner: 'ada' }), 'not_found')
})

t.test('anonymous clients read public packages and are asked to sign in for more', async (t) => {
  const { ada, club, show, asked } = await openPackageFixture(t)
  for (const owner of [ada, club]) {
    for (const visibility of [...VISIBILITIES, 'absent'] as const) {
      if (visibility !== 'absent') await show(owner, visibility)
      const params = { owner: visibility === 'absent' ? 'absent' : owner.name }
      for (const challenges of [true, false]) {
        const ask = (access: Access) => asked(ANONYMOUS, access, params, { challenges })
        const unseen = challenges ? 'sign_in_required' : 'not_found'
        t.equal(await ask(packages('read')), visibility === 'public' ? 'ok' : unseen, visibility)
        t.equal(await ask(packages('write')), 'sign_in_required')
        t.equal(await ask(packages('read', true)), 'sign_in_required', 'if signing in is required')
      }
    }
  }
})

t.test('a grant has the owner of the packages', async (t) => {
  const { db, ada, bob } = await openPackageFixture(t)
  for (const [who, user] of [[ANONYMOUS, undefined] as const, [as(bob), bob] as const]) {
    const question = {
      who,
      access: packages('read'),
      scopes: [],
      params: { owner: 'ADA' },
      challenges: true,
      anonymousBytesMax: undefined,
    }
    t.match(await authorize(db, question), { who, user, owner: { id: ada.id, name: 'ada' } })
  }
})

t.test('access to a linked repository equals access to it by its own address', async (t) => {
  const { db, ada, bob, addRepository, addOrganization } = await openFixture(t)
  const open = await addRepository(ada, 'open', false)
  const hidden = await addRepository(ada, 'hidden', true)
  const inner = await addRepository(await addOrganization('club', ada, 'private'), 'inner', false)
  for (const [who, modes] of [
    [ANONYMOUS, ['read', 'none', 'none']] as const,
    [as(bob), ['read', 'none', 'none']] as const,
    [as(ada), ['owner', 'owner', 'owner']] as const,
    [as(ada, 'read:package'), ['owner', 'owner', 'owner']] as const,
    [as(ada, 'public-only', 'all'), ['owner', 'none', 'none']] as const,
    [{ kind: 'deploy-key', keyId: 1 } as const, ['none', 'none', 'none']] as const,
  ]) {
    const got: string[] = []
    for (const repository of [open, hidden, inner])
      got.push((await accessToLinked(db, who, repository)).any)
    t.strictSame(got, modes, JSON.stringify(who))
  }
})

t.test('git data of a mirror cannot be changed, and all other access is unchanged', async (t) => {
  const { db, ada, bob, addRepository, asked } = await openFixture(t)
  const { id } = await addRepository(ada, 'm', false)
  await addRepository(ada, 'own', false)
  const mirror = { intervalMs: 0, credentialsSealed: undefined, hasWiki: false, lfs: undefined }
  await addSource(db, id, { url: 'https://code.example.com/x.git', mirror })
  const change = { ...to('write'), changesGit: true } as const
  const named = (repo: string) => ({ owner: 'ada', repo })
  t.equal(await asked(as(ada), change, named('m')), 'mirrored')
  t.equal(await asked(as(ada), change, named('own')), 'ok')
  t.equal(
    await asked(as(bob), change, named('m')),
    'forbidden',
    'a user without write permission is forbidden',
  )
  t.equal(await asked(ANONYMOUS, change, named('m')), 'sign_in_required')
  for (const mode of ['read', 'write', 'admin', 'owner'] as const) {
    t.equal(await asked(as(ada), to(mode), named('m')), 'ok', mode)
  }
})

t.test(
  'an attachment has the access of its repository, and one of a draft requires write permission',
  async (t) => {
    const { db, ada, bob, addRepository, addUser, asked } = await openFixture(t)
    const eve = await addUser('eve')
    const open = await addRepository(ada, 'open', false)
    const hidden = await addRepository(ada, 'hidden', true)
    const attach = async (repository: typeof open, tag: string, isDraft: boolean) => {
      const { id: releaseId } = await aRelease(db, repository, tag, { isDraft })
      const uuid = `${repository.name} ${tag}`
      await addAttachment(db, { uuid, releaseId, name: 'f' }, aBlobOf(uuid))
      return { uuid }
    }
    const seen = await attach(open, 'v1', false)
    const draft = await attach(open, 'v2', true)
    const secret = await attach(hidden, 'v1', false)
    for (const repository of [open, hidden]) {
      await aCollaborator(db, repository, bob, 'read')
      await aCollaborator(db, repository, eve, 'write')
    }
    const access = { kind: 'attachment' } as const
    const scopes: Scope[] = ['read:repository']
    const bound = (...repositoryIds: readonly number[]): Identity => ({
      kind: 'user',
      user: ada,
      by: 'token',
      scopes: ['all'],
      limits: { expiresAtMs: undefined, addresses: [], reach: { repositoryIds, packages: [] } },
    })
    t.equal(await asked(bound(hidden.id), access, secret), 'ok')
    t.equal(await asked(bound(open.id), access, secret), 'not_found')
    t.equal(await asked(bound(hidden.id), access, seen), 'ok', 'like every reader')
    t.equal(await asked(bound(hidden.id), access, draft), 'not_found')
    const wanted = [
      [ANONYMOUS, ['ok', 'not_found', 'not_found', 'not_found']],
      [as(bob), ['ok', 'not_found', 'ok', 'not_found']],
      [as(eve), ['ok', 'ok', 'ok', 'not_found']],
      [as(ada, 'read:repository'), ['ok', 'ok', 'ok', 'not_found']],
      [as(ada, 'read:issue'), ['scope_missing', 'scope_missing', 'scope_missing', 'scope_missing']],
      [as(ada, 'public-only', 'all'), ['ok', 'ok', 'forbidden', 'not_found']],
    ] as const
    for (const [who, answers] of wanted) {
      const got: string[] = []
      for (const params of [seen, draft, secret, { uuid: 'absent' }]) {
        got.push(await asked(who, access, params, { scopes }))
      }
      t.strictSame(got, answers)
    }
  },
)

t.test('people are refused where runners, jobs and signed addresses are required', async (t) => {
  const { ada, asked } = await openFixture(t)
  const admin = { ...ada, isAdmin: true }
  for (const who of [ANONYMOUS, as(admin), as(admin, 'all')]) {
    t.equal(await asked(who, { kind: 'runner' }), 'sign_in_required')
    t.equal(await asked(who, { kind: 'task' }), 'sign_in_required')
    t.equal(await asked(who, { kind: 'artifact-upload' }), 'forbidden')
    t.equal(await asked(who, { kind: 'artifact-download' }), 'forbidden')
  }
})
