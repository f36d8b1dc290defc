/** Client of the runner protocol: messages, headers, and the codes of errors. */

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createServerClient } from '../../../gateway/own-runner/server-client.js'
import { FETCH_TASK, PING } from '../../../gateway/runner-protocol/procedures.js'
import { aTask, STUB_CREDENTIALS, stubRunnerServer } from '../../helpers/stub-runner-server.js'

/** Returns the address of a server that answers each request with the listener. */
async function serverOf(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a call sends the message and the credentials, and returns the answer', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.tasks.push(aTask('jobs: {}', { id: 12 }))
  const client = createServerClient(`${stub.address}/`, STUB_CREDENTIALS)
  t.match(await client.call(PING, { data: 'ada' }), { data: 'Hello, ada!' })
  t.match(await client.call(FETCH_TASK, { tasksVersion: 3n }), { task: { id: 12n } })
  const unknown = createServerClient(stub.address, { uuid: 'other', token: 'x' })
  await t.rejects(unknown.call(FETCH_TASK, {}), { code: 'unauthenticated', isFinal: true })
})

t.test('a call announces how long the server may hold it', async (t) => {
  const headers: unknown[] = []
  const address = await serverOf(t, (request, response) => {
    headers.push(request.headers)
    response.writeHead(200, { 'content-type': 'application/proto' }).end()
  })
  await createServerClient(address).call(FETCH_TASK, {}, { holdMs: 5_000 })
  t.match(headers, [
    {
      'content-type': 'application/proto',
      'connect-protocol-version': '1',
      'connect-timeout-ms': '5000',
    },
  ])
})

t.test('an error has the code of the server, and those of proxies are not final', async (t) => {
  const rows: ReadonlyArray<readonly [status: number, body: string, code: string]> = [
    [401, '{"code":"unauthenticated","message":"no runner"}', 'unauthenticated'],
    [429, '{"code":"resource_exhausted","message":"later"}', 'resource_exhausted'],
    [401, '<h1>Sign in</h1>', 'unavailable'],
    [404, '{"message":"not found"}', 'unavailable'],
    [502, '', 'unavailable'],
    [200, '', 'unavailable'],
    [500, '{"code":"constructor"}', 'unavailable'],
  ]
  let at = 0
  const address = await serverOf(t, (_request, response) => {
    const [status, body] = rows[at] ?? [500, '']
    response.writeHead(status, { 'content-type': 'text/html' }).end(body)
  })
  for (; at < rows.length; at += 1) {
    const [, , code = ''] = rows[at] ?? []
    await t.rejects(createServerClient(address).call(PING, {}), { code }, `row ${at}`)
  }
})

t.test('an unreachable server, a redirect and an aborted call are unavailable', async (t) => {
  const nowhere = createServerClient('http://127.0.0.1:1')
  await t.rejects(nowhere.call(PING, {}), { code: 'unavailable', isFinal: false })
  const target = await serverOf(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/proto' }).end()
  })
  t.match(await createServerClient(target).call(PING, {}), { data: '' })
  const address = await serverOf(t, (_request, response) => {
    response.writeHead(307, { location: target }).end()
  })
  await t.rejects(createServerClient(address).call(PING, {}), { code: 'unavailable' })
  const silent = createServerClient(await serverOf(t, () => {}))
  await t.rejects(silent.call(PING, {}, { signal: AbortSignal.timeout(50) }), {
    code: 'unavailable',
  })
})
