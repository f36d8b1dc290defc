/** Digests of uploads are computed in a thread, which ends when it is idle or fails. */

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { createDigestThread } from '../../../gateway/pool/digests.js'

function aThread(t: Test, idleMs?: number) {
  const thread = createDigestThread(idleMs === undefined ? {} : { idleMs })
  t.teardown(() => thread.stop())
  return thread
}

function batchOf(text: string): Uint8Array<SharedArrayBuffer> {
  const bytes = Buffer.from(text)
  const batch = new Uint8Array(new SharedArrayBuffer(bytes.length))
  batch.set(bytes)
  return batch
}

function digestsOf(text: string) {
  const hex = (algorithm: string) => createHash(algorithm).update(text).digest('hex')
  return { md5: hex('md5'), sha1: hex('sha1'), sha256: hex('sha256'), sha512: hex('sha512') }
}

t.test('uploads whose batches alternate get their own digests', async (t) => {
  const { start } = aThread(t)
  const [one, two, empty] = [start(), start(), start()]
  const batch = batchOf('a')
  await one.update(batch)
  await Promise.all([one.update(batchOf('b')), two.update(batchOf('x'))])
  batch.set(batchOf('c'))
  await Promise.all([one.update(batch), two.update(batchOf('y'))])
  const all = await Promise.all([one.finish(), two.finish(), empty.finish()])
  t.strictSame(all, [digestsOf('abc'), digestsOf('xy'), digestsOf('')])
})

t.test('a thread that ended because it was idle is started again', async (t) => {
  const { start } = aThread(t, 5)
  for (const text of ['one', 'two']) {
    const [dropped, digests] = [start(), start()]
    await dropped.update(batchOf('left'))
    // Longer than the limit, which does not apply during an upload.
    await sleep(50)
    await digests.update(batchOf(text))
    dropped.drop()
    await sleep(50)
    t.strictSame(await digests.finish(), digestsOf(text))
    digests.drop()
    await sleep(50)
  }
})

t.test('digests that are not finished when the thread ends are refused', async (t) => {
  const thread = aThread(t)
  const [waiting, open] = [thread.start(), thread.start()]
  await Promise.all([waiting.update(batchOf('a')), open.update(batchOf('b'))])
  const errors = [waiting.finish().catch((thrown) => thrown)]
  await thread.stop()
  errors.push(open.update(batchOf('c')).catch((thrown) => thrown))
  for (const error of await Promise.all(errors)) {
    t.ok(isFailure(error, 'unavailable') && error.retryAfterSeconds === 1)
  }
  open.drop()
  const next = thread.start()
  t.strictSame(await next.finish(), digestsOf(''), 'the next upload gets a new thread')
})
