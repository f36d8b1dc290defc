/** Attachments of issues and comments: uploaded, served, changed, deleted. */

import t from 'tap'
import { listUnusedBlobs } from '../../../../sql/packages/blobs.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import type { Fields } from '../../../helpers/pulls.js'

const FORM =
  '--b\r\nContent-Disposition: form-data; name="attachment"; filename="form.txt"\r\n\r\n' +
  'by a form\r\n--b--\r\n'

await onOneDatabase(t, 'a file is attached to an issue and to a comment', async (t, location) => {
  const { as, ask, authorizationOf, db, addUser } = await startGatewayWithUsers(t, {
    location,
    environment: { GATEHOUSE_ATTACHMENTS_SIZE_MAX: '1KiB' },
  })
  await addUser('eve')
  await as('ada', 'POST', '/user/repos', { name: 'r', private: true })
  await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'read' })
  const issues = '/repos/ada/r/issues'
  for (const title of ['one', 'two']) await as('ada', 'POST', issues, { title })
  const said = await as('bob', 'POST', `${issues}/1/comments`, { body: 'See the file.' })
  const comment = `${issues}/comments/${(said.json as Fields)['id']}`
  const send = (by: Name, path: string, body: string, headers: Record<string, string> = {}) =>
    ask({
      method: 'POST',
      authorization: authorizationOf(by),
      path: `/api/v1${path}`,
      body: Buffer.from(body),
      headers,
    })
  const fetchAs = (name: Name, path: string) =>
    ask({ method: 'GET', path, authorization: authorizationOf(name) })
  for (const [by, place] of [['ada', `${issues}/1`] as const, ['bob', comment] as const]) {
    const raw = await send(by, `${place}/assets?name=raw.bin`, `of ${by}`)
    t.match(raw, { status: 201, json: { name: 'raw.bin', size: 6, download_count: 0 } })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const form = await send(by, `${place}/assets`, FORM, headers)
    t.match(form, { status: 201, json: { name: 'form.txt', size: 9 } })
    const { id, uuid, browser_download_url } = raw.json as Record<string, string>
    t.equal(browser_download_url, `${BASE_URL}/attachments/${uuid}`)
    const file = `/attachments/${uuid}`
    t.match(await fetchAs('bob', file), { status: 200, text: `of ${by}` })
    t.equal((await fetchAs('anyone', file)).status, 404, 'not readable without an account')
    const path = `${place}/assets/${id}`
    t.match((await as('bob', 'GET', path)).json, { id, name: 'raw.bin', uuid })
    t.match((await as(by, 'GET', place)).json, { assets: [{ id }, { name: 'form.txt' }] })
    t.match((await as(by, 'GET', `${place}/assets`)).json, [{ id }, { name: 'form.txt' }])
    t.match(await as(by, 'PATCH', path, { name: 'named.bin' }), { status: 201 })
    t.match((await as(by, 'GET', path)).json, { name: 'named.bin', uuid })
    t.equal((await as('anyone', 'GET', path)).status, 404)
    const elsewhere = path.replace(place, `${issues}/2`)
    t.equal((await as('ada', 'GET', elsewhere)).status, 404, 'of another issue')
    t.equal((await as('ada', 'DELETE', elsewhere)).status, 404)
    t.equal((await send(by, `${place}/assets`, 'x')).status, 400, 'without a name')
    t.equal((await send(by, `${place}/assets?name=..%2Fx`, 'x')).status, 422)
    t.equal((await send(by, `${place}/assets?name=big`, 'x'.repeat(1_025))).status, 413)
    t.equal((await as(by, 'DELETE', path)).status, 204)
    t.equal((await as(by, 'DELETE', path)).status, 404)
    t.equal((await fetchAs(by, file)).status, 404)
  }
  t.match(await send('bob', `${issues}/1/assets?name=x`, 'x'), { status: 403 }, 'not the author')
  t.equal((await send('anyone', `${issues}/1/assets?name=x`, 'x')).status, 401)
  await as('bob', 'DELETE', comment)
  t.equal((await db('issue_attachments').select('id')).length, 1)
  await as('ada', 'DELETE', `${issues}/1`)
  t.strictSame(await db('issue_attachments').select('id'), [])
  const unused = await listUnusedBlobs(db, { afterId: 0, limit: 9 })
  t.equal(unused.length, 3, 'the bytes are left to the sweep')
})

await onOneDatabase(t, 'the sweep keeps the bytes of an attachment', async (t, location) => {
  const { as, ask, authorizationOf, db } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'POST', '/repos/ada/r/issues', { title: 'one' })
  const path = '/api/v1/repos/ada/r/issues/1/assets?name=f'
  const body = Buffer.from('kept')
  const added = await ask({ method: 'POST', path, body, authorization: authorizationOf('ada') })
  t.equal(added.status, 201)
  t.strictSame(await listUnusedBlobs(db, { afterId: 0, limit: 9 }), [])
  await as('ada', 'PATCH', '/repos/ada/r', { has_issues: false })
  const { uuid } = added.json as { uuid: string }
  const file = await ask({ method: 'GET', path: `/attachments/${uuid}` })
  t.equal(file.status, 404, 'not served while issues are disabled')
})
