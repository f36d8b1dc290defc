/** Packages with blobs in S3: uploads, downloads and redirects, also while S3 is unavailable. */

import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { cloneLfs, lfsCopy, runLfs } from '../helpers/lfs-client.js'
import { startProxy } from '../helpers/proxy.js'
import { makeRepository } from '../helpers/repositories.js'
import { sharedS3Server } from '../helpers/shared-s3-server.js'

const server = await sharedS3Server()

/** Size of a file that is uploaded to S3 in several parts. */
const LARGE_BYTES = 34_000_000

/** Starts a server that reaches its bucket through a proxy, with a user who publishes. */
async function scene(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const bucket = await server.createBucket()
  const proxy = await startProxy(t, server.port)
  const GATEHOUSE_BLOBS_URL = bucket.replace(`:${server.port}/`, `:${proxy.port}/`)
  const gatehouse = await startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_BLOBS_URL, ...environment },
  })
  const ada = await gatehouse.addUser('ada')
  return { gatehouse, ada, proxy, objects: async () => (await server.list(bucket)).objects }
}

const addressOf = ({ url }: Gatehouse, version: string) =>
  `${url}/api/packages/ada/generic/tool/${version}/file`

function upload(gatehouse: Gatehouse, { token }: Person, version: string, body: Buffer) {
  const headers = { authorization: `token ${token}` }
  return fetch(addressOf(gatehouse, version), { method: 'PUT', headers, body })
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer())
}

/** Server of the tests whose downloads pass through it, each with other versions. */
const shared = await scene(t)

t.test('files of every size are downloaded whole and in ranges', async (t) => {
  const { gatehouse, ada, objects } = shared
  for (const bytes of [0, 1_000, LARGE_BYTES]) {
    const content = randomBytes(bytes)
    t.equal((await upload(gatehouse, ada, `1.${bytes}`, content)).status, 201)
    const url = addressOf(gatehouse, `1.${bytes}`)
    const whole = await fetch(url)
    t.equal(whole.headers.get('content-length'), String(bytes))
    t.equal(digestOf(await bytesOf(whole)), digestOf(content), `${bytes} bytes`)
    if (bytes === 0) continue
    const part = await fetch(url, { headers: { range: 'bytes=-100' } })
    t.equal(part.status, 206)
    t.ok((await bytesOf(part)).equals(content.subarray(-100)))
    t.equal((await fetch(url, { method: 'HEAD' })).headers.get('content-length'), String(bytes))
  }
  t.equal((await objects()).length, 3)
  t.strictSame(
    await readdir(join(gatehouse.dataDir, 'uploads')),
    [],
    'no local upload file is left',
  )
})

t.test('requests that need S3 return 503 while it is unavailable', async (t) => {
  const { gatehouse, ada, proxy, objects } = shared
  const before = (await objects()).length
  const content = randomBytes(1_000)
  t.equal((await upload(gatehouse, ada, '2.0', content)).status, 201)
  proxy.misbehave = (_request, response) => {
    response.destroy()
    return true
  }
  for (const refused of [
    await upload(gatehouse, ada, '2.1', content),
    await fetch(addressOf(gatehouse, '2.0')),
  ]) {
    t.equal(refused.status, 503)
    t.match(refused.headers.get('retry-after'), /^\d+$/)
    await refused.body?.cancel()
  }
  t.strictSame(await readdir(join(gatehouse.dataDir, 'uploads')), [])
  t.equal((await fetch(addressOf(gatehouse, '2.0'), { method: 'HEAD' })).status, 200)
  t.equal((await fetch(addressOf(gatehouse, '2.1'), { method: 'HEAD' })).status, 404)
  proxy.misbehave = () => false
  t.ok((await bytesOf(await fetch(addressOf(gatehouse, '2.0')))).equals(content))
  t.equal((await upload(gatehouse, ada, '2.1', randomBytes(10))).status, 201)
  t.equal((await objects()).length, before + 2)
  t.notMatch(
    gatehouse.log(),
    /test:tester|testing\+|test%3Atester/,
    'the log does not contain the key',
  )
})

t.test('requests that need S3 return 503 while it refuses the key, with its reason', async (t) => {
  const { gatehouse, ada, proxy } = shared
  const content = randomBytes(1_000)
  t.equal((await upload(gatehouse, ada, '3.0', content)).status, 201)
  await ada.api('POST', '/user/repos', { name: 'tool', auto_init: true })
  const made = await ada.api('POST', '/repos/ada/tool/releases', { tag_name: 'v1' })
  const assets = `${gatehouse.url}/api/v1/repos/ada/tool/releases/${(made.body as { id: number }).id}/assets`
  const attach = async (name: string) => {
    const form = new FormData()
    form.set('attachment', new Blob([content]), name)
    const headers = { authorization: `token ${ada.token}` }
    return await fetch(`${assets}?name=${name}`, { method: 'POST', headers, body: form })
  }
  t.equal((await attach('one')).status, 201)
  // The server calculates another signature than this, as with a wrong key.
  proxy.misbehave = ({ headers }) => {
    headers.authorization = headers.authorization?.replace(
      /Signature=\w+/,
      `Signature=${'0'.repeat(64)}`,
    )
    return false
  }
  const large = Buffer.alloc(LARGE_BYTES)
  for (const refused of [
    await upload(gatehouse, ada, '3.1', randomBytes(1_000)),
    await upload(gatehouse, ada, '3.2', large),
    await fetch(addressOf(gatehouse, '3.0')),
    await attach('two'),
    await fetch(`${gatehouse.url}/ada/tool/releases/download/v1/one`),
  ]) {
    t.equal(refused.status, 503)
    t.match(refused.headers.get('retry-after'), /^\d+$/)
    t.match(await refused.text(), /storage of files is not available/)
  }
  const reason = /S3 answered 403 SignatureDoesNotMatch: The request signature/
  const log = await gatehouse.logMatching(reason)
  t.match(log, reason)
  t.notMatch(log, /test:tester|testing\+|test%3Atester|Signature=/, 'without the key')
  proxy.misbehave = () => false
  t.equal((await upload(gatehouse, ada, '3.1', content)).status, 201)
  t.ok((await bytesOf(await fetch(addressOf(gatehouse, '3.0')))).equals(content))
})

t.test('downloads are redirected to the bucket if blobs.redirect is set', async (t) => {
  const { gatehouse, ada } = await scene(t, { GATEHOUSE_BLOBS_REDIRECT: 'true' })
  const content = randomBytes(1_000)
  t.equal((await upload(gatehouse, ada, '1.0', content)).status, 201)
  const sent = await fetch(addressOf(gatehouse, '1.0'), { redirect: 'manual' })
  t.match(sent.headers.get('location'), /^http:\/\/127\.0\.0\.1:\d+\/bucket-\w+\/../)
  t.equal(sent.status, 303)
  for (const method of ['GET', 'HEAD']) {
    const followed = await fetch(addressOf(gatehouse, '1.0'), { method })
    t.equal(followed.status, 200, method)
    t.equal(followed.headers.get('content-length'), '1000')
    t.match(followed.headers.get('content-disposition'), /^attachment; filename="file"/)
    t.ok((await bytesOf(followed)).equals(method === 'GET' ? content : Buffer.of()))
  }

  await t.test('git-lfs follows the redirect without the credentials of its user', async (t) => {
    const address = ada.remote(`${await makeRepository(ada, 'models', { private: true })}.git`)
    const copy = await lfsCopy(t, address)
    const bytes = randomBytes(100_000)
    await copy.commit('large.bin', bytes)
    const push = await runLfs(copy, ['push', '--quiet', 'origin', 'main'])
    t.equal(push.exitCode, 0, push.errorText)
    const clone = await cloneLfs(t, address, { GIT_TRACE: '1' })
    t.equal(clone.exitCode, 0, clone.errorText)
    t.ok((await readFile(join(clone.copy.path, 'large.bin'))).equals(bytes))
    t.match(clone.errorText, /HTTP: 303\b.*HTTP: 200\b/s)
  })
})
