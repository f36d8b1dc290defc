/** Go modules in repositories: who may read them, and the versions that tags and commits have. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findRepository } from '../../../sql/repositories/repositories.js'
import {
  type GatewayWithRepository,
  startGatewayWithRepository,
} from '../../helpers/gateway-with-repository.js'
import { type Name, visible } from '../../helpers/gateway-with-users.js'
import { moduleZip } from '../../helpers/modules.js'
import { withToken } from '../../helpers/requests.js'

const REGISTRY = '/api/packages/ada/go'

/** Starts a gateway with ada's repository, whose module has the path `code.example.com/ada/r`. */
async function startScene(t: Test) {
  const gateway = await startGatewayWithRepository(t)
  const get = (rest: string, name: Name = 'anyone', module = 'code.example.com/ada/r') => {
    const authorization = gateway.authorizationOf(name)
    return gateway.ask({ path: `${REGISTRY}/${module}/${rest}`, authorization })
  }
  const versionOf = async (revision: string) => {
    const { status, text } = await get(`@v/${revision}.info`)
    return status === 200 ? String(JSON.parse(text).Version) : text
  }
  return { ...gateway, module: get, versionOf }
}

/** Commits a file on main, tags the commit and pushes both. */
async function commitAndPush(
  { copy, push }: GatewayWithRepository,
  [name, content]: readonly [name: string, content: string],
  tags: readonly string[] = [],
): Promise<string> {
  const commit = await copy.commit(name, content)
  for (const tag of tags) await copy.git('tag', tag)
  await push('refs/heads/*', 'refs/tags/*')
  return commit
}

t.test('a private repository looks like a missing one to callers without access', async (t) => {
  const scene = await startScene(t)
  await commitAndPush(scene, ['go.mod', 'module code.example.com/ada/r\n'], ['v1.0.0'])
  await scene.as('ada', 'PATCH', '/repos/ada/r', { private: true })
  const rests = ['@v/list', '@latest', '@v/v1.0.0.info', '@v/v1.0.0.mod', '@v/v1.0.0.zip']
  const withScopes = async (...scopes: readonly string[]) => {
    const authorization = withToken((await scene.addToken(scene.ada, ...scopes)).plain)
    return (path: string) => scene.ask({ path: `${REGISTRY}/${path}`, authorization })
  }
  const as = (name: Name) => (path: string) =>
    scene.ask({ path: `${REGISTRY}/${path}`, authorization: scene.authorizationOf(name) })
  const unscoped = await withScopes('read:package')
  const isPublic = await withScopes('public-only', 'read:package', 'read:repository')
  for (const [who, ask] of Object.entries({
    anyone: as('anyone'),
    bob: as('bob'),
    'a token for packages alone': unscoped,
    'a token for public data': isPublic,
  })) {
    for (const rest of rests) {
      const hidden = await ask(`code.example.com/ada/r/${rest}`)
      const missing = await ask(`code.example.com/ada/none/${rest}`)
      t.equal(hidden.status, 404, `${who}: ${rest}`)
      t.strictSame(visible(hidden), visible(missing), `${who}: ${rest}`)
    }
  }
  t.equal((await as('ada')('code.example.com/ada/r/@v/list')).text, 'v1.0.0\n')
  const permitted = await withScopes('read:package', 'read:repository')
  for (const rest of rests) {
    t.equal((await permitted(`code.example.com/ada/r/${rest}`)).status, 200, rest)
    t.equal((await scene.module(rest, 'ada')).status, 200, `ada: ${rest}`)
  }
  await scene.as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'read' })
  t.equal((await scene.module('@v/v1.0.0.zip', 'bob')).status, 200, 'a collaborator')
  await scene.as('ada', 'DELETE', '/repos/ada/r/collaborators/bob')
  t.equal((await scene.module('@v/v1.0.0.zip', 'bob')).status, 404, 'a former collaborator')
})

t.test('a limited token reads only modules of public repositories', async (t) => {
  const scene = await startScene(t)
  await commitAndPush(scene, ['go.mod', 'module code.example.com/ada/r\n'], ['v1.0.0'])
  const repository = await findRepository(scene.db, 'ada', 'r')
  const reach = { repositoryIds: [repository?.id ?? 0], packages: [] }
  const { plain } = await scene.addLimitedToken(scene.ada, { reach }, 'all')
  const path = `${REGISTRY}/code.example.com/ada/r/@v/v1.0.0.zip`
  const statusOf = async () => (await scene.ask({ path, authorization: withToken(plain) })).status
  t.equal(await statusOf(), 200)
  await scene.as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal(await statusOf(), 404)
})

t.test('a module path is case-sensitive and starts with the address of the server', async (t) => {
  const scene = await startScene(t)
  for (const path of [
    'code.example.com/ada/!r',
    'code.example.com/!ada/r',
    'other.example.com/ada/r',
    'code.example.com/bob/r',
    'code.example.com/ada',
    'code.example.com/ada/r/v1',
  ]) {
    t.equal((await scene.module('@v/list', 'anyone', path)).status, 404, path)
  }
  t.equal((await scene.module('@v/list', 'anyone', 'code.example.com/ada/r.git')).status, 200)
  await scene.as('ada', 'PATCH', '/repos/ada/r', { name: 'renamed' })
  t.equal((await scene.module('@latest')).status, 200, 'by an earlier name')
  const renamed = await scene.module('@latest', 'anyone', 'code.example.com/ada/renamed')
  t.equal(renamed.status, 200)
  t.match(JSON.parse(renamed.text), { Origin: { URL: 'http://code.example.com/ada/renamed.git' } })
})

t.test('commits of pull requests and hidden refs are not versions', async (t) => {
  const scene = await startScene(t)
  const { copy, push, versionOf } = scene
  const stranger = await copy.commit('strange.go', 'package strange\n')
  await copy.git('update-ref', 'refs/pull/8/head', stranger)
  await push('refs/pull/*')
  for (const name of [stranger, stranger.slice(0, 12), 'refs%2Fpull%2F8%2Fhead']) {
    t.match(await versionOf(name), /not found/, name)
  }
  const time = await copy.git('log', '-1', '--format=%cd', '--date=format:%Y%m%d%H%M%S', stranger)
  const pseudo = `v0.0.0-${time}-${stranger.slice(0, 12)}`
  t.equal((await scene.module(`@v/${pseudo}.zip`)).status, 404)
  await push('refs/heads/main')
  t.match(await versionOf(stranger), /^v0\.0\.0-\d{14}-/, 'after the merge')
})

t.test('a pseudo-version must be the one of its commit', async (t) => {
  const scene = await startScene(t)
  const { copy, versionOf } = scene
  await commitAndPush(scene, ['go.mod', 'module code.example.com/ada/r\n'], ['v1.2.3', 'v9'])
  await commitAndPush(scene, ['a.go', 'package r\n'])
  const version = await versionOf('main')
  t.match(version, /^v1\.2\.4-0\.\d{14}-[0-9a-f]{12}$/)
  t.equal((await scene.module(`@v/${version}.mod`)).text, 'module code.example.com/ada/r\n')
  t.equal(await versionOf('v9'), 'v1.2.3', 'a tag that is not a version')
  t.equal(await versionOf('v1.2.3'), 'v1.2.3')
  const [, time = '', id = ''] = /(\d{14})-(.+)$/.exec(version) ?? []
  for (const wrong of [
    `v1.2.4-0.20200102030405-${id}`,
    `v1.2.4-0.${time}-${id.slice(0, 11)}`,
    `v1.9.1-0.${time}-${id}`,
    `v1.0.0-${time}-${id}`,
    `v2.0.0-${time}-${id}`,
    `v1.2.4-0.${time}-abcdefabcdef`,
  ]) {
    t.match(await versionOf(wrong), /^not found: /, wrong)
  }
  t.equal(await versionOf(`v0.0.0-${time}-${id}`), `v0.0.0-${time}-${id}`, 'based on no tag')
  const tagged = await copy.git('rev-parse', 'v1.2.3')
  const taggedTime = await copy.git('log', '-1', '--format=%ct', tagged)
  const at = new Date(Number(taggedTime) * 1_000).toISOString().replace(/\D/g, '').slice(0, 14)
  const own = `v1.2.4-0.${at}-${tagged.slice(0, 12)}`
  t.match(await versionOf(own), /has the tag v1\.2\.3/, 'a version of its own tag')
})

t.test('versions from v2 on are incompatible without go.mod, and refused with one', async (t) => {
  const scene = await startScene(t)
  const { module, versionOf } = scene
  await commitAndPush(scene, ['a.go', 'package r\n'], ['v1.0.0', 'v2.0.0', 'v2.1.0', 'v3.0.0-rc'])
  const all = 'v1.0.0\nv2.0.0+incompatible\nv2.1.0+incompatible\nv3.0.0-rc+incompatible\n'
  t.equal((await module('@v/list')).text, all)
  t.equal(JSON.parse((await module('@latest')).text).Version, 'v2.1.0+incompatible')
  t.equal(await versionOf('v2.0.0'), 'v2.0.0+incompatible')
  t.equal((await module('@v/v2.0.0+incompatible.mod')).text, 'module code.example.com/ada/r\n')
  t.equal((await module('@v/v2.0.0.mod')).status, 404, 'only information has other names')
  t.match(await versionOf('v1.0.0+incompatible'), /v1\.0\.0 is compatible/)
  await commitAndPush(scene, ['go.mod', 'module code.example.com/ada/r\n'], ['v1.1.0', 'v4.0.0'])
  t.equal((await module('@v/list')).text, 'v1.0.0\nv1.1.0\n')
  t.match(await versionOf('v4.0.0'), /cannot have v4\.0\.0, which is of another major version/)
  const major = 'code.example.com/ada/r/v4'
  t.match((await module('@v/v4.0.0.info', 'anyone', major)).text, /does not declare the module/)
})

t.test('uploaded versions are preferred, and listed with those of the repository', async (t) => {
  const scene = await startScene(t)
  const goMod = 'module code.example.com/ada/r\n'
  await commitAndPush(scene, ['go.mod', goMod], ['v1.0.0', 'v1.1.0'])
  const uploaded = `${goMod}\n// uploaded\n`
  for (const version of ['v1.1.0', 'v1.2.0']) {
    const body = await moduleZip(`code.example.com/ada/r@${version}`, { 'go.mod': uploaded })
    const authorization = scene.authorizationOf('ada')
    const request = { method: 'PUT', path: `${REGISTRY}/upload`, body, authorization }
    t.equal((await scene.ask(request)).status, 201)
  }
  t.equal((await scene.module('@v/list')).text, 'v1.0.0\nv1.1.0\nv1.2.0\n')
  t.equal((await scene.module('@v/v1.0.0.mod')).text, goMod)
  t.equal((await scene.module('@v/v1.1.0.mod')).text, uploaded)
  t.equal(JSON.parse((await scene.module('@latest')).text).Version, 'v1.2.0')
  t.equal((await scene.module('@v/latest.mod')).text, uploaded)
  await commitAndPush(scene, ['a.go', 'package r\n'], ['v1.3.0'])
  t.equal(JSON.parse((await scene.module('@latest')).text).Version, 'v1.3.0')
  await scene.as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal((await scene.module('@v/list')).text, 'v1.1.0\nv1.2.0\n', 'without the repository')
})

t.test('a zip that is requested again is sent from the store', async (t) => {
  const scene = await startScene(t)
  await commitAndPush(scene, ['go.mod', 'module code.example.com/ada/r\n'], ['v1.0.0'])
  const head = await scene.ask({
    method: 'HEAD',
    path: `${REGISTRY}/code.example.com/ada/r/@v/v1.0.0.zip`,
  })
  t.match(head, { status: 200, headers: { 'content-type': 'application/zip' } })
  const zips = [await scene.module('@v/v1.0.0.zip'), await scene.module('@v/v1.0.0.zip')]
  // The file is stored after the second reply has ended. Only a stored one has a known length.
  for (let count = 0; count < 200 && !zips.at(-1)?.headers['content-length']; count += 1) {
    await sleep(20)
    zips.push(await scene.module('@v/v1.0.0.zip'))
  }
  t.equal(zips.at(-1)?.headers['content-length'], String(zips[0]?.bytes.length))
  for (const { bytes, headers } of zips) {
    t.strictSame(bytes, zips[0]?.bytes)
    t.equal(headers['cache-control'], 'private, no-cache')
  }
})

t.test('files that cannot be a module are refused with the reason', async (t) => {
  const scene = await startScene(t)
  await commitAndPush(scene, ['aux.go', 'package r\n'], ['v1.0.0'])
  const { status, text } = await scene.module('@v/v1.0.0.zip')
  t.equal(status, 404)
  t.match(text, /"aux\.go" is not allowed: one of its elements is a reserved name on Windows/)
})
