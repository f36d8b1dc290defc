/** Threat: large packages exhaust the memory unless they are streamed. */

import { createHash, randomBytes } from 'node:crypto'
import { request as send } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Test, t } from 'tap'
import { stayFlat } from '../helpers/flat-memory.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { isFullSize } from '../helpers/test-size.js'

const MIB = 1_048_576
const PIECES = isFullSize ? 5_000 : 120
const PATH = '/api/packages/ada/generic/large/1.0/file'

t.test("a large upload and a large download do not grow the server's memory", async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  let sent = ''
  await stayFlat(t, gatehouse, 'an upload', async () => {
    sent = await upload(t, gatehouse, ada)
  })
  await stayFlat(t, gatehouse, 'a download', async () => {
    const answer = await fetch(`${gatehouse.url}${PATH}`)
    t.equal(answer.headers.get('content-length'), String(PIECES * MIB))
    const hash = createHash('sha256')
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) hash.update(chunk)
    t.equal(hash.digest('hex'), sent, 'the downloaded bytes equal the uploaded bytes')
  })
})

/** Uploads distinct pieces as one file; returns its SHA-256 digest. */
async function upload(t: Test, gatehouse: Gatehouse, ada: Person): Promise<string> {
  const hash = createHash('sha256')
  const piece = randomBytes(MIB)
  async function* pieces() {
    for (let number = 0; number < PIECES; number += 1) {
      piece.writeUInt32BE(number)
      hash.update(piece)
      yield Buffer.from(piece)
    }
  }
  const sending = send({
    host: '127.0.0.1',
    port: gatehouse.port,
    method: 'PUT',
    path: PATH,
    headers: { authorization: `token ${ada.token}`, 'content-length': PIECES * MIB },
  })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('error', reject)
    sending.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
  })
  await pipeline(Readable.from(pieces()), sending)
  t.equal(await answered, 201)
  return hash.digest('hex')
}
