/** Fetch requests: decoded from any content coding, and refused if git could not read them. */

import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { FETCH_REQUEST_BYTES_MAX } from '../../../gateway/packs/upload-pack.js'
import { postFetch } from '../../helpers/fetch-answers.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git } from '../../helpers/git-client.js'
import { fetchBody, packetLine } from '../../helpers/git-requests.js'
import { ask } from '../../helpers/requests.js'

/** A pack on side band 1, and the end of the answer (gitprotocol-v2(5) "fetch"). */
const PACK = /^000dpackfile\n.{4}\u0001PACK.*0000$/s

/** Creates a repository with one commit, and a function that sends fetch requests for it. */
async function aFetch(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  const tip = await git(['rev-parse', 'main'], { cwd: await gateway.pathOf('ada', 'r') })
  const fetch = (body: Uint8Array, headers: Record<string, string> = {}) =>
    postFetch({ port: gateway.port, path: '/ada/r.git', body, headers })
  return { ...gateway, tip, fetch }
}

t.test('a plain and a compressed request both give a pack', async (t) => {
  const { tip, fetch } = await aFetch(t)
  const body = fetchBody(tip)
  const plain = await fetch(body)
  t.equal(plain.status, 200)
  t.equal(plain.headers['content-type'], 'application/x-git-upload-pack-result')
  t.match(plain.body.toString('latin1'), PACK)
  for (const coding of ['gzip', 'x-gzip', ' GZIP ']) {
    const packed = await fetch(gzipSync(body), { 'content-encoding': coding })
    t.equal(packed.status, 200, coding)
    t.match(packed.body.toString('latin1'), PACK, coding)
  }
})

t.test('truncated gzip data and malformed pkt-lines are a 400 with a message', async (t) => {
  const { tip, fetch, lines } = await aFetch(t)
  const whole = gzipSync(fetchBody(tip))
  const broken = Buffer.concat([whole.subarray(0, 30), Buffer.alloc(20)])
  for (const body of [broken, whole.subarray(0, 30), fetchBody(tip), Buffer.alloc(0)]) {
    const refused = await fetch(body, { 'content-encoding': 'gzip' })
    t.match(refused, {
      status: 400,
      body: /The body is not complete gzip data|Git cannot read this/,
    })
  }
  const refused = await fetch(Buffer.from('hello, git'))
  t.match(refused.status, 400)
  t.equal(refused.body.toString(), 'Git cannot read this request.\n')
  t.ok(lines.some(({ msg }) => msg === 'git could not read a fetch request'))
})

t.test(
  'a commit that no ref reaches is refused, also if git would answer the request',
  async (t) => {
    const { tip, fetch, pathOf } = await aFetch(t)
    const cwd = await pathOf('ada', 'r')
    const tree = await git(['rev-parse', `${tip}^{tree}`], { cwd })
    const lost = await git(['commit-tree', tree, '-m', 'lost'], { cwd })
    const refusal = new RegExp(`ERR upload-pack: not our ref ${lost}$`)
    const option = (commit: string) =>
      Buffer.from(String(fetchBody(commit)).replace('command=fetch', '$&0013server-option=x'))
    t.match((await fetch(option(tip))).body.toString('latin1'), PACK)
    t.match((await fetch(fetchBody(lost))).body.toString(), refusal)
    t.match((await fetch(option(lost))).body.toString(), refusal)
    const versions = { 'git-protocol': 'version=2:x' }
    t.match((await fetch(fetchBody(lost), versions)).body.toString(), refusal)
    const have = `have ${'1'.repeat(40)}`
    const long = (commit: string) => fetchBody(commit, ...Array(20_000).fill(have))
    t.match((await fetch(long(lost))).body.toString(), refusal, 'behind a megabyte')
    t.match((await fetch(long(tip))).body.toString('latin1'), PACK)
    const blobs = Array.from({ length: 10_100 }, (_, at) => `blob\ndata 5\n${10_000 + at}\n`)
    await git(['fast-import', '--quiet'], { cwd, input: blobs.join('') })
    const all = ['cat-file', '--batch-all-objects', '--batch-check=want %(objectname)']
    const wants = (await git(all, { cwd })).split('\n').filter((line) => !line.endsWith(lost))
    t.match((await fetch(fetchBody(lost, ...wants))).body.toString(), refusal, 'of 10,000 wants')
  },
)

t.test('a want that git would read differently from the gateway is refused', async (t) => {
  const { tip, fetch, pathOf } = await aFetch(t)
  const cwd = await pathOf('ada', 'r')
  const tree = await git(['rev-parse', `${tip}^{tree}`], { cwd })
  const lost = await git(['commit-tree', tree, '-m', 'lost'], { cwd })
  const line = packetLine(`want ${lost}\n`)
  const notations = {
    'capital letters': packetLine(`want ${lost.toUpperCase()}\n`),
    'bytes behind the id': packetLine(`want ${lost} x\n`),
    'a length in capital letters': `00AA${`want ${lost}`.padEnd(0xaa - 4)}`,
    'an empty line before it': `0004${line}`,
    'the end of a response before it': `0002${line}`,
  }
  for (const [notation, text] of Object.entries(notations)) {
    const body = Buffer.from(String(fetchBody(tip)).replace(/0000$/, `${text}0000`))
    const { status, body: answer } = await fetch(body)
    t.equal(status, 400, notation)
    t.equal(answer.toString(), 'Git cannot read this request.\n', notation)
  }
})

t.test('a request that unpacks beyond the limit is a 413', async (t) => {
  const { tip, fetch, server } = await aFetch(t)
  const have = packetLine(`have ${'1'.repeat(40)}\n`)
  const head = `${packetLine('command=fetch')}0001${packetLine(`want ${tip}\n`)}`
  const bomb = gzipSync(head + have.repeat(Math.ceil(FETCH_REQUEST_BYTES_MAX / have.length)))
  t.ok(bomb.length < FETCH_REQUEST_BYTES_MAX / 50)
  const refused = await fetch(bomb, { 'content-encoding': 'gzip' })
  t.match(refused.status, 413)
  t.match(refused.body.toString(), 'The request names too many objects.')
  const counted = 'gatehouse_git_services_total{service="git-upload-pack",outcome="failed"} 1'
  t.match(await server.metrics.registry.metrics(), counted)
})

t.test('Server-Timing shows the cache outcome to administrators only', async (t) => {
  const { tip, fetch, addUser, addToken } = await aFetch(t)
  const { plain } = await addToken(await addUser('boss', { isAdmin: true }), 'all')
  const body = fetchBody(tip)
  const timings: (string | string[] | undefined)[] = []
  for (const headers of [{}, { authorization: `token ${plain}` }] as const) {
    timings.push((await fetch(body, { ...headers })).headers['server-timing'])
  }
  t.equal(timings[0], undefined)
  t.match(timings[1], /^cache;desc=(?:hit|join)$/)
})

t.test('sent bytes are counted by cache outcome', async (t) => {
  const { tip, fetch, server } = await aFetch(t)
  const body = fetchBody(tip)
  const { length } = (await fetch(body)).body
  await fetch(body)
  await fetch(body)
  const old = packetLine(`want ${tip} allow-tip-sha1-in-want\n`)
  const past = await fetch(Buffer.from(`${old}0000${packetLine('done\n')}`), { 'git-protocol': '' })
  const text = await server.metrics.registry.metrics()
  const read = (name: string, outcome: string) =>
    Number(
      new RegExp(`^gatehouse_pack_cache_${name}_total{.*"${outcome}"} (\\d+)$`, 'm').exec(
        text,
      )?.[1],
    )
  t.match(past.body.toString('latin1'), /^0008NAK\nPACK/)
  t.equal(read('requests', 'bypass'), 1)
  t.equal(read('answer_bytes', 'bypass'), past.body.length)
  t.equal(read('answer_bytes', 'miss'), length)
  const [hit, join] = [read('answer_bytes', 'hit') || 0, read('answer_bytes', 'join') || 0]
  t.equal(hit + join, 2 * length, 'from a cached or an in-flight answer')
  t.match(text, /^gatehouse_git_queue_wait_seconds_bucket{le="0.001"} [1-9]$/m)
  t.match(text, /^gatehouse_git_cpu_seconds_total [\d.]+$/m)
  t.match(text, /^gatehouse_pack_cache_memory_bytes \d+$/m)
})

t.test('fetches are logged, and the requests before them at level debug', async (t) => {
  const { tip, fetch, lines, port } = await aFetch(t)
  const path = '/ada/r.git/info/refs'
  const advertised = await ask(port, { path: `${path}?service=git-upload-pack` })
  t.equal(advertised.status, 200)
  t.equal((await ask(port, { path })).status, 403)
  const listing = `${packetLine('command=ls-refs\n')}0001${packetLine('peel\n')}0000`
  t.match((await fetch(Buffer.from(listing))).body.toString(), `${tip} refs/heads/main`)
  await fetch(fetchBody(tip))
  const logged = lines.filter(
    ({ msg, path = '' }) => msg === 'request' && /r\.git/.test(String(path)),
  )
  t.match(logged, [
    { level: 20, path, status: 200 },
    { level: 30, path, status: 403 },
    { level: 20, path: '/ada/r.git/git-upload-pack', status: 200 },
    { level: 30, path: '/ada/r.git/git-upload-pack', status: 200 },
  ])
})
