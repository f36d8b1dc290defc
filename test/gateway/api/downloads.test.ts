/** Downloads of release attachments: complete and in parts, counted, authorized. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { onOneDatabase } from '../../helpers/databases.js'
import { BASE_URL } from '../../helpers/gateway.js'
import {
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'

const NOT_FOUND = refusal('not found')

/** Starts a gateway with functions that publish a release with one file and fetch it. */
async function startFixture(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location === undefined ? {} : { location })
  const { as, ask, authorizationOf } = gateway
  const publish = async (
    repo: string,
    { tag = 'v1', name = 'f.bin', text = 'the bytes', draft = false } = {},
  ) => {
    const made = await as('ada', 'POST', `/repos/ada/${repo}/releases`, { tag_name: tag, draft })
    const { id } = made.json as { id: number }
    const path = `/repos/ada/${repo}/releases/${id}/assets`
    const added = await ask({
      method: 'POST',
      path: `/api/v1${path}?name=${encodeURIComponent(name)}`,
      authorization: authorizationOf('ada'),
      body: Buffer.from(text),
    })
    const { id: assetId, uuid } = added.json as { id: number; uuid: string }
    return { release: id, asset: `${path}/${assetId}`, byUuid: `/attachments/${uuid}` }
  }
  const fetchAs = (name: Name, path: string, headers = {}, method = 'GET') =>
    ask({ method, path, headers, authorization: authorizationOf(name) })
  await as('ada', 'POST', '/user/repos', { name: 'open', auto_init: true })
  await as('ada', 'POST', '/user/repos', { name: 'secret', auto_init: true, private: true })
  return { ...gateway, publish, fetchAs }
}

await onOneDatabase(
  t,
  'a file is sent completely, in part, or not at all if the client has it',
  async (t, location) => {
    const { as, publish, fetchAs } = await startFixture(t, location)
    const { asset, byUuid } = await publish('open')
    for (const path of [byUuid, '/ada/open/releases/download/v1/f.bin']) {
      const whole = await fetchAs('anyone', path)
      t.equal(whole.status, 200, path)
      t.equal(whole.text, 'the bytes')
      t.match(whole.headers, {
        'content-type': 'application/octet-stream',
        'accept-ranges': 'bytes',
        'content-length': '9',
        'x-content-type-options': 'nosniff',
        'content-disposition': /^attachment; filename="f\.bin"/,
        'content-security-policy': /sandbox/,
      })
      const part = await fetchAs('anyone', path, { range: 'bytes=4-8' })
      t.equal(part.status, 206)
      t.equal(part.text, 'bytes')
      t.equal(part.headers['content-range'], 'bytes 4-8/9')
      t.equal((await fetchAs('anyone', path, { range: 'bytes=9-' })).status, 416)
      const etag = String(whole.headers['etag'])
      const known = await fetchAs('anyone', path, { 'if-none-match': etag })
      t.equal(known.status, 304)
      t.equal((await fetchAs('anyone', path, { 'if-match': '"x"' })).status, 412)
      const head = await fetchAs('anyone', path, {}, 'HEAD')
      t.match(head, { status: 200, text: '', headers: { 'content-length': '9', etag } })
    }
    let count: unknown
    for (let turn = 0; turn < 100 && count !== 2; turn += 1) {
      await sleep(50)
      count = ((await as('ada', 'GET', asset)).json as { download_count: number }).download_count
    }
    t.equal(count, 2, 'two requests began at the first byte')
  },
)

await onOneDatabase(
  t,
  'tags and file names with special characters are found',
  async (t, location) => {
    const { as, publish, fetchAs } = await startFixture(t, location)
    const name = `ü "x"%2F;.bin`
    await publish('open', { tag: 'lib/v1', name, text: 'first' })
    const file = encodeURIComponent(name)
    for (const tag of ['lib/v1', 'lib%2Fv1']) {
      const { status, text, headers } = await fetchAs(
        'anyone',
        `/ada/open/releases/download/${tag}/${file}`,
      )
      t.equal(status, 200, tag)
      t.equal(text, 'first')
      const encoded = "filename*=UTF-8''%C3%BC%20%22x%22%252F%3B.bin"
      t.equal(headers['content-disposition'], `attachment; filename="_ _x__2F;.bin"; ${encoded}`)
    }
    for (const path of [
      'v1/f',
      'lib/v1/absent',
      'lib/v1/',
      'lib/v1',
      'lib%2Fv1',
      'x',
      'lib/%2e%2e/v1/f',
      '-d/f',
      '--help/f',
      '..%2f..%2fetc/passwd',
      'LIB/v1/f',
    ]) {
      const { status, json } = await fetchAs('anyone', `/ada/open/releases/download/${path}`)
      t.equal(status, 404, path)
      t.strictSame(json, NOT_FOUND)
    }
    await as('ada', 'PATCH', '/repos/ada/open', { name: 'moved' })
    const moved = await fetchAs('anyone', `/ada/open/releases/download/lib/v1/${file}?x`)
    t.equal(moved.status, 307)
    t.equal(moved.headers['location'], `${BASE_URL}/ada/moved/releases/download/lib/v1/${file}`)
  },
)

await onOneDatabase(
  t,
  'attachments of private repositories and drafts are reported as missing',
  async (t, location) => {
    const { as, db, bob, publish, fetchAs, ask, addToken, ada } = await startFixture(t, location)
    const hidden = await publish('secret')
    const draft = await publish('open', { tag: 'v2', draft: true })
    const absent = await fetchAs('anyone', '/attachments/00000000-0000-4000-8000-000000000000')
    t.equal(absent.status, 404)
    t.strictSame(absent.json, NOT_FOUND)
    for (const path of [
      hidden.byUuid,
      '/ada/secret/releases/download/v1/f.bin',
      draft.byUuid,
      '/ada/open/releases/download/v2/f.bin',
    ]) {
      for (const name of ['anyone', 'bob'] as const) {
        for (const headers of [{}, { range: 'bytes=0-1' }]) {
          t.strictSame(
            visible(await fetchAs(name, path, headers)),
            visible(absent),
            `${name} ${path}`,
          )
        }
        t.equal((await fetchAs(name, path, {}, 'HEAD')).status, 404)
      }
      t.equal((await fetchAs('ada', path)).text, 'the bytes', path)
      t.equal((await fetchAs('root', path)).status, 200)
    }
    const scoped = async (path: string, ...scopes: readonly string[]) => {
      const { plain } = await addToken(ada, ...scopes)
      return (await ask({ path, authorization: withToken(plain) })).status
    }
    for (const path of [hidden.byUuid, '/ada/secret/releases/download/v1/f.bin']) {
      t.equal(await scoped(path, 'read:repository'), 200)
      t.equal(await scoped(path, 'read:issue'), 401)
      t.equal(await scoped(path, 'public-only', 'read:repository'), 403)
    }
    const open = (await db('repositories').where({ name: 'open' }).first('id')).id
    await db('collaborators').insert({ repository_id: open, user_id: bob.id, mode: 'read' })
    t.equal(
      (await fetchAs('bob', draft.byUuid)).status,
      404,
      'read permission is not enough for a draft',
    )
    await db('collaborators').where({ user_id: bob.id }).update({ mode: 'write' })
    t.equal((await fetchAs('bob', draft.byUuid)).status, 200)
    await as('ada', 'PATCH', '/repos/ada/open', { has_releases: false })
    for (const path of [draft.byUuid, '/ada/open/releases/download/v2/f.bin']) {
      t.equal((await fetchAs('ada', path)).status, 404, 'also if releases are disabled')
    }
  },
)

await onOneDatabase(t, 'a deleted attachment is missing immediately', async (t, location) => {
  const { as, publish, fetchAs } = await startFixture(t, location)
  const { asset, byUuid } = await publish('open')
  const other = await publish('open', { tag: 'v2' })
  await as('ada', 'DELETE', asset)
  t.equal((await fetchAs('ada', byUuid)).status, 404)
  t.equal(
    (await fetchAs('ada', other.byUuid)).status,
    200,
    'an attachment with the same bytes is kept',
  )
  await as('ada', 'DELETE', '/repos/ada/open')
  t.equal((await fetchAs('ada', other.byUuid)).status, 404)
})
