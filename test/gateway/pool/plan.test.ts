/** Planning of workflow files in a pool: the answers if the pool refuses the task. */

import t from 'tap'
import { planIn } from '../../../gateway/pool/plan.js'
import { type RefusalReason, TaskRefused } from '../../../gateway/pool/pool.js'

const OCCURRENCE = { event: 'push', reference: 'refs/heads/main', changedPaths: undefined } as const
const INPUT = { text: '', occurrence: OCCURRENCE }

/** Plans a file in a pool that refuses it. A real pool is busy only for moments. */
function planRefused(reason: RefusalReason) {
  const run = async () => {
    throw new TaskRefused(reason)
  }
  return planIn({ run }).planFile(INPUT, 1)
}

t.test('a file is faulty if it takes too long, and tried again if the pool is busy', async (t) => {
  const fault = /too much time or memory/
  t.match(await planRefused('deadline'), { kind: 'faulty', fault, isStarted: false })
  t.match(await planRefused('memory'), { kind: 'faulty', fault })
  await t.rejects(planRefused('busy'), { message: 'Too many workflow files are being read.' })
})
