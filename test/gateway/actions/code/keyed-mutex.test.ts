/** Mutexes by key: work with the same key is serialized, other work is concurrent. */

import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createKeyedMutex } from '../../../../gateway/actions/code/keyed-mutex.js'

t.test('work with the same key runs one after the other, also after a failure', async (t) => {
  const withKey = createKeyedMutex()
  const steps: string[] = []
  const work = (name: string, ms: number) => async () => {
    steps.push(`${name} begins`)
    await delay(ms)
    steps.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
    return name
  }
  const both = [
    withKey('x', work('a', 20)),
    withKey('x', work('b', 5)),
    withKey('x', work('c', 1)),
    withKey('y', work('d', 1)),
  ]
  const ends = await Promise.allSettled(both)
  t.strictSame(
    ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason))),
    ['a', 'Error: b fails', 'c', 'd'],
  )
  const ofX = steps.filter((line) => !line.startsWith('d'))
  t.strictSame(
    ofX,
    ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  )
  t.ok(steps.indexOf('d ends') < steps.indexOf('a ends'), 'work with another key does not wait')
  t.equal(await withKey('x', async () => 'again'), 'again')
})
