/** Work that exceeded a limit is refused from then on; work that failed otherwise is retried. */

import t from 'tap'
import {
  findRefusal,
  refusalKey,
  rememberingChunks,
  rememberRefusal,
} from '../../../cgi/process/refusals.js'
import { Failure, type FailureName } from '../../../conf/failures.js'

t.test('only an error caused by a limit is remembered, for identical work', async (t) => {
  const expected: readonly (readonly [FailureName, number])[] = [
    ['payload_too_large', 1],
    ['unavailable', 1],
    ['conflict', 2],
  ]
  for (const [name, runs] of expected) {
    const key = refusalKey('/r', ['work', name])
    let started = 0
    const work = async () => {
      started += 1
      throw new Failure(name, 'No.')
    }
    await t.rejects(rememberRefusal(key, work), { name: 'Error', failure: name })
    await t.rejects(rememberRefusal(key, work), { name: 'Error', failure: name, message: 'No.' })
    t.equal(started, runs, name)
  }
  t.equal(await rememberRefusal(refusalKey('/other', ['work', 'unavailable']), async () => 1), 1)
  await t.rejects(rememberRefusal('bug', () => Promise.reject(new Error('bug'))))
  t.equal(findRefusal('bug'), undefined)
})

t.test('chunks pass until the limit is exceeded, and the error is remembered', async (t) => {
  async function* chunks() {
    yield Buffer.from('a')
    throw new Failure('payload_too_large', 'No.')
  }
  const seen: string[] = []
  const read = async () => {
    for await (const chunk of rememberingChunks('stream', chunks())) seen.push(String(chunk))
  }
  await t.rejects(read(), { name: 'Error', failure: 'payload_too_large' })
  t.strictSame(seen, ['a'])
  t.match(findRefusal('stream'), { name: 'Error', failure: 'payload_too_large', message: 'No.' })
})
