/** Bodies are left to the proxy only if the client then gets the same reply. */

import t from 'tap'
import { leaveToProxy } from '../../../gateway/http/sendfile.js'

const BYTES_MIN = 524_288
const OPTIONS = { target: { prefix: '/-/internal/' }, folder: '/srv/data' }
const HEADERS = [
  ['Content-Type', 'application/octet-stream'],
  ['ETag', '"x"'],
] as const

const reply = {
  status: 200,
  headers: HEADERS,
  body: Buffer.alloc(BYTES_MIN),
  isRoutine: true,
  bodyFile: (): string | undefined => '/srv/data/cache/packs/ab/a b%',
}

t.test('the reply names the file and keeps its headers', async (t) => {
  t.strictSame(leaveToProxy(reply, OPTIONS), {
    status: 200,
    headers: [...HEADERS, ['X-Accel-Redirect', '/-/internal/cache/packs/ab/a%20b%25']],
    isRoutine: true,
  })
})

t.test('a stream is closed without being read', async (t) => {
  const calls: string[] = []
  const chunks = {
    async next() {
      calls.push('next')
      return { done: true as const, value: undefined }
    },
    async return() {
      calls.push('return')
      return { done: true as const, value: undefined }
    },
  }
  const body = { [Symbol.asyncIterator]: () => chunks }
  t.match(leaveToProxy({ ...reply, body, bodyBytes: BYTES_MIN }, OPTIONS), { body: undefined })
  t.strictSame(calls, ['return'])
})

t.test('the gateway sends what a proxy would send differently', async (t) => {
  const { bodyFile: _, ...withoutFile } = reply
  const others = {
    'a body without a file': withoutFile,
    'a file that is not there': { ...reply, bodyFile: () => undefined },
    'a part of a file': { ...reply, status: 206 },
    'a small body': { ...reply, body: Buffer.alloc(BYTES_MIN - 1) },
    'a stream of unknown length': { ...reply, body: (async function* () {})() },
    'a header that nginx drops': { ...reply, headers: [['X-Other', 'x']] as const },
    'a file outside of the folder': { ...reply, bodyFile: () => '/srv/data-2/file' },
    'a file above the folder': { ...reply, bodyFile: () => '/srv/file' },
  }
  for (const [name, other] of Object.entries(others)) {
    t.equal(leaveToProxy(other, OPTIONS), undefined, name)
  }
})
