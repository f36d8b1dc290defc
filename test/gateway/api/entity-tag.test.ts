/** JSON replies have entity tags, which clients can use in conditions of reads and writes. */

import t from 'tap'
import { startGatewayWithRepository } from '../../helpers/gateway-with-repository.js'

const { ask, as, push, copy, authorizationOf } = await startGatewayWithRepository(t)

t.test('a read is answered 304 until its reply changes', async (t) => {
  const path = '/api/v1/repos/ada/r/branches'
  const first = await ask({ path })
  const tag = String(first.headers.etag)
  t.match(tag, /^W\/"[\w-]{27}"$/)
  const withTag = (value: string) => ask({ path, headers: { 'If-None-Match': value } })
  for (const value of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const { status, text, headers } = await withTag(value)
    t.strictSame([status, text, headers.etag], [304, '', tag], value)
    t.match(headers['cache-control'], /must-revalidate/)
  }
  t.equal((await withTag('"other"')).status, 200)
  await copy.commit('new')
  await push('main')
  const { status, headers } = await withTag(tag)
  t.equal(status, 200)
  t.not(headers.etag, tag)
})

t.test('a client without permission gets its error, whatever tag it sends', async (t) => {
  await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
  const path = '/api/v1/repos/ada/secret'
  const { headers } = await as('ada', 'GET', '/repos/ada/secret')
  const tag = String(headers.etag)
  for (const value of [tag, '*']) {
    t.equal((await ask({ path, headers: { 'If-None-Match': value } })).status, 404)
  }
  const missing = await ask({ path: '/api/v1/repos/ada/r/branches/absent' })
  t.strictSame([missing.status, missing.headers.etag], [404, undefined])
})

t.test('a write with If-Match needs the present raw file', async (t) => {
  const path = '/api/v1/repos/ada/r/contents/README.md'
  const write = (text: string, tag: string, sha?: string) =>
    ask({
      method: 'PUT',
      path,
      authorization: authorizationOf('ada'),
      headers: { 'If-Match': tag },
      body: { content: Buffer.from(text).toString('base64'), ...(sha && { sha }) },
    })
  const raw = () => as('anyone', 'GET', '/repos/ada/r/raw/README.md')
  const { headers } = await raw()
  const tag = String(headers.etag)
  t.equal((await write('one', tag)).status, 200)
  const refused = await write('two', tag)
  t.equal(refused.status, 412, refused.text)
  t.match(refused.json, { message: /which If-Match requires/ })
  for (const weak of [`W/${tag}`, '*', `${tag}, ${tag}`, 'README.md']) {
    t.equal((await write('two', weak)).status, 412, weak)
  }
  t.equal((await raw()).text, 'one')
  const present = String((await raw()).headers.etag).replaceAll('"', '')
  t.equal((await write('three', tag, present)).status, 200, "Gitea's sha comes first")
  const absent = await ask({
    method: 'PUT',
    path: `${path}.absent`,
    authorization: authorizationOf('ada'),
    headers: { 'If-Match': tag },
    body: { content: '' },
  })
  t.equal(absent.status, 412, 'a missing file')
})
