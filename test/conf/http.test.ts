/** Status lines and percent-encoding follow RFC 9110 and RFC 3986. */

import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { decodePercent, statusLine } from '../../conf/http.js'

t.test('a status line has the standard reason phrase', async (t) => {
  t.equal(statusLine(200), '200 OK')
  t.equal(statusLine(404), '404 Not Found')
  t.equal(statusLine(503), '503 Service Unavailable')
})

t.test('every failure status has a reason phrase', async (t) => {
  const statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 423, 429, 500, 502, 503]
  for (const status of statuses) t.notMatch(statusLine(status), /Unknown/)
  t.equal(statusLine(299), '299 Unknown', 'an unknown status has a reason phrase too')
})

t.test('a path segment is decoded exactly once', async (t) => {
  t.equal(decodePercent('plain'), 'plain')
  t.equal(decodePercent('caf%C3%A9'), 'café')
  t.equal(decodePercent('a%2Fb'), 'a/b', 'an encoded slash stays in its segment')
  t.equal(decodePercent('%252e%252e'), '%2e%2e')
})

t.test('malformed percent-encoding is an invalid request with its cause', async (t) => {
  for (const text of ['%', '%f', '%zz', '%ff', '%c3%28', '%ed%a0%80']) {
    try {
      decodePercent(text)
      t.fail(`${text} was accepted`)
    } catch (error) {
      t.ok(error instanceof Failure && error.status === 400 && error.cause instanceof URIError)
    }
  }
})
