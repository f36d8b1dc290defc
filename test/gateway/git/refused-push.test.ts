/** Refusals of a push as git's own report, in the format that the client requested. */

import t from 'tap'
import { insufficientStorage } from '../../../conf/disk-failure.js'
import type { Reply } from '../../../conf/http.js'
import { GIT_SURFACE } from '../../../gateway/git/surface.js'
import { packetLine } from '../../../gateway/packs/pkt-line.js'
import { aRequest } from '../../helpers/a-request.js'
import { openContext } from '../../helpers/gateway.js'

const PATH = '/ada/library.git/git-receive-pack'
const COMMAND = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main`

async function textOf({ body }: Reply): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function* inPieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(bytes)
  for (let start = 0; start < text.length; start += bytes) {
    const length = memory.write(text.slice(start, start + bytes), 'latin1')
    yield memory.subarray(0, length)
  }
}

t.test(
  'the report has the reason, on the side band or without, for any chunks of the request',
  async (t) => {
    const { context } = await openContext(t)
    const failure = insufficientStorage()
    const status = `${packetLine(`unpack ${failure.message}\n`)}0000`
    const cases = [
      [
        packetLine(`${COMMAND}\0 report-status side-band-64k`),
        `${packetLine(`\u0001${status}`)}0000`,
      ],
      [packetLine(`${COMMAND}\0 report-status`), status],
      [
        packetLine(`shallow ${'2'.repeat(40)}`) + packetLine(`${COMMAND}\0report-status-v2`),
        status,
      ],
      ['', ''],
      ['nonsense', ''],
      [packetLine('no capabilities'), ''],
    ] as const
    for (const [commands, wanted] of cases) {
      for (const bytes of [1, 7, 4_096]) {
        const body = inPieces(`${commands}0000PACK and more`, bytes)
        const request = aRequest({ method: 'POST', path: PATH, body })
        const reply = GIT_SURFACE.refuse(context, failure, request)
        t.equal(reply.status, 200)
        t.equal(await textOf(reply), wanted, `${commands} in pieces of ${bytes}`)
      }
    }
  },
)

t.test('a request without a pack is refused with its status', async (t) => {
  const { context } = await openContext(t)
  const refuse = (request: Parameters<typeof aRequest>[0]) =>
    GIT_SURFACE.refuse(context, insufficientStorage(), aRequest(request)).status
  t.equal(refuse({ method: 'GET', path: '/ada/library.git/info/refs' }), 507)
  t.equal(refuse({ method: 'POST', path: '/ada/library.git/git-upload-pack' }), 507)
  t.equal(
    refuse({ method: 'POST', path: PATH, headers: new Map([['content-encoding', 'gzip']]) }),
    507,
  )
})
