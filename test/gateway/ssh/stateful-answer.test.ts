/** Answers of stateless git become those of a conversation, whatever the chunks are. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { UploadPackError } from '../../../cgi/transfer/upload-pack.js'
import { isFailure } from '../../../conf/failures.js'
import {
  answerAfter,
  shallowSection,
  statefulAdvertisement,
} from '../../../gateway/ssh/stateful-answer.js'
import { packetLine } from '../../helpers/git-requests.js'

const OID = 'a1'.repeat(20)
const SERVICE = `${packetLine('# service=git-upload-pack\n')}0000`
const REFS = `${packetLine(`${OID} refs/heads/ no-done\n`)}0000`

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString('latin1')
  return text
}

/** Yields a text in chunks of a few bytes, and notes that it was closed. */
function piecesOf(text: string, onClose = () => {}): AsyncIterable<Uint8Array> {
  return (async function* () {
    try {
      for (let at = 0; at < text.length; at += 7)
        yield Buffer.from(text.slice(at, at + 7), 'latin1')
    } finally {
      onClose()
    }
  })()
}

t.test('an advertisement loses the service and no-done', async (t) => {
  const first = (capabilities: string) => packetLine(`${OID} HEAD\0multi_ack${capabilities}\n`)
  const version = packetLine('version 1\n')
  for (const [from, to] of [
    [first(' no-done symref=HEAD:refs/no-done'), first(' symref=HEAD:refs/no-done')],
    [first(' thin-pack no-done'), first(' thin-pack')],
    [first(' no-done-x'), first(' no-done-x')],
    [version + first(' no-done'), version + first('')],
    ['', ''],
    [version, version],
  ] as const) {
    t.equal(await textOf(statefulAdvertisement(piecesOf(SERVICE + from + REFS))), to + REFS)
    t.equal(await textOf(statefulAdvertisement(Buffer.from(SERVICE + from + REFS))), to + REFS)
  }
  t.equal(await textOf(statefulAdvertisement(Buffer.from(`${SERVICE}0000`))), '0000', 'no refs')
})

const SECTION = `${packetLine(`shallow ${OID}`)}${packetLine(`unshallow ${OID}`)}0000`
const PACK = `${packetLine('NAK\n')}PACK0000`
const REFUSAL = packetLine(`ERR upload-pack: not our ref ${OID}`)
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

t.test('a shallow section is passed on and hashed', async (t) => {
  for (const section of [SECTION, '0000']) {
    const hash = createHash('sha256')
    t.equal(await textOf(shallowSection(piecesOf(section), hash)), section)
    t.equal(hash.digest('hex'), digestOf(section))
  }
})

t.test(
  'an error in place of a shallow section is passed on and ends the conversation',
  async (t) => {
    const chunks = shallowSection(piecesOf(REFUSAL), createHash('sha256'))
    t.equal(Buffer.from((await chunks.next()).value ?? '').toString(), REFUSAL)
    await t.rejects(chunks.next(), new UploadPackError(`ERR upload-pack: not our ref ${OID}`))
  },
)

t.test('an answer loses the beginning that the client has', async (t) => {
  const section = digestOf(SECTION)
  for (const [sent, answer, expected] of [
    [{ hasRefs: false, section: undefined }, PACK, PACK],
    [{ hasRefs: false, section: undefined }, SECTION + PACK, SECTION + PACK],
    [{ hasRefs: false, section }, SECTION + PACK, PACK],
    [{ hasRefs: true, section: undefined }, REFS + PACK, PACK],
    [{ hasRefs: true, section }, REFS + SECTION + PACK, PACK],
    [{ hasRefs: true, section: undefined }, `0000${PACK}`, PACK],
    [{ hasRefs: true, section: digestOf('0000') }, `${REFS}0000${PACK}`, PACK],
    [{ hasRefs: true, section }, REFS + REFUSAL, REFUSAL],
    [{ hasRefs: false, section }, REFUSAL, REFUSAL],
    [{ hasRefs: true, section }, REFS, ''],
    [{ hasRefs: true, section: undefined }, '', ''],
  ] as const) {
    t.equal(await textOf(answerAfter(piecesOf(answer), sent)), expected)
  }
})

t.test('a pack for other shallow commits is not sent, and its source is closed', async (t) => {
  let isClosed = false
  const body = piecesOf(`0000${PACK.repeat(9)}`, () => {
    isClosed = true
  })
  const sent = { hasRefs: false, section: digestOf(SECTION) }
  const error = await textOf(answerAfter(body, sent)).catch((cause: unknown) => cause)
  t.ok(isFailure(error, 'unavailable'))
  t.equal(isClosed, true)
})

t.test('an answer that is not read to its end closes its source', async (t) => {
  let isClosed = false
  const body = piecesOf(PACK.repeat(9), () => {
    isClosed = true
  })
  for await (const _ of answerAfter(body, { hasRefs: false, section: undefined })) break
  t.equal(isClosed, true)
})
