/** Messages of Git LFS, uploads that are cut or false, and limits, in files and in S3. */

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { type Name, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { connectTo } from '../../helpers/raw-http.js'
import { until } from '../../helpers/server-processes.js'
import { sharedS3Server } from '../../helpers/shared-s3-server.js'

const oidOf = (text: string) => createHash('sha256').update(text).digest('hex')

async function lfsGateway(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const gateway = await startGatewayWithUsers(t, { environment })
  for (const name of ['one', 'two']) await gateway.as('ada', 'POST', '/user/repos', { name })
  await gateway.as('bob', 'POST', '/user/repos', { name: 'own' })
  const lfs = (name: Name, method: string, below: string, body?: unknown, repo = 'ada/one') =>
    gateway.ask({
      method,
      path: `/${repo}.git/info/lfs/${below}`,
      body,
      authorization: gateway.authorizationOf(name),
    })
  const batch = async (name: Name, body: unknown, repo = 'ada/one') => {
    const { status, text } = await lfs(name, 'POST', 'objects/batch', body, repo)
    return { status, json: JSON.parse(text) }
  }
  const put = (
    name: Name,
    text: string,
    { oid = oidOf(text), size = text.length, repo = 'ada/one' },
  ) => lfs(name, 'PUT', `objects/${oid}/${size}`, Buffer.from(text), repo)
  const get = (name: Name, text: string, repo = 'ada/one') =>
    lfs(name, 'GET', `objects/${oidOf(text)}`, undefined, repo)
  const { blobs, data } = gateway.settings
  const folder =
    blobs.location.kind === 'files'
      ? join(blobs.location.folder, 'incoming')
      : join(data.dir, 'uploads')
  const received = () => readdir(folder)
  return { ...gateway, lfs, batch, put, get, received }
}

const STORAGES: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  files: async () => ({}),
  S3: async () => ({ GATEHOUSE_BLOBS_URL: await (await sharedS3Server()).createBucket() }),
}

for (const [storage, environmentOf] of Object.entries(STORAGES)) {
  t.test(`an object in ${storage} is served after its bytes were verified`, async (t) => {
    const { put, get, lfs } = await lfsGateway(t, await environmentOf())
    const text = 'the bytes of an object'
    t.equal((await get('ada', text)).status, 404)
    t.match(await put('ada', text, {}), { status: 200, text: '' })
    const answer = await get('ada', text)
    t.match(answer, { status: 200, text })
    t.equal(answer.headers.etag, `"${oidOf(text)}"`)
    t.equal((await put('ada', text, {})).status, 200, 'again')
    const pointer = { oid: oidOf(text), size: text.length }
    t.equal((await lfs('ada', 'POST', 'verify', pointer)).status, 200)
    t.equal((await lfs('ada', 'POST', 'verify', { ...pointer, size: 1 })).status, 422)
    t.equal((await lfs('ada', 'POST', 'verify', { oid: oidOf('x'), size: 1 })).status, 404)
  })

  t.test(`false bytes leave nothing in ${storage}`, async (t) => {
    const { put, get, db, received } = await lfsGateway(t, await environmentOf())
    for (const [text, claim, message] of [
      ['other', { oid: oidOf('right') }, /SHA-256 of the object is /],
      ['right', { size: 4 }, /more than 4 bytes/],
      ['right', { size: 6 }, /has 5 bytes, not 6/],
      ['', { oid: oidOf('right'), size: 0 }, /SHA-256/],
    ] as const) {
      const refused = await put('ada', text, claim)
      t.equal(refused.status, 422)
      t.match(JSON.parse(refused.text).message, message)
    }
    t.equal((await get('ada', 'right')).status, 404)
    t.strictSame(await db('blobs').select('id'), [])
    t.strictSame(await until(received, (names) => names.length === 0, 10_000), [])
  })
}

t.test('a client that knows the digest of an object does not get it', async (t) => {
  const { put, get, batch, lfs } = await lfsGateway(t)
  const text = 'known by its digest'
  const [oid, size] = [oidOf(text), text.length]
  t.equal((await put('ada', text, {})).status, 200)
  t.equal((await get('bob', text, 'bob/own')).status, 404)
  const objects = [{ oid, size }]
  const { json } = await batch('bob', { operation: 'upload', objects }, 'bob/own')
  t.match(
    json.objects[0].actions.upload.href,
    new RegExp(`/bob/own.git/.*/objects/${oid}/${size}$`),
  )
  t.equal((await put('bob', '', { oid, size, repo: 'bob/own' })).status, 422)
  t.equal((await lfs('bob', 'POST', 'verify', { oid, size }, 'bob/own')).status, 404)
  t.equal((await get('bob', text, 'bob/own')).status, 404)
  t.equal((await get('ada', text, 'ada/two')).status, 404, 'nor from another repository')
  t.equal((await put('bob', text, { repo: 'bob/own' })).status, 200)
  t.equal((await get('bob', text, 'bob/own')).text, text)
})

t.test('an upload that is cut leaves neither an object nor a file', async (t) => {
  const { port, get, received, db, authorizationOf } = await lfsGateway(t)
  const text = 'x'.repeat(1_000_000)
  const client = await connectTo(port)
  client.write(
    `PUT /ada/one.git/info/lfs/objects/${oidOf(text)}/${text.length} HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: ${authorizationOf('ada')}\r\nContent-Length: ${text.length}\r\n\r\n` +
      text.slice(0, 900_000),
  )
  await until(received, (names) => names.length === 1, 10_000)
  client.destroy()
  t.strictSame(await until(received, (names) => names.length === 0, 10_000), [])
  t.equal((await get('ada', text)).status, 404)
  t.strictSame(await db('blobs').select('id'), [])
})

t.test('a batch has an action or an error for each object', async (t) => {
  const { put, batch } = await lfsGateway(t, { GATEHOUSE_LFS_SIZE_MAX: '10' })
  await put('ada', 'known', {})
  const objects = [
    { oid: oidOf('known'), size: 5 },
    { oid: oidOf('known'), size: 6 },
    { oid: oidOf('new'), size: 3 },
    { oid: oidOf('large'), size: 11 },
  ]
  const up = (await batch('ada', { operation: 'upload', objects, hash_algo: 'sha256' })).json
  t.match(up, { transfer: 'basic', hash_algo: 'sha256' })
  t.strictSame(up.objects[0], objects[0])
  t.match(up.objects[1].error, { code: 422, message: /has 5 bytes, not 6/ })
  t.match(up.objects[2].actions.upload, { header: { Authorization: /^Bearer lfs_/ } })
  t.match(up.objects[3].error, { code: 422, message: /at most 10 bytes/ })
  t.equal((await put('ada', 'x'.repeat(11), {})).status, 413)
  const down = (await batch('anyone', { operation: 'download', objects })).json
  t.match(down.objects[0], { actions: { download: { header: undefined } } })
  t.equal(down.objects[0].authenticated, undefined)
  t.equal(down.objects[2].error.code, 404)
})

t.test('malformed messages are refused with the fault', async (t) => {
  const { lfs, batch, put } = await lfsGateway(t)
  const objects = [{ oid: oidOf('x'), size: 1 }]
  for (const [body, status, message] of [
    ['{', 422, /not a JSON object/],
    ['[]', 422, /not a JSON object/],
    [{ objects }, 422, /neither "download" nor "upload"/],
    [{ operation: 'download' }, 422, /"objects" is not a list/],
    [{ operation: 'download', objects: [1] }, 422, /An oid is not/],
    [{ operation: 'download', objects: [{ oid: oidOf('x').toUpperCase(), size: 1 }] }, 422, /oid/],
    [{ operation: 'download', objects: [{ oid: '../x', size: 1 }] }, 422, /oid/],
    [{ operation: 'download', objects: [{ oid: oidOf('x'), size: -1 }] }, 422, /size/],
    [{ operation: 'download', objects, hash_algo: 'sha512' }, 409, /"sha256" only/],
    [{ operation: 'download', objects, transfers: ['tus'] }, 422, /"basic"/],
    [{ operation: 'download', objects: Array(1_001).fill(objects[0]) }, 413, /at most 1000/],
    [{ operation: 'download', objects: Array(9_000).fill([]) }, 413, /at most 1000/],
    ['x'.repeat(300_000), 413, /./],
  ] as const) {
    const refused = await batch('ada', body)
    t.equal(refused.status, status, JSON.stringify(body).slice(0, 80))
    t.match(refused.json.message, message)
  }
  t.equal((await lfs('ada', 'GET', 'objects/..%2Fx')).status, 422)
  t.equal((await put('ada', 'x', { oid: 'x' })).status, 422)
  t.equal((await lfs('ada', 'PUT', `objects/${oidOf('x')}/-1`, Buffer.from('x'))).status, 422)
  for (const path of ['', 1, 'x'.repeat(701), 'a\0b']) {
    t.equal((await lfs('ada', 'POST', 'locks', { path })).status, 422)
  }
  t.equal((await lfs('ada', 'GET', 'locks?limit=x')).status, 422)
  t.equal((await lfs('ada', 'POST', 'locks/x/unlock', {})).status, 404)
})

t.test('an archived repository takes no objects', async (t) => {
  const { as, batch, put } = await lfsGateway(t)
  await as('ada', 'PATCH', '/repos/ada/one', { archived: true })
  const { status, json } = await batch('ada', { operation: 'upload', objects: [] })
  t.equal(status, 403)
  t.match(json.message, /ada\/one is archived/)
  t.equal((await put('ada', 'x', {})).status, 403)
})

t.test('the quota of an owner limits batches and uploads of all its repositories', async (t) => {
  const { put, batch, received, as } = await lfsGateway(t, { GATEHOUSE_LFS_OWNER_SIZE_MAX: '8' })
  t.equal((await put('ada', '12345', {})).status, 200)
  const refused = await put('ada', '1234', { repo: 'ada/two' })
  t.match(refused, { status: 507, text: /have 5 bytes.*4 bytes would exceed the quota of 8 bytes/ })
  const upload = (...texts: readonly string[]) => {
    const objects = texts.map((text) => ({ oid: oidOf(text), size: text.length }))
    return batch('ada', { operation: 'upload', objects })
  }
  t.match(await upload('12', '34'), { status: 507, json: { message: /exceed the quota/ } })
  t.equal((await upload('12345', '678')).status, 200, 'known objects do not count')
  t.equal((await put('ada', '123', { repo: 'ada/two' })).status, 200)
  const allow = async (lfs_size_max: number) =>
    JSON.parse((await as('root', 'PUT', '/admin/packages/ada/quota', { lfs_size_max })).text)
  t.match(await allow(10), { lfs_size: 8, lfs_size_max: 10 })
  t.equal((await put('ada', 'abc', {})).status, 507)
  t.equal((await put('ada', 'ab', {})).status, 200)
  t.match(await allow(-1), { lfs_size: 10, lfs_size_max: -1 })
  t.equal((await put('ada', 'abcdefghi', {})).status, 200)
  t.equal((await put('bob', '123456789', { repo: 'bob/own' })).status, 507)
  t.strictSame(await received(), [])
})

t.test('a batch that reports an object as known protects it from removal', async (t) => {
  const { put, batch, db } = await lfsGateway(t)
  await put('ada', 'known', {})
  const ageOf = async () => Date.now() - (await db('lfs_objects').first('created_at')).created_at
  await db('lfs_objects').update({ created_at: Date.now() - 7_200_000 })
  const objects = [{ oid: oidOf('known'), size: 5 }]
  await batch('ada', { operation: 'download', objects })
  t.ok((await ageOf()) > 7_000_000, 'a download does not renew')
  await batch('ada', { operation: 'upload', objects })
  t.ok((await ageOf()) < 3_600_000)
})

t.test('a ticket that was changed, or has expired, is refused', async (t) => {
  const { ask, settings, put, authorizationOf } = await lfsGateway(t)
  await put('ada', 'x', {})
  const secret = await openInstanceSecret(settings.data.dir)
  const path = `/ada/one.git/info/lfs/objects/${oidOf('x')}`
  const headerOf = (ticket: object, words = 'tickets of Git LFS') => {
    const sealed = Buffer.from(secret.seal(JSON.stringify(ticket), words)).toString('base64url')
    return `Bearer lfs_${sealed}`
  }
  const get = async (ticket: object, words?: string) =>
    (await ask({ path, authorization: headerOf(ticket, words) })).status
  const ticket = { repositoryId: 1, operation: 'download', expiresAtMs: Date.now() + 60_000 }
  const enclosed = { header: authorizationOf('ada') }
  t.equal(await get({ ...ticket, enclosed }), 200)
  t.equal(await get({ ...ticket, enclosed }, 'other words'), 401)
  t.equal(await get({ ...ticket, enclosed, expiresAtMs: Date.now() - 1 }), 401)
  t.equal(await get({ ...ticket, enclosed, repositoryId: 2 }), 404)
  t.equal(await get({ ...ticket, enclosed: { header: `token ${'0'.repeat(40)}` } }), 401)
  t.equal(await get({ ...ticket, enclosed: { key: 'SHA256:none' } }), 401)
  for (const text of ['', 'x', '%', 'v1:']) {
    const { status } = await ask({ path, authorization: `Bearer lfs_${text}` })
    t.equal(status, 401)
  }
  const authorization = headerOf({ ...ticket, enclosed })
  t.equal((await ask({ path, authorization })).status, 200)
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + 61_000
  t.equal((await ask({ path, authorization })).status, 401, 'after its time')
})
