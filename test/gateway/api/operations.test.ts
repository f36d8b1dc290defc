/**
 * Every operation with every kind of credentials gives the answer that its access and scopes
 * declare.
 */

import t from 'tap'
import { newStorageKey } from '../../../cgi/repository/paths.js'
import type { Request } from '../../../conf/http.js'
import type { AnyOperation } from '../../../gateway/api/operation.js'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { API_SURFACE } from '../../../gateway/api/surface.js'
import { routeOf } from '../../../gateway/api/validate.js'
import { newToken } from '../../../gateway/auth/token.js'
import { NO_BODY } from '../../../gateway/http/incoming-body.js'
import { createRouteTable } from '../../../gateway/request/route-table.js'
import { createRouter } from '../../../gateway/request/router.js'
import type { TokenLimits } from '../../../sql/accounts/token-limits.js'
import { deleteToken } from '../../../sql/accounts/tokens.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { createRepository } from '../../../sql/repositories/repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { NO_WATCH } from '../../helpers/no-watch.js'
import { pathOf } from '../../helpers/operation-paths.js'
import { passwordOf } from '../../helpers/passwords.js'
import { withPassword, withToken } from '../../helpers/requests.js'
import { isFullSize } from '../../helpers/test-size.js'

const CATEGORIES = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
]
const SCOPES = ['all', ...CATEGORIES.flatMap((word) => [`read:${word}`, `write:${word}`])]

/** Owner of the credentials, and their limits. */
type Bearer =
  | { readonly kind: 'anonymous' | 'malformed' | 'wrong' }
  | {
      readonly kind: 'owner' | 'other' | 'admin'
      /** Scopes of a token; undefined for a password. */
      readonly scopes: readonly string[] | undefined
      /** Repositories or packages to which a token is limited. */
      readonly opens?: Opened
    }

/** All objects, the ones at this path, or one (`-`) at no operation's path. */
type Opened = 'all' | '/public' | '/private' | '/packages/ada' | '/packages/ada/generic/tool' | '-'

interface Credentials {
  readonly name: string
  readonly bearer: Bearer
  readonly authorization?: string
  readonly query?: string
  /** True for a password, because checking one takes as long as hundreds of requests. */
  readonly isPassword?: true
}

const PASSED = 299
const SIGN_IN = '401 Only signed in user is allowed to call APIs.'
const WRONG = '401 invalid username, password or token'

/** Returns the declared answer, computed without the code under test. */
function expected(operation: AnyOperation, bearer: Bearer, isPrivate: boolean): string {
  const { access, scopes } = operation
  if (bearer.kind === 'malformed') return SIGN_IN
  if (bearer.kind === 'wrong') return WRONG
  if (!('scopes' in bearer)) {
    if (access.kind === 'anyone') return String(PASSED)
    if ('isSignedIn' in access && access.isSignedIn) return SIGN_IN
    if (access.kind === 'organization' && access.role === 'visible') return String(PASSED)
    if (access.kind !== 'repository' || access.mode !== 'read') return SIGN_IN
    return isPrivate ? '404 not found' : String(PASSED)
  }
  const { scopes: held } = bearer
  const covers = (scope: string) =>
    held === undefined ||
    held.includes('all') ||
    held.includes(scope) ||
    held.includes(scope.replace('read:', 'write:'))
  if (!scopes.every(covers)) {
    return (
      '401 token does not have at least one of required scope(s), ' +
      `required=[${scopes.join(' ')}], token scope=${held?.join(',')}`
    )
  }
  if (bearer.opens !== undefined) {
    const answer = expectedOfLimited(operation, { opens: bearer.opens, isPrivate })
    if (answer !== undefined) return answer
  }
  const isOther = bearer.kind === 'other'
  switch (access.kind) {
    case 'account':
      if (held !== undefined) return '401 auth required'
      if (!isOther) return String(PASSED)
      return '403 doer should be the site admin or be same as the contextUser'
    case 'organization-repositories':
      if (!isOther) return String(PASSED)
      return '403 Given user is not allowed to create repository in organization.'
    case 'organization':
      if (!isOther || access.role === 'visible') return String(PASSED)
      return `403 Must be an organization ${access.role}`
    case 'team':
      return isOther ? '404 not found' : String(PASSED)
    case 'admin':
      return bearer.kind === 'admin' ? String(PASSED) : '403 user should be the site admin'
    case 'repository':
      if (!isOther || (access.mode === 'read' && !isPrivate)) return String(PASSED)
      return isPrivate ? '404 not found' : `403 ${FORBIDDEN[access.mode]}`
    case 'packages':
      if (!isOther || access.mode === 'read') return String(PASSED)
      return access.mode === 'owner'
        ? '403 You may not change the settings of the packages of ada.'
        : '403 You may not change the packages of ada.'
    default:
      return String(PASSED)
  }
}

/** Returns undefined if a limited token gets the same answer as an unlimited one. */
function expectedOfLimited(
  { access, scopes, path }: AnyOperation,
  { opens, isPrivate }: { readonly opens: Opened; readonly isPrivate: boolean },
): string | undefined {
  if (scopes.some((scope) => /^write:(?:admin|organization|user)$/.test(scope))) return LIMITED
  switch (access.kind) {
    case 'repository': {
      if (opens === 'all' || opens === (isPrivate ? '/private' : '/public')) {
        return atLeast('write', access.mode) ? String(PASSED) : LIMITED
      }
      if (isPrivate) return '404 not found'
      return access.mode === 'read' && !access.isSignedIn ? String(PASSED) : LIMITED
    }
    case 'packages': {
      if (access.mode === 'owner' && opens !== 'all') return LIMITED
      const asked = `${path.replace('{owner}', 'ada').replace('{type}/{name}', 'generic/tool')}/`
      return opens === 'all' || asked.startsWith(`${opens}/`) ? String(PASSED) : LIMITED
    }
    case 'signed-in':
    case 'anyone':
      return opens === 'all' || access.kind === 'anyone' || path === '/user'
        ? String(PASSED)
        : LIMITED
    case 'organization':
      if (opens === 'all') return undefined
      return access.role === 'visible' && !access.isSignedIn ? String(PASSED) : LIMITED
    case 'account':
      return '401 auth required'
    default:
      return opens === 'all' ? undefined : LIMITED
  }
}

const LIMITED = '403 This token is limited and does not permit this request.'

const FORBIDDEN: Readonly<Record<string, string>> = {
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

const { context, fixture } = await openContext(t)
const ada = await fixture.addUser('ada')
const bob = await fixture.addUser('bob')
const root = await fixture.addUser('root', { isAdmin: true })
await fixture.addOrganization('club', ada)
const repositoryIds: Record<string, number> = {}
for (const name of ['public', 'private']) {
  const { id } = await createRepository(fixture.db, {
    ownerId: ada.id,
    name,
    storage: newStorageKey(),
    description: '',
    website: '',
    isPrivate: name === 'private',
    isTemplate: false,
    isEmpty: true,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    preferences: {},
  })
  repositoryIds[name] = id
}

/** A marker replaces the handlers, so that the requests change nothing. */
const answer = createRouter({
  context,
  table: createRouteTable(
    OPERATIONS.map(({ body: _, ...operation }) =>
      routeOf({ ...operation, handle: async () => ({ status: PASSED }) }),
    ),
  ),
  surfaceOfUnknown: () => API_SURFACE,
  forward: undefined,
  watch: NO_WATCH,
})

async function everyCredentials(): Promise<readonly Credentials[]> {
  const owner = (scopes: readonly string[] | undefined): Bearer => ({ kind: 'owner', scopes })
  const all = (await fixture.addToken(ada, 'all')).plain
  const revoked = await fixture.addToken(ada, 'all')
  await deleteToken(fixture.db, ada.id, revoked.token.id)
  const ofScopes: Credentials[] = []
  for (const scope of SCOPES) {
    const { plain } = await fixture.addToken(ada, scope)
    const bearer = owner([scope])
    ofScopes.push({ name: `a token of ${scope}`, bearer, authorization: withToken(plain) })
  }
  const twoScopes = await fixture.addToken(ada, 'read:repository', 'read:user')
  const bobs = await fixture.addToken(bob, 'all')
  const roots = await fixture.addToken(root, 'all')
  const basic = withPassword
  const refused = (kind: 'malformed' | 'wrong', name: string, authorization: string) => ({
    name,
    bearer: { kind },
    authorization,
  })
  const taken = (name: string, bearer: Bearer, authorization: string) => ({
    name,
    bearer,
    authorization,
  })
  const password = (name: string, bearer: Bearer, user: string) => ({
    ...taken(name, bearer, basic(user, passwordOf(user))),
    isPassword: true as const,
  })
  return [
    { name: 'nothing', bearer: { kind: 'anonymous' } },
    ...['', 'token', 'token ', `token ${all} x`, `token ${all}, token ${all}`, `Digest ${all}`].map(
      (text) => refused('malformed', `malformed '${text.replaceAll(all, 'T')}'`, text),
    ),
    ...['token abc', `token ${all}0`, `token ${all.toUpperCase()}x`, 'Basic !', 'Basic YWRh'].map(
      (text) => refused('malformed', `malformed '${text.slice(0, 11)}'`, text),
    ),
    refused('wrong', 'a wrong token', withToken(newToken())),
    refused('wrong', 'a revoked token', withToken(revoked.plain)),
    refused('wrong', 'a revoked token as password', basic('ada', revoked.plain)),
    refused('wrong', 'a revoked token as user name', basic(revoked.plain, '')),
    ...ofScopes,
    taken(
      'a token of two scopes',
      owner(['read:repository', 'read:user']),
      withToken(twoScopes.plain),
    ),
    taken('Bearer', owner(['all']), `Bearer ${all}`),
    taken('another case of the scheme', owner(['all']), `TOKEN ${all}`),
    password('a password', owner(undefined), 'ada'),
    taken('a token as password', owner(['all']), basic('ada', all)),
    taken('a token as password of any name', owner(['all']), basic('x', all)),
    taken('a token as user name', owner(['all']), basic(all, '')),
    taken('a token as user name for git', owner(['all']), basic(all, 'x-oauth-basic')),
    taken("another user's token", { kind: 'other', scopes: ['all'] }, withToken(bobs.plain)),
    password("another user's password", { kind: 'other', scopes: undefined }, 'bob'),
    taken("an admin's token", { kind: 'admin', scopes: ['all'] }, withToken(roots.plain)),
    password("an admin's password", { kind: 'admin', scopes: undefined }, 'root'),
    ...(await limitedCredentials()),
    { name: '?token=', bearer: { kind: 'malformed' }, query: `token=${all}` },
    { name: '&access_token=', bearer: { kind: 'malformed' }, query: `page=1&access_token=${all}` },
  ]
}

const REACHES: Readonly<Record<Opened, TokenLimits['reach']>> = {
  all: undefined,
  '/public': { repositoryIds: [repositoryIds['public'] ?? 0], packages: [] },
  '/private': { repositoryIds: [repositoryIds['private'] ?? 0], packages: [] },
  '/packages/ada': { repositoryIds: [], packages: [{ ownerId: ada.id, named: undefined }] },
  '/packages/ada/generic/tool': {
    repositoryIds: [],
    packages: [{ ownerId: ada.id, named: { format: 'generic', name: 'tool' } }],
  },
  '-': { repositoryIds: [], packages: [] },
}

async function limitedCredentials(): Promise<readonly Credentials[]> {
  const here = ['192.0.2.0/24']
  const [past, future] = [Date.now() - 1, Date.now() + 3_600_000]
  const wrong = { kind: 'wrong' } as const
  const [ended, elsewhere] = [
    await fixture.addLimitedToken(ada, { expiresAtMs: past, addresses: here }, 'all'),
    await fixture.addLimitedToken(
      ada,
      { expiresAtMs: future, addresses: ['2001:db8::/32'] },
      'all',
    ),
  ]
  const all: Credentials[] = [
    { name: 'a token that has ended', bearer: wrong, authorization: withToken(ended.plain) },
    { name: 'a token of elsewhere', bearer: wrong, authorization: withToken(elsewhere.plain) },
    {
      name: 'a token of elsewhere as password',
      bearer: wrong,
      authorization: withPassword('ada', elsewhere.plain),
    },
  ]
  for (const [opens, reach] of Object.entries(REACHES) as [Opened, TokenLimits['reach']][]) {
    for (const [kind, user] of Object.entries({ owner: ada, admin: root } as const)) {
      const limits = { expiresAtMs: future, addresses: here, reach }
      const { plain } = await fixture.addLimitedToken(user, limits, 'all')
      const bearer = { kind: kind as 'owner' | 'admin', scopes: ['all'], opens }
      const name = `a token of the ${kind} that opens ${opens}`
      all.push({ name, bearer, authorization: withToken(plain) })
    }
  }
  return all
}

const credentials = await everyCredentials()

/** Returns the status and, for a refusal, the message. */
async function answerTo(
  { method }: AnyOperation,
  path: string,
  { authorization, query = '' }: Credentials,
): Promise<string> {
  const request: Request = {
    id: '1',
    method,
    path: `/api/v1${path}`,
    query,
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
    address: '192.0.2.1',
    scheme: 'http',
    body: NO_BODY,
    signal: new AbortController().signal,
  }
  const reply = await answer(request)
  const message = reply.body === undefined ? '' : ` ${JSON.parse(String(reply.body)).message}`
  return `${reply.status}${message}`
}

/** Declarations that were tried with all credentials before. */
const tried = new Set<string>()

function isFirst(...declaration: readonly unknown[]): boolean {
  const text = JSON.stringify(declaration)
  if (tried.has(text)) return isFullSize
  tried.add(text)
  return true
}

/**
 * Returns the credentials to try with an operation. Authorization depends on the access, the scopes
 * and the parameters of the path, so the first operation that declares these is tried with all
 * tokens, and the others with one token of each bearer. Tokens of other categories are left out
 * there. Passwords have no scopes, and a check of one is slow: each access is tried with them once.
 */
function credentialsFor({ access, scopes, path }: AnyOperation): readonly Credentials[] {
  const hasAllTokens = isFirst(access, scopes, path.match(/\{\w+/g))
  const hasPasswords = isFirst(access)
  const categories = scopes.map(categoryOf)
  const bearers = new Set<string>()
  return credentials.filter(({ bearer, isPassword = false }) => {
    if (isPassword) return hasPasswords
    if (hasAllTokens) return true
    const held = ('scopes' in bearer ? bearer.scopes : undefined) ?? ['all']
    if (!held.some((scope) => scope === 'all' || categories.includes(categoryOf(scope)))) {
      return false
    }
    const isNew = !bearers.has(JSON.stringify(bearer))
    bearers.add(JSON.stringify(bearer))
    return isNew
  })
}

function categoryOf(scope: string): string {
  return scope.slice(scope.indexOf(':') + 1)
}

t.test('each caller of each operation gets the declared answer', async (t) => {
  for (const operation of OPERATIONS) {
    const callers = credentialsFor(operation)
    for (const repo of operation.path.includes('{repo}') ? ['public', 'private'] : ['']) {
      const path = pathOf(operation, { repo, org: 'club' })
      const answers: string[] = []
      const declared: string[] = []
      for (const each of callers) {
        const { name, bearer } = each
        answers.push(`${name}: ${await answerTo(operation, path, each)}`)
        declared.push(`${name}: ${expected(operation, bearer, repo === 'private')}`)
      }
      t.strictSame(answers, declared, `${operation.id} ${repo}`)
    }
  }
})

t.test('no two operations share an id, or a method and a path', async (t) => {
  const ids = new Set(OPERATIONS.map(({ id }) => id))
  const places = new Set(OPERATIONS.map(({ method, path }) => `${method} ${path}`))
  t.equal(ids.size, OPERATIONS.length)
  t.equal(places.size, OPERATIONS.length)
})

t.test('only operations of the account itself and of the instance require no scopes', async (t) => {
  const free = OPERATIONS.filter(({ scopes }) => scopes.length === 0).map(({ id }) => id)
  t.strictSame(free.sort(), [
    'getGeneralAPISettings',
    'getGeneralAttachmentSettings',
    'getGeneralRepositorySettings',
    'getGeneralUISettings',
    'getGitignoreTemplateInfo',
    'getLabelTemplateInfo',
    'getLicenseTemplateInfo',
    'getNodeInfo',
    'getVersion',
    'listGitignoresTemplates',
    'listLabelTemplates',
    'listLicenseTemplates',
    'userCreateToken',
    'userDeleteAccessToken',
    'userGetTokens',
  ])
})
