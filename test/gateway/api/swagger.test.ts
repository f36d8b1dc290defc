/** The description of the API: valid, complete, and true of what the server answers. */

import SwaggerParser from '@apidevtools/swagger-parser'
import t from 'tap'
import { Compile } from 'typebox/schema'
import { describeApi } from '../../../gateway/api/swagger.js'
import { OPERATIONS } from '../../../gateway/api/v1/operations.js'
import { isExpected } from '../../helpers/expected.js'
import { passwordOf, startGateway } from '../../helpers/gateway.js'
import { type Answer, withPassword } from '../../helpers/requests.js'
import { aKeyLine } from '../../helpers/ssh-keys.js'
import { startTown, type Town } from '../../helpers/town.js'

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, { readonly schema?: Json }>>
}
type Json = { readonly [key: string]: unknown }
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

t.test('it is valid Swagger 2.0 by an independent reader, and kept under review', async (t) => {
  const { ask } = await startGateway(t)
  const { status, json } = await ask({ path: '/swagger.v1.json' })
  t.equal(status, 200)
  await t.resolves(SwaggerParser.validate(plain(json)))
  t.match(json, { swagger: '2.0', basePath: '/api/v1', info: { title: 'Gitea API' } })
  isExpected(t, json, 'api/swagger')
  t.notMatch(JSON.stringify(json), /"(?:anyOf|oneOf|allOf|const|~kind|\$id)"|null/)
})

t.test('the address that every error names leads to it', async (t) => {
  const { ask } = await startGateway(t)
  const refused = await ask({ path: '/api/v1/user' })
  const { url } = refused.json as { url: string }
  t.match(url, /\/api\/swagger$/)
  const { status, headers } = await ask({ path: new URL(url).pathname })
  t.equal(status, 302)
  t.match(headers['location'], /\/swagger\.v1\.json$/)
})

t.test('it lists what is served, no more and no less, by the names of Gitea', async (t) => {
  const { paths } = describeApi(OPERATIONS, '') as { paths: Paths }
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
  )
  const served = OPERATIONS.map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path}`)
  t.strictSame(listed.sort(), served.sort())
  t.strictSame(served, [
    'createCurrentUserRepo post /user/repos',
    'createOrgRepo post /orgs/{org}/repos',
    'deletePackage delete /packages/{owner}/{type}/{name}',
    'deletePackageVersion delete /packages/{owner}/{type}/{name}/{version}',
    'getLatestPackageVersion get /packages/{owner}/{type}/{name}/-/latest',
    'getPackage get /packages/{owner}/{type}/{name}/{version}',
    'getVersion get /version',
    'linkPackage post /packages/{owner}/{type}/{name}/-/link/{repo_name}',
    'listPackageFiles get /packages/{owner}/{type}/{name}/{version}/files',
    'listPackageVersions get /packages/{owner}/{type}/{name}',
    'listPackages get /packages/{owner}',
    'orgCreate post /orgs',
    'repoCreateKey post /repos/{owner}/{repo}/keys',
    'repoDelete delete /repos/{owner}/{repo}',
    'repoDeleteKey delete /repos/{owner}/{repo}/keys/{id}',
    'repoEdit patch /repos/{owner}/{repo}',
    'repoGet get /repos/{owner}/{repo}',
    'repoGetKey get /repos/{owner}/{repo}/keys/{id}',
    'repoListKeys get /repos/{owner}/{repo}/keys',
    'unlinkPackage post /packages/{owner}/{type}/{name}/-/unlink',
    'userCreateToken post /users/{username}/tokens',
    'userCurrentDeleteKey delete /user/keys/{id}',
    'userCurrentGetKey get /user/keys/{id}',
    'userCurrentListKeys get /user/keys',
    'userCurrentListRepos get /user/repos',
    'userCurrentPostKey post /user/keys',
    'userDeleteAccessToken delete /users/{username}/tokens/{token}',
    'userGet get /users/{username}',
    'userGetCurrent get /user',
    'userGetTokens get /users/{username}/tokens',
    'userListKeys get /users/{username}/keys',
  ])
})

t.test('each path parameter is described, and the sub-path stands in the base', async (t) => {
  const { paths, basePath } = describeApi(OPERATIONS, '/git') as { paths: Paths; basePath: string }
  t.equal(basePath, '/git/api/v1')
  for (const [path, methods] of Object.entries(paths)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const { operationId, parameters } of Object.values(methods)) {
      const named = parameters.filter((parameter) => parameter.in === 'path')
      t.strictSame(named.map(({ name }) => name).sort(), wanted.sort(), operationId)
    }
  }
})

/** Every field must be described: a missing or an additional one does not fit. */
function strict(schema: Json): Json {
  const { properties, items, ...rest } = schema as {
    properties?: Record<string, Json>
    items?: Json
  }
  if (items !== undefined) return { ...rest, items: strict(items) }
  if (properties === undefined) return rest
  const entries = Object.entries(properties).map(([name, value]) => [name, strict(value)])
  return {
    ...{ ...rest, properties: Object.fromEntries(entries) },
    ...{ required: Object.keys(properties), additionalProperties: false },
  }
}

/** Of a package that is linked, as ada's repository `r` has to be there for. */
async function successesOfPackages({ as, ask, authorizationOf }: Town) {
  const path = '/packages/ada/generic/tool'
  for (const version of ['1', '2']) {
    const body = Buffer.from('data')
    const authorization = authorizationOf('ada')
    await ask({ method: 'PUT', path: `/api${path}/${version}/f`, body, authorization })
  }
  return {
    linkPackage: await as('ada', 'POST', `${path}/-/link/r`),
    listPackages: await as('ada', 'GET', '/packages/ada'),
    listPackageVersions: await as('ada', 'GET', path),
    getLatestPackageVersion: await as('ada', 'GET', `${path}/-/latest`),
    getPackage: await as('ada', 'GET', `${path}/1`),
    listPackageFiles: await as('ada', 'GET', `${path}/1/files`),
    unlinkPackage: await as('ada', 'POST', `${path}/-/unlink`),
    deletePackageVersion: await as('ada', 'DELETE', `${path}/1`),
    deletePackage: await as('ada', 'DELETE', path),
  }
}

/** One request of each operation that succeeds, in an order in which they can. */
async function successes(town: Town): Promise<Readonly<Record<string, Answer>>> {
  const { as, ask } = town
  const authorization = withPassword('ada', passwordOf('ada'))
  const account = (method: string, rest: string, body?: unknown) =>
    ask({ method, path: `/api/v1/users/ada/tokens${rest}`, body, authorization })
  const made = await as('ada', 'POST', '/user/keys', { title: 'k', key: aKeyLine() })
  const { id } = made.json as { id: number }
  return {
    getVersion: await as('anyone', 'GET', '/version'),
    orgCreate: await as('ada', 'POST', '/orgs', { username: 'club' }),
    createOrgRepo: await as('ada', 'POST', '/orgs/club/repos', { name: 'r' }),
    createCurrentUserRepo: await as('ada', 'POST', '/user/repos', { name: 'r' }),
    repoGet: await as('ada', 'GET', '/repos/ada/r'),
    repoCreateKey: await as('ada', 'POST', '/repos/ada/r/keys', { title: 'k', key: aKeyLine() }),
    repoListKeys: await as('ada', 'GET', '/repos/ada/r/keys'),
    repoGetKey: await as('ada', 'GET', '/repos/ada/r/keys/1'),
    repoDeleteKey: await as('ada', 'DELETE', '/repos/ada/r/keys/1'),
    ...(await successesOfPackages(town)),
    repoEdit: await as('ada', 'PATCH', '/repos/ada/r', { archived: true }),
    userCurrentListRepos: await as('ada', 'GET', '/user/repos'),
    repoDelete: await as('ada', 'DELETE', '/repos/ada/r'),
    userGetCurrent: await as('ada', 'GET', '/user'),
    userGet: await as('anyone', 'GET', '/users/ada'),
    userCurrentPostKey: made,
    userCurrentListKeys: await as('ada', 'GET', '/user/keys'),
    userListKeys: await as('ada', 'GET', '/users/ada/keys'),
    userCurrentGetKey: await as('ada', 'GET', `/user/keys/${id}`),
    userCurrentDeleteKey: await as('ada', 'DELETE', `/user/keys/${id}`),
    userCreateToken: await account('POST', '', { name: 'x', scopes: ['all'] }),
    userGetTokens: await account('GET', ''),
    userDeleteAccessToken: await account('DELETE', '/x'),
  }
}

t.test('each answer is what the description says, field by field', async (t) => {
  const town = await startTown(t)
  const { json } = await town.ask({ path: '/swagger.v1.json' })
  const whole = (await SwaggerParser.dereference(plain(json))) as unknown as { paths: Paths }
  const answers = await successes(town)
  for (const { id, method, path } of OPERATIONS) {
    const answer = answers[id]
    const described = whole.paths[path]?.[method.toLowerCase()]?.responses[String(answer?.status)]
    if (answer === undefined || described === undefined) {
      t.fail(`${id} answers ${answer?.status}, which is not described`)
    } else if (described.schema === undefined) {
      t.equal(answer.text, '', id)
    } else {
      const [, errors] = Compile(strict(plain(described.schema))).Errors(answer.json)
      t.strictSame(errors, [], id)
    }
  }
  const refused = await town.as('ada', 'GET', '/repos/ada/absent')
  const notFound = whole.paths['/repos/{owner}/{repo}']?.['get']?.responses['404']?.schema ?? {}
  t.ok(Compile(strict(plain(notFound))).Check(refused.json), 'a refusal as well')
})
