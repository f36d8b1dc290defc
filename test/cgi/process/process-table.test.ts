/** Reads of /proc, and the number of files they keep open. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { hasRunningMember, listProcesses } from '../../../cgi/process/process-table.js'

const GROUPS = 300
/** Number of files that one scan of /proc and the test process itself may open. */
const FILES_MAX = 60

t.test('a process group is running until its last process has ended', async (t) => {
  const child = spawn('sleep', ['60'], { detached: true })
  const pid = child.pid ?? 0
  t.equal(await hasRunningMember(pid), true)
  t.match(
    (await listProcesses()).find((row) => row.pid === pid),
    { groupId: pid, command: 'sleep 60 ' },
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.equal(await hasRunningMember(pid), false)
})

t.test('concurrent checks of many groups share one scan of /proc', async (t) => {
  const files = async () => (await readdir('/proc/self/fd')).length
  const before = await files()
  const asking = Array.from({ length: GROUPS }, () => hasRunningMember(process.pid))
  let isDone = false
  const answers = Promise.all(asking).finally(() => {
    isDone = true
  })
  let peak = 0
  while (!isDone) {
    peak = Math.max(peak, (await files()) - before)
    await turn()
  }
  t.equal(new Set(await answers).size, 1)
  t.ok(peak < FILES_MAX, `${peak} more files were open`)
})
