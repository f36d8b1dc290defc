/** Access tokens over the API: created with a password, shown once, revoked. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import type { Gateway } from '../../../helpers/gateway.js'
import { refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { withPassword, withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

/** Sends requests below `/users/ada/tokens` with the user's password. */
function byPassword({ ask }: Gateway, name: string) {
  const authorization = withPassword(name, passwordOf(name))
  return (method: string, rest = '', body?: unknown) =>
    ask({ method, path: `/api/v1/users/ada/tokens${rest}`, body, authorization })
}

await onOneDatabase(t, 'a token is created, used, listed and revoked', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  await gateway.db('tokens').delete()
  const tokens = byPassword(gateway, 'ada')
  const made = await tokens('POST', '', { name: 'ci', scopes: ['write:repository', 'read:user'] })
  t.equal(made.status, 201)
  isExpected(t, made.json, 'api/token-created')
  const { id, sha1 } = made.json as { id: number; sha1: string }
  t.match(sha1, /^[0-9a-f]{40}$/)
  t.equal((made.json as Fields)['token_last_eight'], sha1.slice(-8))

  const me = () => gateway.ask({ path: '/api/v1/user', authorization: withToken(sha1) })
  t.match(await me(), { status: 200, json: { login: 'ada' } })
  // The last use is stored while the response is sent.
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await gateway.db('tokens').whereNull('last_used_at')).length === 0) break
    await sleep(20)
  }
  const list = await tokens('GET')
  isExpected(t, list.json, 'api/token-list')
  t.equal(list.headers['x-total-count'], '1')
  t.notMatch(list.text, sha1, 'the token itself is shown once')
  const rows = JSON.stringify(await gateway.db('tokens').select('*'))
  t.notMatch(rows, sha1, 'and is not stored')

  t.match(await tokens('DELETE', `/${id}`), { status: 204, text: '' })
  t.equal((await me()).status, 401, 'a revoked token is refused by the next request')
  t.match(await tokens('DELETE', `/${id}`), { status: 404 })
})

await onOneDatabase(
  t,
  'a token is revoked by id or name, and the id takes precedence',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const tokens = byPassword(gateway, 'ada')
    const first = (await tokens('POST', '', { name: 'a/b c', scopes: ['all'] })).json as Fields
    const named = { name: String(first['id']), scopes: ['all'] }
    const second = (await tokens('POST', '', named)).json as Fields
    t.equal((await tokens('DELETE', `/${first['id']}`)).status, 204)
    const left = (await tokens('GET')).json as Fields[]
    t.ok(left.some(({ id }) => id === second['id']))
    t.notOk(left.some(({ id }) => id === first['id']))
    t.equal((await tokens('DELETE', `/${first['id']}`)).status, 204, 'the number is used as a name')
    await tokens('POST', '', { name: 'a/b c', scopes: ['all'] })
    t.equal((await tokens('DELETE', '/a%2Fb%20c')).status, 204)
    for (const absent of ['/absent', '/0', '/-1', '/%00', '/99999999999999999999']) {
      t.equal((await tokens('DELETE', absent)).status, 404, absent)
    }
  },
)

await onOneDatabase(
  t,
  'an invalid token request is refused with its fault',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const tokens = byPassword(gateway, 'ada')
    const refused = async (body: unknown, status: number, message: string | RegExp) => {
      const answer = await tokens('POST', '', body)
      t.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.text}`)
      t.match(answer.json, { message })
    }
    await tokens('POST', '', { name: 'ci', scopes: ['all'] })
    await refused({ name: 'ci', scopes: ['all'] }, 400, 'access token name has been used already')
    await refused(
      { name: 'x', scopes: ['write:everything'] },
      400,
      'invalid access token scope provided: write:everything',
    )
    await refused({ name: 'x' }, 400, 'access token must have a scope')
    await refused({ name: 'x', scopes: [] }, 400, 'access token must have a scope')
    await refused({ name: 'x', scopes: ['public-only'] }, 400, 'access token must have a scope')
    await refused({ scopes: ['all'] }, 422, '[Name]: Required')
    await refused({ name: '', scopes: ['all'] }, 422, '[Name]: Required')
    await refused({ name: 'x', scopes: 'all' }, 422, /^\[Scopes\]: /)
    await refused({ name: 'x', scopes: [1] }, 422, /^\[Scopes\]: /)
    await refused({ name: 'x'.repeat(256), scopes: ['all'] }, 422, /^\[Name\]: /)
  },
)

await onOneDatabase(
  t,
  'tokens are managed by their owner and by site administrators',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const body = { name: 'x', scopes: ['all'] }
    const foreign = refusal('doer should be the site admin or be same as the contextUser')
    const bob = byPassword(gateway, 'bob')
    for (const [method, rest, sent] of [
      ['GET', '', undefined] as const,
      ['POST', '', body] as const,
      ['DELETE', '/x', undefined] as const,
    ]) {
      const answer = await bob(method, rest, sent)
      t.equal(answer.status, 403, method)
      t.strictSame(answer.json, foreign)
      const path = `/users/ada/tokens${rest}`
      t.match(await gateway.as('ada', method, path, sent), {
        status: 401,
        json: refusal('auth required'),
      })
      t.match(await gateway.as('anyone', method, path, sent), {
        status: 401,
        json: refusal('Only signed in user is allowed to call APIs.'),
      })
    }
    const authorization = withPassword('bob', passwordOf('bob'))
    const absent = await gateway.ask({ path: '/api/v1/users/absent/tokens', authorization })
    t.strictSame(absent.json, foreign, 'whether a user exists is not disclosed')
    const root = byPassword(gateway, 'root')
    t.equal((await root('POST', '', body)).status, 201)
    t.equal((await root('DELETE', '/x')).status, 204)
  },
)

await onOneDatabase(
  t,
  'a token has the limits that were given besides its scopes',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const tokens = byPassword(gateway, 'ada')
    await gateway.as('ada', 'POST', '/user/repos', { name: 'site', private: true })
    await gateway.addOrganization('club', gateway.bob)
    const limits = {
      expires_at: '2999-01-02T03:04:05+01:00',
      repositories: ['ADA/Site', 'ada/site'],
      packages: ['club', 'ada/composer/Vendor/Tool'],
      addresses: ['192.0.2.7', '2001:DB8::/32', '10.0.0.0/8'],
    }
    const made = await tokens('POST', '', { name: 'fleet', scopes: ['read:repository'], ...limits })
    const shown = {
      expires_at: '2999-01-02T02:04:05Z',
      repositories: ['ada/site'],
      packages: ['club', 'ada/composer/vendor/tool'],
      addresses: ['192.0.2.7', '2001:db8::/32', '10.0.0.0/8'],
    }
    t.match(made, { status: 201, json: shown })
    await gateway.as('ada', 'PATCH', '/repos/ada/site', { name: 'home' })
    await tokens('POST', '', { name: 'short', scopes: ['all'], expires_at: limits.expires_at })
    await tokens('POST', '', { name: 'nulls', scopes: ['all'], expires_at: null, addresses: null })
    const list = async () =>
      ((await tokens('GET')).json as Fields[]).map(({ name, ...rest }) => ({
        name,
        ...Object.fromEntries(Object.keys(shown).map((key) => [key, rest[key]])),
      }))
    const none = { repositories: undefined, packages: undefined, addresses: undefined }
    t.strictSame((await list()).slice(1), [
      { name: 'fleet', ...shown, repositories: ['ada/home'] },
      { name: 'short', expires_at: shown.expires_at, ...none },
      { name: 'nulls', expires_at: undefined, ...none },
    ])
    const club = await gateway.db('owners').where({ name_lower: 'club' })
    await gateway.db('owners').where({ id: club[0].id }).update({ visibility: 'private' })
    await gateway.as('ada', 'DELETE', '/repos/ada/home')
    const [, fleet] = await list()
    t.strictSame(fleet, {
      name: 'fleet',
      ...shown,
      repositories: [],
      packages: ['ada/composer/vendor/tool'],
    })
  },
)

t.test('an invalid limit is refused with its field', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  await gateway.as('bob', 'POST', '/user/repos', { name: 'secret', private: true })
  await gateway.addOrganization('hidden', gateway.bob, 'private')
  const tokens = byPassword(gateway, 'ada')
  const refused = async (limit: object, message: string | RegExp) => {
    const answer = await tokens('POST', '', { name: 'x', scopes: ['all'], ...limit })
    t.match(answer, { status: 422, json: { message } }, JSON.stringify(limit))
  }
  await refused({ expires_at: 'soon' }, /^\[ExpiresAt\]: /)
  await refused({ expires_at: '2020-01-01T00:00:00Z' }, /^expires_at: .* is not in the future/)
  await refused({ expires_at: 1 }, /^\[ExpiresAt\]: /)
  for (const name of ['bob/secret', 'bob/absent', 'secret', 'bob/secret/x', '', '/']) {
    const message = `repositories: ${JSON.stringify(name)} is not a repository (owner/name).`
    await refused({ repositories: [name] }, message)
  }
  for (const name of ['hidden', 'absent', '', 'hidden/generic/x']) {
    const message = `packages: ${JSON.stringify(name)} does not begin with an owner of packages.`
    await refused({ packages: [name] }, message)
  }
  for (const name of ['ada/generic', 'ada/generic/', 'ada/npm/x', `ada/go/${'x'.repeat(256)}`]) {
    await refused({ packages: [name] }, /^packages: .* is neither owner nor owner.format.name/)
  }
  for (const address of ['example.com', '10.0.0.0/33', '10.0.0', '::1/129', '']) {
    await refused({ addresses: [address] }, /^addresses: must be addresses/)
  }
  await refused({ addresses: [`fe80::1%${'x'.repeat(60)}`] }, /^\[Addresses\]: /)
  for (const field of ['Repositories', 'Packages', 'Addresses']) {
    await refused({ [field.toLowerCase()]: [] }, new RegExp(`^\\[${field}\\]: `))
  }
  t.equal((await gateway.db('tokens').where({ name: 'x' })).length, 0)
})
