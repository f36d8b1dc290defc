/** Long work yields to the event loop after some time, not at every step. */

import t from 'tap'
import { createYielder } from '../../../registry/archive/yielder.js'

t.test('the event loop runs after each twenty milliseconds of work', async (t) => {
  let clockMs = 0
  let ticks = 0
  const yieldIfDue = createYielder(() => clockMs)
  const count = () => {
    ticks += 1
    others = setImmediate(count)
  }
  let others = setImmediate(count)
  t.teardown(() => clearImmediate(others))
  const work = async (steps: number, stepMs: number) => {
    const before = ticks
    for (let step = 0; step < steps; step += 1) {
      clockMs += stepMs
      await yieldIfDue()
    }
    return ticks - before
  }
  t.equal(await work(19, 1), 0)
  t.equal(await work(1, 1), 1)
  t.equal(await work(100, 1), 5)
  t.equal(await work(3, 50), 3)
})
