/** Messages between our processes are distinguished from those of libraries on the same channel. */

import t from 'tap'
import { isSupervisorMessage, isWorkerMessage } from '../../gateway/messages.js'

t.test('each side recognizes its own messages only', async (t) => {
  for (const kind of ['listening', 'failed', 'metrics-wanted']) {
    t.equal(isWorkerMessage({ kind }), true, kind)
    t.equal(isSupervisorMessage({ kind }), false, kind)
  }
  t.equal(isSupervisorMessage({ kind: 'metrics', id: 1, text: '' }), true)
  t.equal(isWorkerMessage({ kind: 'metrics', id: 1, text: '' }), false)
  t.equal(isSupervisorMessage({ kind: 'stop', times: {} }), true)
  t.equal(isWorkerMessage({ kind: 'stop', times: {} }), false)
  for (const foreign of [undefined, null, 'listening', 7, {}, [], { channel: 'x' }, { kind: {} }]) {
    t.equal(isWorkerMessage(foreign), false)
    t.equal(isSupervisorMessage(foreign), false)
  }
})
