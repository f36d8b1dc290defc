/** Key lookups among very many keys; sshd runs the lookup twice at every login. */

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { t } from 'tap'
import { findUser } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { isFullSize } from '../helpers/test-size.js'

const KEYS = isFullSize ? 100_000 : 10_000
const LOOKUPS = 200

t.test('a registered key is found among very many, and an unknown one is not', async (t) => {
  const fixture = await startSshGatehouse(t, { workers: 1 })
  const ada = await fixture.addPerson('ada')
  const unknown = await fixture.newCaller('unknown')
  const emptyMs = measureLookups(fixture, ada)
  await fixture.ask((db) => addKeys(db, KEYS))
  const fullMs = measureLookups(fixture, ada)
  const line = lookUp(fixture, ada)
  t.match(line, /^restrict,command="/)
  t.ok(line.includes(` ${ada.fingerprint}" ${ada.publicKey.split(' ', 2).join(' ')}`), line)
  t.equal(lookUp(fixture, unknown), '')
  t.comment(`p95 of lookups: ${emptyMs} ms with one key, ${fullMs} ms with ${KEYS}`)
})

/** Returns the helper's output for a key. */
function lookUp({ sshd, gatehouse }: SshGatehouse, { publicKey }: Caller): string {
  const [type = '', key = ''] = publicKey.split(' ')
  const socket = join(gatehouse.dataDir, 'run/ssh.sock')
  return execFileSync(sshd.helper, ['keys', socket, type, key], { encoding: 'utf8' })
}

/** Measures the 95th percentile of lookups in ms, including the start of the helper. */
function measureLookups(fixture: SshGatehouse, caller: Caller): string {
  const times: number[] = []
  for (let count = 0; count < LOOKUPS; count += 1) {
    const startedAt = performance.now()
    lookUp(fixture, caller)
    times.push(performance.now() - startedAt)
  }
  times.sort((one, other) => one - other)
  return (times[Math.floor(LOOKUPS * 0.95)] ?? 0).toFixed(1)
}

/** Inserts keys as the API would store them, in one transaction. */
async function addKeys(db: Database, count: number): Promise<void> {
  const user = await findUser(db, 'ada')
  const head = Buffer.concat([lengthOf(11), Buffer.from('ssh-ed25519'), lengthOf(32)])
  const rows = Array.from({ length: count }, (_, number) => {
    const blob = Buffer.concat([head, randomBytes(32)])
    const digest = createHash('sha256').update(blob).digest('base64').replace('=', '')
    return {
      fingerprint: `SHA256:${digest}`,
      algorithm: 'ssh-ed25519',
      base64: blob.toString('base64'),
      user_id: user?.id,
      title: `key ${number}`,
      comment: '',
      created_at: Date.now(),
      last_used_at: null,
    }
  })
  await db.transaction(async (trx) => trx.batchInsert('ssh_keys', rows, 100))
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes)
  return length
}
