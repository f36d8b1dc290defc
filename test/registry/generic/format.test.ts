/** Generic packages: conformance of the format, and any file under a name and a version. */

import t from 'tap'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'

function put(path: string, text = 'text'): FormatRequest {
  return { method: 'PUT', path, body: Buffer.from(text) }
}

const SUBJECT: FormatSubject = {
  format: 'generic',
  publish: async (version, salt) => put(`/tool/${version}/tool.bin`, salt),
  version: (index) => `1.${index}`,
  file: (version) => `/tool/${version}/tool.bin`,
  remove: (version) => ({ method: 'DELETE', path: `/tool/${version}` }),
  hostile: async () => ({
    'a name with a slash': put('/to%2Fol/1.0/f'),
    'a name with a space': put('/to%20ol/1.0/f'),
    'a name of dots': put('/../1.0/f'),
    'a name of one sign': put('/-/1.0/f'),
    'a name beyond ASCII': put('/t%C3%B6ol/1.0/f'),
    'a name with NUL': put('/tool%00/1.0/f'),
    'a name that is too long': put(`/${'n'.repeat(256)}/1.0/f`),
    'a version that is blank': put('/tool/%20/f'),
    'a version with white space around it': put('/tool/1.0%20/f'),
    'a version with a line feed': put('/tool/1.0%0A2.0/f'),
    'a version of one dot': put('/tool/./f'),
    'a version of two encoded dots': put('/tool/%2e%2E/f'),
    'a version with a dot segment': put('/tool/1%2F..%2F2/f'),
    'a version with a dot segment that is encoded twice': put('/tool/%252e/f'),
    'a version that is too long': put(`/tool/${'1'.repeat(256)}/f`),
    'a file that leads out of the folder': put('/tool/1.0/..'),
    'a file with a backslash': put('/tool/1.0/a%5Cb'),
    'a file with a slash': put('/tool/1.0/a%2Fb'),
    'a file that is too long': put(`/tool/1.0/${'f'.repeat(256)}`),
    'an address that is not UTF-8': put('/tool/1.0/%FF'),
  }),
}

await testFormat(t, SUBJECT)

t.test('names are found in any case, and a version may have slashes and spaces', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const authorization = gateway.authorizationOf('ada')
  const base = '/api/packages/Ada/generic'
  const body = Buffer.from('data')
  const path = `${base}/Report-Tool/2025.06%2Frc%201/Data+1.bin`
  t.equal((await gateway.ask({ method: 'PUT', path, body, authorization })).status, 201)
  const other = `/api/packages/ada/generic/report-tool/2025.06%2FRC%201/data+1.BIN`
  const found = await gateway.ask({ path: other })
  t.match(found, { status: 200, text: 'data' })
  t.match(found.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="Data+1.bin"; filename*=UTF-8''Data%2B1.bin`,
    'x-checksum-sha256': '3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7',
  })
})

t.test('deleting the last file deletes its version', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const as = (method: string, path: string) =>
    gateway.ask({
      method,
      path: `/api/packages/ada/generic/tool/1.0${path}`,
      ...(method === 'PUT' ? { body: Buffer.from(path) } : {}),
      authorization: gateway.authorizationOf('ada'),
    })
  for (const path of ['/a', '/b']) t.equal((await as('PUT', path)).status, 201)
  t.equal((await as('DELETE', '/a')).status, 204)
  t.equal((await as('GET', '/b')).status, 200)
  t.equal((await as('DELETE', '/a')).status, 404)
  t.equal((await as('DELETE', '/b')).status, 204)
  t.equal((await as('DELETE', '')).status, 404, 'the version does not exist any more')
})

t.test('an empty file is accepted', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const path = '/api/packages/ada/generic/tool/1.0/empty'
  const authorization = gateway.authorizationOf('ada')
  t.equal(
    (await gateway.ask({ method: 'PUT', path, body: Buffer.alloc(0), authorization })).status,
    201,
  )
  t.match(await gateway.ask({ path }), {
    status: 200,
    text: '',
    headers: { 'content-length': '0' },
  })
})

t.test("a body sent with curl's default content type is stored as a file", async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const path = '/api/packages/ada/generic/tool/1.0/data'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const authorization = gateway.authorizationOf('ada')
  const body = Buffer.from('a=1&b=2')
  t.equal((await gateway.ask({ method: 'PUT', path, body, headers, authorization })).status, 201)
  t.equal((await gateway.ask({ path })).text, 'a=1&b=2')
})

t.test('an upload with If-None-Match: * over an existing file is refused with 412', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const path = '/api/packages/ada/generic/tool/1.0/data'
  const authorization = gateway.authorizationOf('ada')
  const headers = { 'if-none-match': '*' }
  const put = () =>
    gateway.ask({ method: 'PUT', path, body: Buffer.from('data'), headers, authorization })
  t.equal((await put()).status, 201)
  t.match(await put(), { status: 412, text: 'package file already exists' })
})

t.test('disabled registries are 404', async (t) => {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_PACKAGES_ENABLED: 'false' },
  })
  const path = '/api/packages/ada/generic/tool/1.0/data'
  t.equal((await gateway.ask({ path })).status, 404)
})

t.test('the size limit of an owner is enforced', async (t) => {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_PACKAGES_OWNER_SIZE_MAX: '10' },
  })
  const put = (name: string, text: string) =>
    gateway.ask({
      method: 'PUT',
      path: `/api/packages/ada/generic/tool/1.0/${name}`,
      body: Buffer.from(text),
      authorization: gateway.authorizationOf('ada'),
    })
  t.equal((await put('a', '123456')).status, 201)
  const refused = await put('b', '12345')
  t.match(refused, { status: 403, text: 'maximum allowed package storage quota exceeded' })
  t.equal((await put('b', '1234')).status, 201)
})
