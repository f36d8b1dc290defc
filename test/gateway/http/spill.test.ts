/** Queued bytes beyond the memory limit go to an unnamed file and are read in order. */

import { readdirSync, readlinkSync } from 'node:fs'
import { t } from 'tap'
import { Spill } from '../../../gateway/http/spill.js'

t.test('bytes are read in order while more are added', async (t) => {
  const spill = new Spill()
  spill.append(Buffer.from('one '))
  spill.append(Buffer.from('two '))
  t.equal(Buffer.from(await spill.take(new Uint8Array(6))).toString(), 'one tw')
  spill.append(Buffer.from('three'))
  t.equal(spill.unreadBytes, 7)
  t.equal(Buffer.from(await spill.take(new Uint8Array(100))).toString(), 'o three')
  t.equal(spill.unreadBytes, 0)
  spill.close()
})

t.test('the file has no name and is deleted when it is closed, also during a read', async (t) => {
  const spill = new Spill()
  spill.append(Buffer.alloc(1_000))
  t.match(openBodies(), [/ \(deleted\)$/])
  const reading = spill.take(new Uint8Array(1_000))
  spill.close()
  t.equal((await reading).byteLength, 1_000)
  t.strictSame(openBodies(), [])
})

function openBodies(): readonly string[] {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.includes('gatehouse-body-'))
}
