/** Requests to a storage server have time limits. */

import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { fetchWithTimeout, readWithTimeout } from '../../../registry/storage/in-time.js'
import { startProxy } from '../../helpers/proxy.js'

/** Starts a server with one answer, which records when its first connection is closed. */
async function aServer(t: Test, answer: (response: ServerResponse) => unknown) {
  const proxy = await startProxy(t, 0)
  const closed = new Promise<unknown>((resolve) => {
    proxy.misbehave = (_request, response) => {
      answer(response)
      response.once('close', resolve)
      return true
    }
  })
  return { url: `http://127.0.0.1:${proxy.port}/`, closed }
}

const PATIENT_MS = 60_000

t.test('an answer that does not arrive times out', async (t) => {
  const { url } = await aServer(t, () => {})
  await t.rejects(fetchWithTimeout(url, {}, 20), {
    message: 'timeout while waiting for the response',
  })
})

t.test('a redirect is not followed', async (t) => {
  const { url } = await aServer(t, (response) => response.writeHead(307, { Location: '/' }).end())
  t.equal((await fetchWithTimeout(url, {}, PATIENT_MS)).status, 307)
})

t.test('a body is read to its end', async (t) => {
  const { url } = await aServer(t, (response) => response.end('text'))
  const { next, leave } = readWithTimeout(await fetchWithTimeout(url, {}, PATIENT_MS), PATIENT_MS)
  t.equal(Buffer.from((await next()).value).toString(), 'text')
  t.match(await next(), { done: true })
  await leave()
})

t.test('a body that stalls times out, and its connection is closed', async (t) => {
  const { url, closed } = await aServer(t, (response) => response.write('te'))
  const { next } = readWithTimeout(await fetchWithTimeout(url, {}, PATIENT_MS), 20)
  const readOn = async () => {
    while (!(await next()).done);
  }
  await t.rejects(readOn(), { message: 'timeout while reading the response' })
  await closed
})

t.test('a truncated body is an error', async (t) => {
  const { url } = await aServer(t, (response) => {
    response.writeHead(200, { 'Content-Length': 4 })
    response.write('te', () => response.destroy())
  })
  const readOn = async () => {
    const { next } = readWithTimeout(await fetchWithTimeout(url, {}, PATIENT_MS), PATIENT_MS)
    while (!(await next()).done);
  }
  await t.rejects(readOn())
})

t.test('a reader that stops closes the connection', async (t) => {
  const { url, closed } = await aServer(t, (response) => response.write('te'))
  const { leave } = readWithTimeout(await fetchWithTimeout(url, {}, PATIENT_MS), PATIENT_MS)
  await leave()
  await closed
})
