/** Waiting requests, ordered in turns between repositories. */

import t from 'tap'
import { WaitingLines } from '../../../gateway/packs/waiting-lines.js'

t.test(
  'repositories take turns, and requests ahead of a new one are counted accordingly',
  async (t) => {
    const lines = new WaitingLines()
    const order: string[] = []
    const add = (repository: string) => {
      const start = () => {
        order.push(repository)
        lines.remove(repository, start)
      }
      lines.add(repository, start)
    }
    for (const repository of ['busy', 'busy', 'busy', 'calm']) add(repository)
    t.equal(lines.size, 4)
    t.equal(lines.countAhead('busy'), 4)
    t.equal(lines.countAhead('calm'), 3)
    t.equal(lines.countAhead('new'), 2)
    while (lines.size > 0) lines.next()?.()
    t.strictSame(order, ['busy', 'calm', 'busy', 'busy'])
    t.equal(lines.next(), undefined)
  },
)
