/** Requests of an SSH client are separated, whatever the chunks are. */

import fc from 'fast-check'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { ClientRequests } from '../../../gateway/ssh/client-requests.js'
import { packetLine } from '../../helpers/git-requests.js'

/** Creates a client whose bytes arrive in these chunks. */
function client(...pieces: ReadonlyArray<Uint8Array | string>): ClientRequests {
  const left = pieces.map((piece) => Buffer.from(piece))
  return new ClientRequests(async () => left.shift())
}

async function textOf(request: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  let text = ''
  for await (const chunk of request ?? []) text += Buffer.from(chunk).toString('latin1')
  return text
}

const LIST = `${packetLine('command=ls-refs\n')}0001${packetLine('symrefs\n')}0000`
const FETCH = `${packetLine('command=fetch')}0001${packetLine('done\n')}0000`

t.test('requests are returned one by one, in chunks of any size', async (t) => {
  const all = Buffer.from(`${LIST}${FETCH}${LIST}0000`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(all.length), { maxLength: 8 }), async (cuts) => {
      const ends = [...cuts, all.length].sort((one, other) => one - other)
      const pieces = ends.map((end, at) => all.subarray(ends[at - 1] ?? 0, end))
      const requests = client(...pieces)
      for (const expected of [LIST, FETCH, LIST]) {
        t.equal(await textOf(await requests.next()), expected)
        t.equal(requests.isBetween, true)
      }
      t.equal(await requests.next(), undefined)
    }),
    { numRuns: 50 },
  )
})

t.test('a client that closes between two requests has no more', async (t) => {
  t.equal(await client().next(), undefined)
  const requests = client(LIST)
  await textOf(await requests.next())
  t.equal(await requests.next(), undefined)
})

t.test('a partly read request is not complete', async (t) => {
  const requests = client(LIST.slice(0, 30), LIST.slice(30))
  const body = await requests.next()
  t.equal(requests.isBetween, false)
  await textOf(body)
  t.equal(requests.isBetween, true)
})

for (const [what, bytes] of [
  ['data that is not a pkt-line', 'GET / HTTP/1.1'],
  ['an invalid length', `${packetLine('command=fetch')}zzzz`],
  ['a packet with a length of three', `${packetLine('command=fetch')}0003`],
  ['an empty packet', `${packetLine('command=fetch')}0004`],
  ['a packet that is too long', `${packetLine('command=fetch')}fff5`],
  ['an end in the middle of a length', '00'],
  ['an end in the middle of a packet', packetLine('command=fetch').slice(0, -1)],
  ['an end before the last packet', LIST.slice(0, -4)],
] as const) {
  t.test(`${what} is refused`, async (t) => {
    const requests = client(bytes)
    await t.rejects(async () => textOf(await requests.next()))
    const error = await client(bytes)
      .next()
      .then(textOf)
      .catch((cause: unknown) => cause)
    t.ok(isFailure(error, 'bad_request'))
  })
}
