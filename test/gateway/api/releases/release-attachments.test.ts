/** Attachments of releases over the API: uploaded, read, renamed, deleted. */

import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import type { GatewayOptions } from '../../../helpers/gateway.js'
import { type Name, refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import type { Answer } from '../../../helpers/requests.js'

const NOT_FOUND = refusal('not found')

interface Part {
  readonly name?: string
  readonly fileName?: string
  readonly text: string
}

/** Creates a form as browsers send it. */
function formOf(...parts: readonly Part[]): Buffer {
  const texts = parts.map(({ name = 'attachment', fileName, text }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName.replace(/["\\]/g, '\\$&')}"`
    return `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return Buffer.from(`${texts.join('')}--b--\r\n`)
}

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }

/** Creates ada's release `v1` of her repository `engine`, with functions that upload to it. */
async function startFixture(t: Test, options: GatewayOptions = {}) {
  const gateway = await startGatewayWithUsers(t, options)
  const { as, ask, authorizationOf } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'engine', auto_init: true })
  const releases = '/repos/ada/engine/releases'
  const made = await as('ada', 'POST', releases, { tag_name: 'v1' })
  const { id } = made.json as { id: number }
  const path = `${releases}/${id}/assets`
  const send = (
    body: string | Buffer,
    { name, form = false, by = 'ada' }: { name?: string; form?: boolean; by?: Name } = {},
  ): Promise<Answer> =>
    ask({
      method: 'POST',
      authorization: authorizationOf(by),
      body: Buffer.from(body),
      path: `/api/v1${path}${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}`,
      ...(form ? { headers: FORM } : {}),
    })
  const incoming = () => readdir(`${gateway.settings.data.dir}/blobs/incoming`)
  return { ...gateway, releases, path, send, incoming }
}

const idOf = ({ json }: Answer) => (json as { id: number }).id

async function withLocation(t: Test, location: DatabaseLocation) {
  return await startFixture(t, { location })
}

await onOneDatabase(
  t,
  'an attachment is uploaded as a form or as the raw body',
  async (t, location) => {
    const { as, ask, path, releases, send } = await withLocation(t, location)
    const raw = await send('raw bytes', { name: 'tool.bin' })
    t.equal(raw.status, 201, raw.text)
    const { uuid, browser_download_url } = raw.json as Record<string, string>
    t.equal(browser_download_url, `http://code.example.com/attachments/${uuid}`)
    const plain = { ...(raw.json as object), uuid: 'UUID', browser_download_url: 'URL' }
    isExpected(t, plain, 'api/attachment-created')
    const form = await send(formOf({ fileName: 'read me.txt', text: 'a\r\nform' }), { form: true })
    t.match(form.json, { name: 'read me.txt', size: 7 }, form.text)
    const parts = [
      { name: 'other', text: 'x' },
      { fileName: 'a', text: 'named' },
    ]
    const named = await send(formOf(...parts), { form: true, name: 'b' })
    t.match(named.json, { name: 'b', size: 5 }, 'the name in the query takes precedence')
    t.match((await send('', { name: 'empty' })).json, { name: 'empty', size: 0 })
    const list = await as('anyone', 'GET', path)
    const names = ['tool.bin', 'read me.txt', 'b', 'empty']
    t.strictSame(
      (list.json as { name: string }[]).map(({ name }) => name),
      names,
    )
    const read = await as('anyone', 'GET', `${path}/${idOf(raw)}`)
    t.strictSame(read.json, raw.json)
    const release = await as('anyone', 'GET', `${releases}/tags/v1`)
    t.strictSame((release.json as { assets: object }).assets, list.json)
    const got = await ask({ path: `/attachments/${uuid}` })
    t.equal(got.text, 'raw bytes')
  },
)

await onOneDatabase(t, 'an attachment is renamed and deleted', async (t, location) => {
  const { as, path, send } = await withLocation(t, location)
  const one = idOf(await send('one', { name: 'a' }))
  const renamed = await as('ada', 'PATCH', `${path}/${one}`, { name: 'b' })
  t.equal(renamed.status, 201)
  t.match(renamed.json, { id: one, name: 'b', size: 3 })
  t.match((await as('ada', 'PATCH', `${path}/${one}`, {})).json, { name: 'b' })
  for (const name of ['a/b', '..', 'a\u202eb', 'a\nb', 'x'.repeat(256)]) {
    t.equal((await as('ada', 'PATCH', `${path}/${one}`, { name })).status, 422)
  }
  t.equal((await as('bob', 'PATCH', `${path}/${one}`, { name: 'c' })).status, 403)
  t.equal((await as('bob', 'DELETE', `${path}/${one}`)).status, 403)
  t.equal((await as('ada', 'DELETE', `${path}/${one}`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${path}/${one}`)).status, 404)
  t.equal((await as('ada', 'GET', `${path}/${one}`)).status, 404)
})

await onOneDatabase(
  t,
  'an attachment is found only through its own release and repository',
  async (t, location) => {
    const { as, path, releases, send } = await withLocation(t, location)
    const one = idOf(await send('one', { name: 'a' }))
    const other = idOf(await as('ada', 'POST', releases, { tag_name: 'v2' }))
    await as('ada', 'POST', '/user/repos', { name: 'other', auto_init: true })
    const elsewhere = '/repos/ada/other/releases'
    const third = idOf(await as('ada', 'POST', elsewhere, { tag_name: 'v1' }))
    for (const wrong of [
      `${releases}/${other}/assets/${one}`,
      `${elsewhere}/${third}/assets/${one}`,
      path.replace('engine', 'other'),
      `${path}/0`,
      `${path}/x`,
      `${path}/${one}x`,
    ]) {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        if (wrong.endsWith('assets') && method !== 'GET') continue
        const { status, json } = await as('ada', method, wrong, method === 'PATCH' ? {} : undefined)
        t.equal(status, 404, `${method} ${wrong}`)
        t.strictSame(json, NOT_FOUND)
      }
    }
    t.equal((await as('ada', 'GET', `${path}/${one}`)).status, 200)
  },
)

t.test('an invalid file name is refused, and no file is left', async (t) => {
  const { as, path, send, incoming, lines } = await startFixture(t)
  for (const name of ['../../y', 'a/b', 'a\\b', '..', '.', ' ', 'a\r\nSet-Cookie: x', 'a\u0000']) {
    const { status, text } = await send('x', { name })
    t.equal(status, 422, `${JSON.stringify(name)}: ${text}`)
  }
  for (const name of ['a\u202egnp.exe', '\u2066x', 'a\u2028b', 'a\u0085b', 'x'.repeat(256)]) {
    t.equal((await send('x', { name })).status, 422, encodeURIComponent(name))
  }
  for (const [body, status] of [
    [formOf({ fileName: '../../y', text: 'x' }), 201],
    [formOf({ fileName: 'link\\\\x', text: 'x' }), 201],
    [formOf({ fileName: '..', text: 'x' }), 422],
    [formOf({ fileName: 'a\u202eb', text: 'x' }), 422],
    [formOf({ text: 'no name' }), 400],
    [formOf({ name: 'file', fileName: 'a', text: 'x' }), 400],
    [formOf(), 400],
    [
      Buffer.from(
        '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a"\r\n\r\nx',
      ),
      400,
    ],
    [Buffer.from('no form'), 400],
  ] as const) {
    const { status: got, text } = await send(body, { form: true })
    t.equal(got, status, `${encodeURIComponent(body.toString())}: ${text}`)
  }
  t.equal((await send('no name')).status, 400)
  const { json } = await as('ada', 'GET', path)
  const names = (json as { name: string }[]).map(({ name }) => name)
  t.strictSame(names, ['y', 'x'], 'of a path the last part')
  t.strictSame(await incoming(), [])
  t.strictSame(
    lines.filter(({ level }) => Number(level) >= 50),
    [],
  )
})

t.test('the size of an attachment is limited, and uploading needs write permission', async (t) => {
  const environment = { GATEHOUSE_ATTACHMENTS_SIZE_MAX: '1KiB' }
  const { as, path, send, incoming } = await startFixture(t, { environment })
  t.equal((await send(Buffer.alloc(1_024), { name: 'most' })).status, 201)
  const more = 'x'.repeat(1_025)
  for (const answer of [
    await send(more, { name: 'more' }),
    await send(formOf({ fileName: 'more', text: more }), { form: true }),
  ]) {
    t.equal(answer.status, 413)
    t.strictSame(answer.json, refusal('The file is larger than 1024 bytes.'))
  }
  t.equal((await send('x', { name: 'x', by: 'bob' })).status, 403)
  t.equal((await send('x', { name: 'x', by: 'anyone' })).status, 401)
  await as('ada', 'PATCH', '/repos/ada/engine', { archived: true })
  t.equal((await send('x', { name: 'x' })).status, 423)
  t.equal(((await as('ada', 'GET', path)).json as object[]).length, 1)
  t.strictSame(await incoming(), [])
})
