/** Responses of the API: JSON, with the same headers for all. */

import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { API_SURFACE, jsonReply } from '../../../gateway/api/surface.js'
import { aRequest } from '../../helpers/a-request.js'
import { BASE_URL, openContext } from '../../helpers/gateway.js'

t.test("a refusal has a message and the address of the API's description", async (t) => {
  const { context } = await openContext(t)
  const reply = API_SURFACE.refuse(context, new Failure('conflict', 'It is "there".'), aRequest())
  t.equal(reply.status, 409)
  const wanted = { message: 'It is "there".', url: `${BASE_URL}/api/swagger` }
  t.strictSame(JSON.parse(String(reply.body)), wanted)
})

t.test('a response is JSON with headers against caching and content sniffing', async (t) => {
  const reply = jsonReply(201, { a: 1 }, [['X-One', 'b']])
  t.strictSame(Object.fromEntries(reply.headers ?? []), {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'max-age=0, private, must-revalidate, no-transform',
    'X-Content-Type-Options': 'nosniff',
    'X-One': 'b',
  })
  t.equal(reply.body, '{"a":1}')
})
