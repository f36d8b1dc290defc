/** Answers that clients share: what is asked on behalf of a client, and what the client gets. */

import { t } from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { RecentHistories } from '../../../gateway/packs/recent-histories.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { ShallowUpdates } from '../../../gateway/packs/shallow-updates.js'
import { SharedAnswers } from '../../../gateway/packs/shared-answers.js'
import { SharedBases } from '../../../gateway/packs/shared-bases.js'
import { packetLine } from '../../helpers/git-requests.js'

const OWNER = { repositoryPath: '/r.git', client: () => 'ada' }
const STATE = { text: '', settingsText: '', isSettled: true }

/** Ids of a line of commits: number 0 is the first one. */
const idOf = (number: number) => String(number).padStart(40, '0')
const TIP = 9
const PACK = '000dpackfile\n0000'

/** Returns a function that answers a fetch of the tip, of whose exact answers some are long. */
async function answers(isLong: (lines: string) => boolean = () => false) {
  const references = await ReferenceList.parse(
    Buffer.from(`${packetLine(`${idOf(TIP)} refs/heads/main\n`)}0000`),
  )
  if (references === undefined) throw new Error('not a list')
  const histories = new RecentHistories(async () => [
    ...Array.from({ length: TIP }, (_, at) => [idOf(at + 1), idOf(at)]),
    [idOf(0)],
  ])
  await histories.read(OWNER, idOf(TIP), references)
  const updates = new ShallowUpdates(histories, {
    git: async () => undefined,
    small: async () => undefined,
  })
  const shared = new SharedAnswers(new SharedBases(histories), updates)
  return async (...more: readonly string[]) => {
    const lines = [`want ${idOf(TIP)}`, ...more]
    const request = normalFetch(lines, { version: 2, objectFormat: 'sha1', flags: FETCH_FLAGS })
    if (request === undefined) throw new Error('not a fetch')
    const exact: string[] = []
    const answer = await shared.answer({
      owner: OWNER,
      wanted: { request, state: STATE, references },
      name: request.text,
      fetchExactly: ({ request: { text } }) => {
        exact.push(text.split('\n').slice(2).join())
        const body = Buffer.from(isLong(text) ? 'x'.repeat(300_000) : PACK)
        return { command: 'fetch', outcome: 'miss', body, bytes: body.byteLength }
      },
    })
    return { own: request.text.split('\n').slice(2).join(), exact, body: String(answer?.body) }
  }
}

t.test('the acknowledgments of a client precede the pack that clients share', async (t) => {
  const answer = await answers()
  const have = `have ${idOf(TIP - 5)}`
  const shared = [`want ${idOf(TIP)},have ${idOf(TIP - 6)},done`]
  const acknowledged = `acknowledgments\n0031ACK ${idOf(TIP - 5)}\n000aready\n0001`
  t.match(await answer(have), { exact: shared, body: `${acknowledged}${PACK}` })
  t.match(await answer(have, 'done'), { exact: shared, body: PACK })
})

t.test('a client gets its own answer if the shared one is long', async (t) => {
  const answer = await answers((text) => text.includes(idOf(TIP - 6)))
  const have = `have ${idOf(TIP - 5)}`
  const { own, exact, body } = await answer(have, 'done')
  t.equal(exact.at(-1), own)
  t.equal(body, PACK)
})

t.test(
  'a client without commits or without all of their history gets its own answer',
  async (t) => {
    const answer = await answers()
    const have = `have ${idOf(TIP - 5)}`
    for (const lines of [
      ['done'],
      [have, `shallow ${idOf(TIP - 5)}`, 'done'],
      [have, 'deepen 1', 'filter blob:none', 'done'],
      [have, 'deepen-since 1500000000', 'done'],
      [have, 'wait-for-done'],
    ]) {
      const { own, exact } = await answer(...lines)
      t.strictSame(exact, [own])
    }
  },
)
