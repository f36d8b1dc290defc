/** Threat: large Alpine packages and gzip bombs exhaust the memory of a worker. */

import { createHash, randomBytes } from 'node:crypto'
import { request as send } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Test, t } from 'tap'
import { controlMember, signatureMember } from '../helpers/apks.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { gzipBomb } from '../helpers/gzip-bomb.js'
import { peaksDuring, workersOf } from '../helpers/server-processes.js'
import { tarPiece } from '../helpers/tar-bytes.js'
import { isFullSize } from '../helpers/test-size.js'

const MIB = 1_048_576
const PIECES = isFullSize ? 2_000 : 200
const BOMBS = isFullSize ? 100 : 2

/**
 * Less than the package or a bomb would add. Chunks that were hashed or unpacked are garbage, which
 * is collected some tens of MiB later.
 */
const WORKER_BYTES_MAX = 256 * MIB
/** Unpacked size of a bomb: more than a worker may use. */
const BOMB_BYTES = (isFullSize ? 512 : 288) * MIB

async function stayFlat(t: Test, { pid }: Gatehouse, what: string, action: () => Promise<void>) {
  const workers = await workersOf(pid)
  const peaks = await peaksDuring(workers, action)
  const mib = peaks.map((bytes) => Math.round(bytes / MIB)).join(' and ')
  t.ok(Math.max(...peaks) < WORKER_BYTES_MAX, `workers stay small during ${what}: ${mib} MiB`)
  t.strictSame(await workersOf(pid), workers, 'no worker died')
}

const PATH = '/api/packages/ada/alpine/v1/main'

/** Uploads the pieces as one package and returns the status. */
async function upload(
  { port }: Gatehouse,
  { token }: Person,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<number | undefined> {
  const sending = send({
    host: '127.0.0.1',
    port,
    method: 'PUT',
    path: PATH,
    headers: { authorization: `token ${token}` },
  })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('error', reject)
    sending.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
  })
  // The server may reply, and close the connection, before it has read the body.
  const [status, sent] = await Promise.allSettled([
    answered,
    pipeline(Readable.from(pieces), sending),
  ])
  if (status.status === 'fulfilled') return status.value
  throw sent.status === 'rejected' ? sent.reason : status.reason
}

t.test('large packages and gzip bombs do not grow the memory of a worker', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')

  const piece = randomBytes(MIB)
  const hash = createHash('sha256')
  for (let number = 0; number < PIECES; number += 1) hash.update(piece)
  const info = { pkgname: 'large', pkgver: '1', arch: 'x86', datahash: hash.digest('hex') }
  function* large() {
    yield controlMember(info)
    for (let number = 0; number < PIECES; number += 1) yield piece
  }
  await stayFlat(t, gatehouse, 'a large package', async () => {
    t.equal(await upload(gatehouse, ada, large()), 201)
  })

  const spaces = { head: '', piece: ' '.repeat(65_536) }
  const headers = { head: '', piece: tarPiece({ path: 'x' }).toString('latin1') }
  const bombs = await Promise.all(
    [spaces, headers].map((bomb) => gzipBomb({ ...bomb, bytes: BOMB_BYTES })),
  )
  await stayFlat(t, gatehouse, `${BOMBS} bombs`, async () => {
    for (let number = 0; number < BOMBS; number += 1) {
      const bomb = bombs[number % bombs.length] ?? Buffer.alloc(0)
      t.equal(await upload(gatehouse, ada, [signatureMember(), bomb]), 400)
    }
  })
})
