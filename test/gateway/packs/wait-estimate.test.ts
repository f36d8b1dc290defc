/** Waiting times, estimated from the rate at which slots became free. */

import t from 'tap'
import { WaitEstimate } from '../../../gateway/packs/wait-estimate.js'

t.test('there is no estimate before all slots became free once', async (t) => {
  const estimate = new WaitEstimate()
  const ask = (nowMs: number) => estimate.waitMs(nowMs, { aheadCount: 9, placesMax: 6 })
  estimate.begin(1_000)
  estimate.begin(5_000)
  t.equal(ask(2_000), undefined)
  for (let place = 1; place <= 5; place += 1) estimate.note(1_000 + place * 100, 6)
  t.equal(ask(1_500), undefined)
  estimate.note(1_600, 6)
  t.equal(ask(1_600), 1_000)
  estimate.end()
  t.equal(ask(1_600), undefined)
})

t.test(
  'the estimate follows the rate of the last two rounds and grows while no slot becomes free',
  async (t) => {
    const estimate = new WaitEstimate()
    const ask = (nowMs: number) => estimate.waitMs(nowMs, { aheadCount: 0, placesMax: 4 })
    estimate.begin(0)
    for (let place = 1; place <= 20; place += 1) estimate.note(place * 1_000, 4)
    t.equal(ask(20_000), 1_000)
    for (let place = 1; place <= 20; place += 1) estimate.note(20_000 + place * 10, 4)
    t.equal(ask(20_200), 10)
    t.equal(ask(20_280), 20)
  },
)
