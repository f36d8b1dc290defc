/** Git processes run under the resource limits of their kind of work. */

import t from 'tap'
import { findGit, runGit, startGit } from '../../../cgi/process/git.js'
import { limitedCommand, limitFailure } from '../../../cgi/process/git-limits.js'
import { runToEnd } from '../../../cgi/process/run.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const PLAIN = { environment: { PATH: '/usr/bin:/bin' }, timeoutMs: 30_000 }
const ENDED = { exitCode: undefined, signal: undefined, errorText: '', timedOut: false }

t.test('a process and its children have the resource limits of their kind of work', async (t) => {
  const limiter = { ...ours, memoryBytesMax: 64 << 20 }
  const script = 'sh -c "ulimit -d; ulimit -St; ulimit -Ht"'
  for (const [work, kib, seconds] of [
    ['merge', 65_536, 15],
    ['upkeep', 262_144, 3_600],
  ] as const) {
    const [file, ...args] = limitedCommand(limiter, work, ['/bin/sh', '-c', script])
    const { output } = await runToEnd(file, args, { ...PLAIN, outputBytesMax: 99 })
    t.equal(output.toString(), `${kib}\n${seconds}\n${seconds + 5}\n`, work)
  }
})

t.test('without prlimit a command runs unchanged', async (t) => {
  const command = ['/bin/true', 'x'] as const
  t.strictSame(limitedCommand({ ...ours, prlimit: undefined }, 'read', command), command)
})

t.test('git that needs more memory than its limit is refused as too large', async (t) => {
  const copy = await newWorkingCopy(t)
  const input = Buffer.alloc(40 << 20)
  const small = { ...ours, memoryBytesMax: 16 << 20 }
  const args = ['-c', 'core.bigFileThreshold=1g', 'hash-object', '-w', '--stdin']
  await t.rejects(runGit(small, args, { cwd: copy.path, input }), {
    name: 'Error',
    failure: 'payload_too_large',
    message: /more memory/,
  })
  t.match(String(await runGit(ours, args, { cwd: copy.path, input })), /^[0-9a-f]{40}$/m)
})

t.test('a process that runs out of CPU time is refused', async (t) => {
  const spin = ['/bin/sh', '-c', 'ulimit -St 1; while :; do :; done'] as const
  const running = await startGit(ours, 'merge', spin, PLAIN)
  running.input.end()
  const read = async () => {
    for await (const _ of running.output) t.fail('no output is expected')
  }
  await t.rejects(read(), { name: 'Error', failure: 'payload_too_large', message: /more CPU time/ })
})

t.test('the error for each end of a process says if a retry can succeed', async (t) => {
  const failureOf = (end: object) => limitFailure({ ...ENDED, ...end })?.failure
  t.equal(failureOf({ timedOut: true, signal: 'SIGTERM' }), 'unavailable')
  t.equal(failureOf({ signal: 'SIGSEGV' }), 'payload_too_large')
  const complaint = 'fatal: Out of memory, malloc failed (tried to allocate 503316480 bytes)\n'
  t.equal(failureOf({ exitCode: 128, errorText: complaint }), 'payload_too_large')
  t.equal(failureOf({ exitCode: 128, errorText: 'fatal: bad object' }), undefined)
  t.equal(failureOf({ signal: 'SIGKILL' }), undefined)
})
