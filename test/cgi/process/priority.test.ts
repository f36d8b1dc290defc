/** Priorities of processes, as the kernel reports them. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import t from 'tap'
import { lowerPriority, TRANSFER_NICENESS, UPKEEP_NICENESS } from '../../../cgi/process/priority.js'
import { until } from '../../helpers/server-processes.js'

t.test('the priority of a process and of its session is lowered', async (t) => {
  const child = spawn('sleep', ['60'], { detached: true })
  t.teardown(() => child.kill('SIGKILL'))
  const pid = child.pid ?? 0
  lowerPriority(pid, UPKEEP_NICENESS)
  t.equal(getPriority(pid), UPKEEP_NICENESS)
  const file = `/proc/${pid}/autogroup`
  if (!existsSync(file)) return t.comment('skipped: this kernel has no autogroups')
  const read = () => readFile(file, 'utf8')
  const isLowered = (text: string) => text.trim().endsWith(`nice ${UPKEEP_NICENESS}`)
  t.match(await until(read, isLowered, 5_000), `nice ${UPKEEP_NICENESS}`)
})

t.test('a process with a lower priority keeps it', async (t) => {
  const child = spawn('nice', ['-n', '15', 'sleep', '60'])
  t.teardown(() => child.kill('SIGKILL'))
  const pid = child.pid ?? 0
  const before = await until(
    async () => getPriority(pid),
    (nice) => nice >= 15,
    10_000,
  )
  lowerPriority(pid, TRANSFER_NICENESS)
  t.equal(getPriority(pid), before)
})

t.test(
  'lowering the priority of a process that never started or has ended does nothing',
  async (t) => {
    lowerPriority(undefined, TRANSFER_NICENESS)
    lowerPriority(2 ** 22 + 1, TRANSFER_NICENESS)
    t.pass('nothing is thrown')
  },
)
