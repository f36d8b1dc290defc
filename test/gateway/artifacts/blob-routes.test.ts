/** Bytes of artifacts: blocks, their lists, limits and addresses. */

import t from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { readBlockList } from '../../../gateway/artifacts/blob-routes.js'
import { addressOf } from '../../../gateway/auth/artifact-address.js'
import { addJob, pathOf, startGatewayWithJob } from '../../helpers/artifact-calls.js'
import { freePort } from '../../helpers/free-port.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { sharedS3Server } from '../../helpers/shared-s3-server.js'

const gateways = sharedGateways(t)

const id = (text: string) => encodeURIComponent(Buffer.from(text).toString('base64'))
const listOf = (...names: readonly string[]) =>
  `<?xml version="1.0" encoding="utf-8"?><BlockList>${names
    .map((name) => `<Latest>${Buffer.from(name).toString('base64')}</Latest>`)
    .join('')}</BlockList>`

await gateways.onSqlite('blocks are joined in the order of the list', async (t, gateway) => {
  const { ask, begin, call, put } = await addJob(gateway)
  const address = await begin('build')
  for (const [name, text] of [
    ['b', 'second,'],
    ['c', 'third'],
    ['a', 'first, wrong'],
    ['a', 'first,'],
    ['unused', 'x'],
  ] as const) {
    t.match(await put(`${address}&comp=block&blockid=${id(name)}`, text), { status: 201, text: '' })
  }
  t.equal((await put(`${address}&comp=blocklist`, listOf('c', 'a'))).status, 201)
  t.equal((await put(`${address}&comp=blocklist`, listOf('a', 'b', 'c'))).status, 201)
  const { status } = await call('FinalizeArtifact', { name: 'build', size: '18' })
  t.equal(status, 200)
  const { json } = await call('GetSignedArtifactURL', { name: 'build' })
  const download = await ask({ path: pathOf((json as { signed_url: string }).signed_url) })
  t.equal(download.text, 'first,second,third')
})

await gateways.onSqlite(
  'lists with unknown or repeated blocks, or other XML, are refused',
  async (t, gateway) => {
    const { begin, put } = await addJob(gateway)
    const address = await begin('build')
    await put(`${address}&comp=block&blockid=${id('a')}`, 'text')
    for (const [list, status] of [
      [listOf('b'), 400],
      [listOf('a', 'b'), 400],
      [listOf('a', 'a'), 400],
      ['', 400],
      ['<BlockList>', 400],
      ['<BlockList><Other>YQ==</Other></BlockList>', 400],
      ['<BlockList><Latest>&a;</Latest></BlockList>', 400],
      [`<!DOCTYPE x [<!ENTITY a "b">]>${listOf('a')}`, 400],
      [`<BlockList>${' '.repeat(2_097_152)}</BlockList>`, 413],
      [listOf('a'), 201],
      [listOf(), 201],
    ] as const) {
      t.equal((await put(`${address}&comp=blocklist`, list)).status, status, list.slice(0, 60))
    }
    t.equal((await put(`${address}&comp=block&blockid=..%2Fx`, 'text')).status, 400)
    t.equal((await put(`${address}&comp=block&blockid=${'a'.repeat(101)}`, 'text')).status, 400)
    t.equal((await put(`${address}&comp=page`, 'text')).status, 400)
  },
)

t.test('a list of ten thousand blocks is read, and one with a fault is refused', async (t) => {
  const names = Array.from({ length: 10_000 }, (_, at) => `block ${at}`)
  t.equal(readBlockList(listOf(...names)).length, 10_000)
  for (const entries of [`${' '.repeat(1_000_000)}x`, '<Latest>'.repeat(100_000)]) {
    const read = () => readBlockList(`<BlockList>${entries}</BlockList>`)
    t.throws(read, { message: 'The list of blocks is malformed.' })
  }
})

t.test('blocks are refused with 503 while S3 is unavailable or refuses the key', async (t) => {
  const bucket = await (await sharedS3Server()).createBucket()
  for (const url of [
    bucket.replace(/(?<=tester:)[^@]+/, 'wrong'),
    `s3://key:secret@127.0.0.1:${await freePort()}/bucket?tls=false`,
  ]) {
    const environment = { GATEHOUSE_BLOBS_URL: url }
    const { begin, put } = await startGatewayWithJob(t, { environment })
    const address = await begin('build')
    const refused = await put(`${address}&comp=block&blockid=${id('a')}`, 'text')
    t.match(refused, { status: 503, headers: { 'retry-after': /^\d+$/ }, text: /not available/ })
  }
})

t.test('bytes beyond the limits of the artifact and the repository are refused', async (t) => {
  const environment = {
    GATEHOUSE_ACTIONS_ARTIFACT_SIZE_MAX: '100000',
    GATEHOUSE_ACTIONS_ARTIFACTS_REPOSITORY_MAX: '150000',
  }
  const { begin, call, db, put, store } = await startGatewayWithJob(t, { environment })
  const address = await begin('build')
  const block = (name: string) => `${address}&comp=block&blockid=${id(name)}`
  t.match(await put(block('a'), Buffer.alloc(100_001)), {
    status: 413,
    json: { code: 'resource_exhausted', msg: /^An artifact has at most 100000 bytes/ },
  })
  t.equal((await put(block('a'), Buffer.alloc(60_000))).status, 201)
  t.equal((await put(block('b'), Buffer.alloc(40_001))).status, 413)
  t.equal((await put(block('b'), Buffer.alloc(40_000))).status, 201)
  t.equal((await put(address, Buffer.alloc(1))).status, 413)
  const other = await begin('other')
  t.equal((await put(other, Buffer.alloc(50_001))).status, 413)
  t.equal((await put(other, Buffer.alloc(50_000))).status, 201)
  await call('FinalizeArtifact', { name: 'other', size: '50000' })
  await call('DeleteArtifact', { name: 'other' })
  await store('third', 'x'.repeat(50_000))
  const sum = await db('workflow_artifacts').sum({ bytes: 'bytes' }).first()
  t.equal(Number(sum?.['bytes']), 150_000)
})

await gateways.onSqlite(
  'an altered, expired or exchanged address opens nothing',
  async (t, gateway) => {
    const { ask, begin, call, put, settings, store } = await addJob(gateway)
    await store('done', 'zip')
    const upload = await begin('build')
    const { json } = await call('GetSignedArtifactURL', { name: 'done' })
    const download = pathOf((json as { signed_url: string }).signed_url)
    const secret = await openInstanceSecret(settings.data.dir)
    const [uploadPath = '', uploadText = ''] = upload.split('?address=')
    const [downloadPath = '', downloadText = ''] = download.split('?address=')
    const [signed = '', signature = ''] = downloadText.split('.')
    const [mode, fileId, time] = JSON.parse(Buffer.from(signed, 'base64url').toString())
    const claim = (...values: readonly unknown[]) =>
      `${Buffer.from(JSON.stringify(values)).toString('base64url')}.${signature}`
    for (const text of [
      '',
      'x',
      signed,
      `${signed}.`,
      `${signed}.${signature}.`,
      downloadText.slice(0, -2),
      claim(mode, fileId + 1, time),
      claim(mode, fileId, time + 1),
      // A digit that moves from one field to another.
      claim(mode, Number(`${fileId}${String(time)[0]}`), Number(String(time).slice(1))),
      uploadText,
      addressOf(secret, { mode: 'download', id: fileId }, Date.now() - 1),
    ]) {
      t.equal((await ask({ path: `${downloadPath}?address=${text}` })).status, 403, text)
    }
    t.equal((await ask({ path: downloadPath })).status, 403)
    t.equal((await put(`${uploadPath}?address=${downloadText}`, 'zip')).status, 403)
    t.equal((await put(`${uploadPath}?address=x&address=${uploadText}`, 'zip')).status, 403)
    t.equal((await put(upload, 'zip')).status, 201)
    const inFuture = Date.now() + 60_000
    for (const missing of [1_000_000, fileId + 1]) {
      const text = addressOf(secret, { mode: 'download', id: missing }, inFuture)
      const { status } = await ask({ path: `${downloadPath}?address=${text}` })
      t.equal(status, 404, 'no file, and one of an artifact that is not complete')
    }
    t.equal((await ask({ path: download })).text, 'zip')
  },
)

await gateways.onSqlite('addresses and tokens are not in the log', async (t, gateway) => {
  const { begin, lines, put, runtimeToken } = await addJob(gateway)
  const address = await begin('build')
  await put(address, 'zip')
  const log = JSON.stringify(lines)
  t.match(log, 'UploadArtifact')
  for (const secret of [address.split('=')[1] ?? '', runtimeToken]) t.notOk(log.includes(secret))
})
