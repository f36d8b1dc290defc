/** Teams whose units differ: each route of a repository requires access to its own unit. */

import t, { type Test } from 'tap'
import { Failure } from '../../../conf/failures.js'
import { type AuthorizationRequest, authorize } from '../../../gateway/auth/authorize.js'
import type { AnyRoute } from '../../../gateway/request/route.js'
import { allRoutes } from '../../../gateway/server.js'
import { createComment } from '../../../sql/issues/comments.js'
import { createIssue } from '../../../sql/issues/issues.js'
import { openContext } from '../../helpers/gateway.js'
import { anOrganization, aRepository, aTeam } from '../../helpers/rows.js'

const ON = { isEnabled: true }

type RepositoryAccess = AuthorizationRequest<'repository'>['access']

type RepositoryRoute = AnyRoute & { readonly access: RepositoryAccess }

const ROUTES = allRoutes({ actions: ON, lfs: ON, packages: ON, web: ON }).filter(
  (route): route is RepositoryRoute => route.access.kind === 'repository',
)

const UNITS = ['code', 'issues', 'pulls', 'releases', 'wiki', 'actions'] as const

type Unit = (typeof UNITS)[number]

/** First segments, below the repository, of the routes that are not about code. */
const PARTS: Readonly<Record<string, readonly Unit[]>> = {
  issues: ['issues', 'pulls'],
  labels: ['issues', 'pulls'],
  milestones: ['issues', 'pulls'],
  assignees: ['issues', 'pulls'],
  pulls: ['pulls'],
  reviewers: ['pulls'],
  releases: ['releases'],
  wiki: ['wiki'],
  times: ['issues'],
  activities: UNITS,
  new_pin_allowed: UNITS,
  actions: ['actions'],
  collaborators: UNITS,
  notifications: UNITS,
  packages: UNITS,
  stargazers: UNITS,
  subscribers: UNITS,
  subscription: UNITS,
  topics: UNITS,
  transfer: UNITS,
}

/** Routes about one of several units, or about the repository, that their path does not show. */
const EXCEPTIONS: Readonly<Record<string, readonly Unit[]>> = {
  'POST /api/v1/repos/{owner}/{repo}/issues': ['issues'],
  'GET /{owner}/{repo}/issues': ['issues'],
  'GET /api/v1/repos/{owner}/{repo}/issues/pinned': ['issues'],
  'GET /api/v1/repos/{owner}/{repo}/commits/{sha}/pull': ['pulls'],
  'GET /{owner}/{repo}/issues/new': ['issues'],
  'POST /{owner}/{repo}/issues/new': ['issues'],
  'POST /{owner}/{repo}/compare/{basehead...}': ['pulls'],
  'GET /{owner}/{repo}': UNITS,
  'GET /api/v1/repos/{owner}/{repo}': UNITS,
  'GET /api/v1/repositories/{id}': UNITS,
  'GET /api/v1/user/starred/{owner}/{repo}': UNITS,
  'PUT /api/v1/user/starred/{owner}/{repo}': UNITS,
  'DELETE /api/v1/user/starred/{owner}/{repo}': UNITS,
}

/** Returns the units, access to one of which the route requires; all if it changes settings. */
function unitsOf({ method, path, access }: RepositoryRoute): readonly Unit[] {
  if (access.mode === 'admin' || access.mode === 'owner') return UNITS
  const part = /\/\{repo\}\/([^/{]*)/.exec(path)?.[1] ?? ''
  return EXCEPTIONS[`${method} ${path}`] ?? PARTS[part] ?? ['code']
}

/** Returns true if the path names an issue, a pull request or a comment, which has one unit. */
function hasConversation({ path }: RepositoryRoute): boolean {
  return (
    /\/issues\/(?:\{index\}|comments\/\{id\})/.test(path) ||
    /\/pulls\/\{index\}\/comments/.test(path)
  )
}

const LEVELS = ['none', 'read', 'write', 'admin', 'owner']

async function openClub(t: Test) {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const club = await anOrganization(db, 'club', ada.id)
  const { id: repositoryId } = await aRepository(db, club.id, 'r', { isPrivate: true })
  const ids: Record<'issues' | 'pulls', { index: string; id: string }> = {
    issues: { index: '', id: '' },
    pulls: { index: '', id: '' },
  }
  for (const unit of ['issues', 'pulls'] as const) {
    const isPull = unit === 'pulls'
    const about = { repositoryId, isPull, title: 't', content: '', authorId: ada.id }
    const issue = await createIssue(db, about)
    const comment = { issueId: issue.id, authorId: ada.id, content: 'c' }
    ids[unit] = { index: `${issue.number}`, id: `${(await createComment(db, comment)).id}` }
  }
  const addMember = async (name: string, units: Readonly<Record<string, string>>) => {
    const user = await fixture.addUser(name)
    const inputs = { organizationId: club.id, permission: 'none', includesAll: true }
    await aTeam(db, { ...inputs, units, memberIds: [user.id] })
    return { kind: 'user', user, by: 'password', scopes: undefined } as const
  }
  const ask = async (
    who: AuthorizationRequest['who'],
    { access, path, scopes }: RepositoryRoute,
    about: { index: string; id: string; repo?: string },
  ) => {
    const { repo = 'r' } = about
    const named = { owner: 'club', repo, template_owner: 'club', template_repo: 'r' }
    const id = access.isById ? `${repositoryId}` : about.id
    const all = Object.entries({ ...named, index: about.index, id })
    const params = Object.fromEntries(all.filter(([name]) => path.includes(`{${name}`)))
    const rest = { challenges: false, anonymousBytesMax: undefined }
    try {
      await authorize(db, { who, access, scopes, params, ...rest })
      return 'ok'
    } catch (error) {
      if (error instanceof Failure) return error.failure
      throw error
    }
  }
  return { db, ids, repositoryId, addMember, ask }
}

t.test('a team reaches exactly the routes of its units, with the level of each', async (t) => {
  const { ids, addMember, ask } = await openClub(t)
  const teams: readonly Partial<Record<Unit | 'packages' | 'projects', 'read' | 'write'>>[] = [
    ...UNITS.map((unit) => ({ [unit]: 'read' }) as const),
    ...UNITS.map((unit) => ({ [unit]: 'write' }) as const),
    { packages: 'write', projects: 'write' },
    { code: 'read', issues: 'write' },
    { code: 'read', pulls: 'write' },
    { code: 'write', pulls: 'read', issues: 'read' },
    { code: 'read', packages: 'write' },
  ]
  const seen = new Set<string>()
  for (const [number, held] of teams.entries()) {
    const units = Object.entries(held).map(([unit, level]) => [`repo.${unit}`, level])
    const who = await addMember(`m${number}`, Object.fromEntries(units))
    const levelOf = (unit: Unit) =>
      unit === 'pulls' && held.code === undefined ? 'none' : (held[unit] ?? 'none')
    for (const route of ROUTES) {
      for (const kind of ['issues', 'pulls'] as const) {
        const counted =
          hasConversation(route) && route.access.mode !== 'admin'
            ? ([kind] as const)
            : unitsOf(route)
        const level = Math.max(...counted.map((unit) => LEVELS.indexOf(levelOf(unit))))
        const isEnough = level >= LEVELS.indexOf(route.access.mode)
        const expected = level === 0 ? 'not_found' : isEnough ? 'ok' : 'forbidden'
        const place = `${JSON.stringify(held)} ${kind}: ${route.method} ${route.path}`
        const got = await ask(who, route, ids[kind])
        if (got !== expected) t.equal(got, expected, place)
        seen.add(`${counted.join()} ${expected}`)
      }
    }
  }
  for (const unit of UNITS) {
    for (const outcome of ['ok', 'forbidden', 'not_found']) {
      // No route of pull requests alone requires more than read access.
      if (unit !== 'pulls' || outcome !== 'forbidden') t.ok(seen.has(`${unit} ${outcome}`), unit)
    }
  }
})

t.test('a team reaches the Git data of a wiki by the unit wiki alone', async (t) => {
  const { ids, addMember, ask } = await openClub(t)
  const routes = ROUTES.filter(({ access }) => access.mayBeWiki)
  t.equal(routes.length, 5, 'fetch and push, and the bundle')
  const about = { ...ids.issues, repo: 'r.wiki.git' }
  for (const [level, unit] of [
    ['none', 'code'],
    ['read', 'wiki'],
    ['write', 'wiki'],
  ] as const) {
    const who = await addMember(`m-${level}`, { [`repo.${unit}`]: 'write', 'repo.wiki': level })
    for (const route of routes) {
      const isEnough = LEVELS.indexOf(level) >= LEVELS.indexOf(route.access.mode)
      const expected = level === 'none' ? 'not_found' : isEnough ? 'ok' : 'forbidden'
      t.equal(await ask(who, route, about), expected, `${level}: ${route.path}`)
    }
  }
})

t.test(
  'a grant has the unit of its issue or pull request and the access to each unit',
  async (t) => {
    const { db, ids, addMember } = await openClub(t)
    const who = await addMember('bob', { 'repo.code': 'read', 'repo.issues': 'write' })
    const grantAt = async (about: { index: string }) =>
      await authorize(db, {
        who,
        access: { kind: 'repository', mode: 'read', unit: 'conversation' },
        scopes: [],
        params: { owner: 'club', repo: 'r', ...about },
        challenges: false,
        anonymousBytesMax: undefined,
      })
    const modes = {
      code: 'read',
      issues: 'write',
      pulls: 'none',
      releases: 'none',
      wiki: 'none',
      actions: 'none',
    }
    t.match(await grantAt(ids.issues), {
      unit: 'issues',
      mode: 'write',
      modes: { ...modes, any: 'write' },
    })
    await t.rejects(grantAt(ids.pulls), {
      failure: 'not_found',
      message: 'not found',
    })
    t.match(await grantAt({ index: '99' }), { unit: 'issues', mode: 'write' })
    t.match(await grantAt({ index: 'x' }), { unit: 'issues', mode: 'write' })
  },
)

t.test('a limited token has no more than the units of its holder', async (t) => {
  const { ids, repositoryId, addMember, ask } = await openClub(t)
  const who = await addMember('bob', { 'repo.code': 'read', 'repo.issues': 'write' })
  const route = (place: string) => ROUTES.find(({ method, path }) => `${method} ${path}` === place)
  const places = [
    'GET /{owner}/{repo}/src/{place...}',
    'POST /api/v1/repos/{owner}/{repo}/contents',
    'PUT /api/v1/repos/{owner}/{repo}/issues/{index}/lock',
    'GET /api/v1/repos/{owner}/{repo}/releases',
    'GET /api/v1/repos/{owner}/{repo}/hooks',
  ]
  const outcomes = async (repositoryIds: readonly number[]) => {
    const reach = { repositoryIds, packages: [] }
    const limits = { expiresAtMs: undefined, addresses: [], reach }
    const holder = { ...who, by: 'token', scopes: ['all'], limits } as const
    const got: string[] = []
    for (const place of places) {
      const found = route(place)
      if (found !== undefined) got.push(await ask(holder, found, ids.issues))
    }
    return got
  }
  t.strictSame(await outcomes([repositoryId]), ['ok', 'forbidden', 'ok', 'not_found', 'forbidden'])
  t.strictSame(
    await outcomes([repositoryId + 1]),
    places.map(() => 'not_found'),
  )
})
