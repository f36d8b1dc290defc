/** Runtime tokens: clients decode them without a key, and the server accepts its own only. */

import { createHmac } from 'node:crypto'
import t from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { readRuntimeToken, runtimeTokenOf } from '../../../gateway/auth/runtime-token.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 0, 2)
const SUBJECT = { taskId: 3, jobId: 2, runId: 1, claimedAtMs: NOW_MS }

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

t.test('clients read the ids of the run and the job in a runtime token', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const token = runtimeTokenOf(secret, SUBJECT)
  const [header = '', claims = ''] = token.split('.')
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  t.strictSame(decode(header), { alg: 'HS256', typ: 'JWT' })
  t.match(decode(claims), { scp: 'Actions.Results:1:2', TaskID: 3, RunID: 1, JobID: 2 })
  t.equal(runtimeTokenOf(secret, SUBJECT), token, 'it is the same each time')
  t.equal(readRuntimeToken(secret, token, NOW_MS), 3)
})

t.test('a runtime token is refused before the claim of its task and after five days', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const token = runtimeTokenOf(secret, SUBJECT)
  t.equal(readRuntimeToken(secret, token, NOW_MS - DAY_MS), undefined)
  t.equal(readRuntimeToken(secret, token, NOW_MS + 5 * DAY_MS - 1), 3)
  t.equal(readRuntimeToken(secret, token, NOW_MS + 5 * DAY_MS), undefined)
})

t.test('a forged or malformed runtime token is refused', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const other = await openInstanceSecret(await temporaryFolder(t))
  const [header = '', claims = '', signature = ''] = runtimeTokenOf(secret, SUBJECT).split('.')
  const forged = encoded({ TaskID: 4, nbf: 0, exp: 9_999_999_999 })
  const none = encoded({ alg: 'none', typ: 'JWT' })
  const emptyKey = createHmac('sha256', '').update(`${header}.${forged}`).digest('base64url')
  for (const token of [
    '',
    'a.b.c',
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${signature}.`,
    `${header}.${claims}.${signature.slice(0, -2)}`,
    `${header}.${forged}.${signature}`,
    `${header}.${forged}.${emptyKey}`,
    `${none}.${claims}.${signature}`,
    `${none}.${forged}.`,
    runtimeTokenOf(other, SUBJECT),
    `${header}.${claims}.${secret.sign(`${header}.${claims}`, 'other words').toString('base64url')}`,
  ]) {
    t.equal(readRuntimeToken(secret, token, NOW_MS), undefined, token)
  }
})
