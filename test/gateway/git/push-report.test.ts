/** The result of a push of one ref is read from git's answer, and every byte of it is passed on. */

import t from 'tap'
import { watchReport } from '../../../gateway/git/push-report.js'
import { packetLine } from '../../../gateway/packs/pkt-line.js'

const NAME = 'refs/heads/ä'
const BYTES = Buffer.from(NAME).toString('latin1')
const OK = `${packetLine('unpack ok\n')}${packetLine(`ok ${BYTES}\n`)}0000`
const band = (text: string, number = '\u0001') => packetLine(number + text)

const CASES: ReadonlyArray<readonly [name: string, answer: string, result: string]> = [
  ['an accepted change', `${band(OK)}0000`, 'applied'],
  ['a keep-alive packet before the report', `${band('')}${band(OK)}0000`, 'applied'],
  ['a report in two packets', `${band(OK.slice(0, 9))}${band(OK.slice(9))}0000`, 'applied'],
  [
    'a refused change',
    `${band(`${packetLine('unpack ok\n')}${packetLine(`ng ${BYTES} failed\n`)}0000`)}0000`,
    'refused',
  ],
  [
    'a refused pack',
    `${band(`${packetLine('unpack index-pack abnormal exit\n')}0000`)}0000`,
    'refused',
  ],
  ['a message that looks like a report', `${band(OK, '\u0002')}0000`, 'unknown'],
  ['an answer that is cut', band(OK).slice(0, -1), 'unknown'],
  [
    'an answer of more than 256 KiB',
    `${band('x'.repeat(60_000), '\u0002').repeat(5)}${band(OK)}`,
    'unknown',
  ],
  ['no answer', '', 'unknown'],
]

for (const [name, answer, result] of CASES) {
  t.test(`${name} is ${result}`, async (t) => {
    const bytes = Buffer.from(answer, 'latin1')
    async function* body() {
      yield bytes.subarray(0, 5)
      yield bytes.subarray(5)
    }
    const watched = watchReport(body(), NAME)
    const chunks: Uint8Array[] = []
    for await (const chunk of watched.body) chunks.push(chunk)
    t.ok(Buffer.concat(chunks).equals(bytes))
    t.equal(await watched.result, result)
  })
}

t.test('an answer that breaks or is not read to its end is unknown', async (t) => {
  async function* broken() {
    yield Buffer.from(band(OK))
    throw new Error('git was ended')
  }
  const watched = watchReport(broken(), NAME)
  await t.rejects(async () => {
    for await (const _ of watched.body);
  }, /git was ended/)
  t.equal(await watched.result, 'unknown')
  const left = watchReport(broken(), NAME)
  for await (const _ of left.body) break
  t.equal(await left.result, 'unknown')
})
