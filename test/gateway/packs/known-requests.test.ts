/** Parsed requests are found by their bytes and the version of the protocol. */

import t from 'tap'
import { KnownRequests } from '../../../gateway/packs/known-requests.js'
import { normalize } from '../../../gateway/packs/normal-request.js'
import { fetchBody, packetLine } from '../../helpers/git-requests.js'

const OID = '1'.repeat(40)
const OTHER_OID = '2'.repeat(40)

/** A request of version 0, which in version 2 would be malformed. */
const V0_BODY = Buffer.from(`${packetLine(`want ${OID} ofs-delta\n`)}0000${packetLine('done\n')}`)

t.test('a request is read as one of its own version', async (t) => {
  const requests = new KnownRequests()
  for (const [body, version] of [
    [V0_BODY, 0],
    [fetchBody(OID), 2],
  ] as const) {
    const other = version === 0 ? 2 : 0
    t.strictSame(requests.read(body, version), normalize(body, version))
    t.equal(requests.read(body, other), undefined, 'directly after the same bytes')
  }
  t.equal(requests.read(V0_BODY, 2), undefined, 'bytes of an earlier request')
})

t.test('requests that differ in one byte are different, short or long', async (t) => {
  const haves = Array.from({ length: 60 }, (_, at) => `have ${String(at).padStart(40, '0')}`)
  for (const lines of [[], haves]) {
    const requests = new KnownRequests()
    const bodies = [OID, OTHER_OID].map((oid) => fetchBody(oid, ...lines))
    for (const round of ['first', 'again']) {
      const found = bodies.map((body) => requests.read(body, 2))
      t.strictSame(
        found,
        bodies.map((body) => normalize(body, 2)),
        `${lines.length}, ${round}`,
      )
    }
  }
})
