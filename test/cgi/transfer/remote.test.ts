/** Calls of remote servers: address, credentials and errors. */

import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  callRemote,
  canPinAddresses,
  type Remote,
  RemoteError,
} from '../../../cgi/transfer/remote.js'
import { aSource, countConnections, serveWith } from '../../helpers/sources.js'

const ours = await findGit()

interface Changes {
  readonly authorization?: string
  readonly addresses?: readonly string[]
  readonly idleMs?: number
  readonly memoryBytesMax?: number
}

async function list(
  url: string,
  { idleMs = 20_000, memoryBytesMax, ...changes }: Changes = {},
): Promise<string> {
  const remote: Remote = { url: new URL(url), addresses: ['127.0.0.1'], ...changes }
  const args = ['ls-remote', '--end-of-options', remote.url.href]
  const { signal } = new AbortController()
  const bounds = { signal, timeoutMs: 60_000, packBytesMax: 1e9, idleMs }
  const git = { ...ours, memoryBytesMax: memoryBytesMax ?? ours.memoryBytesMax }
  return (await callRemote(git, remote, { ...bounds, args })).toString()
}

async function faultOf(t: Test, url: string, changes: Changes = {}): Promise<string> {
  const error = await list(url, changes).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof RemoteError, String(error))
  return `${(error as RemoteError).fault}: ${(error as RemoteError).message}`
}

t.test('git connects to the checked address without resolving the name', async (t) => {
  const source = await aSource(t)
  const url = new URL(source.url)
  url.hostname = 'code.example.invalid'
  t.match(await list(url.href), /refs\/heads\/main/)
  // If one of several addresses does not answer, the next is tried.
  t.match(await list(url.href, { addresses: ['127.0.0.1', '::1'] }), /refs\/heads\/main/)
})

t.test('credentials are sent with each request and are not in the arguments', async (t) => {
  const seen: (string | undefined)[] = []
  const server = await serveWith(t, (request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(403).end()
  })
  const authorization = `Basic ${Buffer.from('ada:pass word').toString('base64')}`
  t.match(await faultOf(t, server.url, { authorization }), /^authentication: /)
  t.strictSame(seen, [authorization])
})

t.test(
  'wrong credentials, missing credentials and too many requests have different errors',
  async (t) => {
    const answering = async (status: number, headers: Record<string, string> = {}) => {
      const { url } = await serveWith(t, (_, response) => response.writeHead(status, headers).end())
      return faultOf(t, url, { authorization: 'Basic eA==' })
    }
    const challenge = { 'www-authenticate': 'Basic realm="x"' }
    t.match(await answering(401, challenge), /^authentication: /)
    t.match(await answering(403), /^authentication: /)
    t.match(await answering(404), /^failed: .*not found/)
    t.match(await answering(429), /^rate-limit: /)
    t.match(await answering(500), /^failed: /)
  },
)

t.test('a redirect is not followed, whatever its target is', async (t) => {
  const trap = await countConnections(t)
  const inner = `http://127.0.0.1:${trap.port}/`
  for (const location of [inner, `${inner}source.git/info/refs`, 'file:///etc/passwd', '/x']) {
    const { url } = await serveWith(t, (_, response) => response.writeHead(302, { location }).end())
    t.match(await faultOf(t, url), /^failed: the other server redirects/, location)
  }
  t.equal(trap.count(), 0)
})

t.test('protocols other than http and https are refused by git', async (t) => {
  for (const url of ['git://127.0.0.1/x', 'ssh://127.0.0.1/x', 'file:///etc', 'ext::sh -c id']) {
    t.match(await faultOf(t, url), /^failed: .*not allowed/, url)
  }
})

t.test('a source that never answers times out', async (t) => {
  const { url } = await serveWith(t, () => {})
  t.match(await faultOf(t, url, { idleMs: 1_000 }), /^failed: .*(?:too slow|Operation)/)
})

t.test('an endless list of references does not use all memory', async (t) => {
  const name = `${'a'.repeat(40)} refs/heads/${'x'.repeat(900)}\n`
  const lines = Buffer.from(`${(name.length + 4).toString(16).padStart(4, '0')}${name}`.repeat(999))
  const { url } = await serveWith(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
    response.write('001e# service=git-upload-pack\n0000')
    const pour = () => {
      while (!response.destroyed) if (!response.write(lines)) return response.once('drain', pour)
      return undefined
    }
    pour()
  })
  t.match(await faultOf(t, url, { memoryBytesMax: 25_000_000 }), 'failed: Out of memory')
})

t.test('addresses can be pinned from git 2.37 on', async (t) => {
  const version = (...numbers: [number, number, number]) => ({ ...ours, version: numbers })
  t.ok(canPinAddresses(version(2, 37, 0)))
  t.ok(canPinAddresses(version(3, 0, 0)))
  t.notOk(canPinAddresses(version(2, 36, 9)))
})
