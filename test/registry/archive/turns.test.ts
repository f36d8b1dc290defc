/** Long work lets others have their turn, and not at every step. */

import t from 'tap'
import { createTurns } from '../../../registry/archive/turns.js'

t.test('others have a turn after every twenty milliseconds of work', async (t) => {
  let clockMs = 0
  let turns = 0
  const turn = createTurns(() => clockMs)
  const count = () => {
    turns += 1
    others = setImmediate(count)
  }
  let others = setImmediate(count)
  t.teardown(() => clearImmediate(others))
  const work = async (steps: number, stepMs: number) => {
    const before = turns
    for (let step = 0; step < steps; step += 1) {
      clockMs += stepMs
      await turn()
    }
    return turns - before
  }
  t.equal(await work(19, 1), 0)
  t.equal(await work(1, 1), 1)
  t.equal(await work(100, 1), 5)
  t.equal(await work(3, 50), 3)
})
