/** Child processes stream in both directions, and their whole group ends. */

import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { listProcesses } from '../../../cgi/process/process-table.js'
import {
  type ProcessOptions,
  type RunningProcess,
  runToEnd,
  startProcess,
} from '../../../cgi/process/run.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'

/** Number of processes whose ends are tried in five ways. */
const PROCESSES = isFullSize ? 200 : 60

/** Upper bound for one second, with a margin for a busy machine. */
const BUSY_SECOND_MS = 2_000

/** Makes this process large, so that the launcher starts its programs; journeys have small ones. */
const ballast = Buffer.alloc(160 << 20, 1)
t.teardown(() => ballast.fill(0))

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

const PLAIN: ProcessOptions = { environment: { PATH: '/usr/bin:/bin' }, timeoutMs: 30_000 }

function shell(script: string, options: Partial<ProcessOptions> = {}): Promise<RunningProcess> {
  return startProcess('/bin/sh', ['-c', script], { ...PLAIN, ...options })
}

async function readAll(output: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of output) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** A leader, a child and a grandchild that ignore SIGTERM; each runs `sleep` some time later. */
const STUBBORN = `trap '' TERM
sh -c "trap '' TERM; sh -c \\"trap '' TERM; echo ready; sleep 60; sleep 60\\" & sleep 60; sleep 60" &
sleep 60; sleep 60`

async function startStubborn(options: Partial<ProcessOptions> = {}) {
  const running = await shell(STUBBORN, options)
  const chunks = running.output[Symbol.asyncIterator]()
  const { value } = await chunks.next()
  if (String(value) !== 'ready\n') throw new Error('the processes did not come up')
  return { running, chunks }
}

async function countMembers(groupId: number | undefined): Promise<number> {
  return (await listProcesses()).filter((row) => row.groupId === groupId).length
}

t.test(
  'a process takes input, gives output, and reports its exit code and error text',
  async (t) => {
    const running = await shell('cat; echo complaint >&2; exit 3')
    t.equal(await running.input.write(Buffer.from('hello')), true)
    running.input.end()
    t.equal(await readAll(running.output), 'hello')
    t.same(await running.ended, {
      exitCode: 3,
      signal: undefined,
      errorText: 'complaint\n',
      timedOut: false,
    })
  },
)

t.test('output that is read only after the exit is complete', async (t) => {
  const running = await shell('echo late')
  await running.ended
  await delay(50)
  t.equal(await readAll(running.output), 'late\n')
})

t.test('a process has only the environment variables it was given', async (t) => {
  const { output } = await runToEnd('/usr/bin/env', ['-0'], {
    environment: { ONE: '1' },
    timeoutMs: 5_000,
    outputBytesMax: 1_000_000,
  })
  const names = output.toString().split('\0').filter(Boolean)
  // The test runner adds its own variables to every process.
  const given = names.filter((line) => !/^(?:_TAPJS|NODE_OPTIONS|TAP)/.test(line))
  t.same(given.sort(), ['ONE=1'])
})

t.test(
  'every way to end a process kills a group that ignores SIGTERM within a second',
  async (t) => {
    const endings: Record<
      string,
      (stubborn: Awaited<ReturnType<typeof startStubborn>>) => unknown
    > = {
      kill: ({ running }) => running.kill(),
      'an early return': ({ chunks }) => chunks.return?.(),
      'kill -9 of the leader alone': ({ running }) => process.kill(running.pid ?? 0, 'SIGKILL'),
    }
    for (const [name, end] of Object.entries(endings)) {
      const stubborn = await startStubborn()
      t.ok((await countMembers(stubborn.running.pid)) >= 3, `${name}: the group runs`)
      const startedAt = performance.now()
      end(stubborn)
      t.equal((await stubborn.running.ended).signal, 'SIGKILL')
      t.ok(
        performance.now() - startedAt < BUSY_SECOND_MS,
        `${name}: ${performance.now() - startedAt} ms`,
      )
      t.equal(await countMembers(stubborn.running.pid), 0, `${name}: the group has ended`)
    }
  },
)

t.test('an abort and a timeout end the group, and reading the output throws', async (t) => {
  const aborting = new AbortController()
  const aborted = await startStubborn({ signal: aborting.signal })
  aborting.abort()
  await t.rejects(aborted.chunks.next(), /was ended by SIGKILL/)
  t.equal(await countMembers(aborted.running.pid), 0)

  const late = await startStubborn({ timeoutMs: 700 })
  await t.rejects(late.chunks.next(), /ran out of time/)
  t.match(await late.running.ended, { timedOut: true, signal: 'SIGKILL' })
  t.equal(await countMembers(late.running.pid), 0)

  const never = await shell('sleep 60', { signal: AbortSignal.abort() })
  t.equal(never.pid, undefined, 'no process is started after an abort')
  await t.rejects(readAll(never.output), /did not start: it was cancelled/)
})

t.test('a process that exits with 0 after SIGTERM is still an interrupted one', async (t) => {
  const running = await shell("trap 'exit 0' TERM; echo part; while :; do sleep 0.05; done")
  const chunks = running.output[Symbol.asyncIterator]()
  t.equal(String((await chunks.next()).value), 'part\n')
  running.kill()
  await t.rejects(chunks.next(), /was cut off/)
})

t.test(
  'write returns false if the process has closed its input, and nothing is thrown',
  async (t) => {
    const running = await shell('exec <&-; echo closed; sleep 0.2')
    await running.output[Symbol.asyncIterator]().next()
    const chunk = Buffer.alloc(1 << 20)
    let isRead = true
    for (let round = 0; round < 5 && isRead; round += 1) isRead = await running.input.write(chunk)
    t.equal(isRead, false)
    running.input.end()
    t.equal((await running.ended).exitCode, 0)
    t.equal(await running.input.write(chunk), false, 'writing to a dead process returns false')
  },
)

t.test('a pending write is released when the process dies', async (t) => {
  const running = await shell('sleep 60')
  const written = running.input.write(Buffer.alloc(10 << 20))
  running.kill()
  t.equal(await written, false)
})

t.test('a program that cannot be started is reported by its end', async (t) => {
  const missing = await startProcess('/nonexistent/program', [], PLAIN)
  t.equal(missing.pid, undefined)
  t.equal(await missing.input.write(Buffer.from('x')), false)
  await t.rejects(readAll(missing.output), /did not start: .*ENOENT/)
  t.match(await missing.ended, { exitCode: undefined, errorText: /ENOENT/ })
  missing.kill()
  const nowhere = await startProcess('/bin/true', [], { ...PLAIN, cwd: '/nonexistent' })
  t.match(await nowhere.ended, { exitCode: undefined, errorText: /.+/ })
  await t.rejects(runToEnd('/etc/passwd', [], { ...PLAIN, outputBytesMax: 1 }), /did not start/)
})

t.test('long error output is cut and does not block the process', async (t) => {
  const running = await shell('head -c 3000000 /dev/zero | tr "\\0" x >&2')
  await readAll(running.output)
  const { errorText, exitCode } = await running.ended
  t.equal(exitCode, 0)
  t.equal(errorText.length, 65_536)
})

t.test('a child process that outlives its leader is killed', async (t) => {
  const running = await shell('sleep 60 >/dev/null 2>&1 <&- & echo done')
  t.equal(await readAll(running.output), 'done\n')
  await running.ended
  t.equal(await countMembers(running.pid), 0)
})

t.test('a slow reader slows the process, and memory does not grow', async (t) => {
  const running = await shell('head -c 300000000 /dev/zero')
  const before = process.memoryUsage.rss()
  let sizeBytes = 0
  let peakBytes = 0
  for await (const chunk of running.output) {
    sizeBytes += chunk.length
    if (sizeBytes % 7 === 0) await delay(1)
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }
  t.equal(sizeBytes, 300_000_000)
  t.ok(peakBytes - before < 64 << 20, `${(peakBytes - before) >> 20} MiB more`)
})

t.test('while the reader pauses, no more is written than the pipes hold', async (t) => {
  const folder = await temporaryFolder(t)
  const progress = join(folder, 'progress')
  const running = await shell(
    `i=0; while [ $i -lt 100 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > ${progress}; done`,
  )
  await running.output[Symbol.asyncIterator]().next()
  await delay(300)
  const written = Number(await readFile(progress, 'utf8')) * 65_536
  t.ok(written <= 1 << 20, `${written} bytes`)
  running.kill()
  await running.ended
})

t.test('output beyond the limit of a short command is an error and ends the command', async (t) => {
  await t.rejects(
    runToEnd('/usr/bin/yes', [], { ...PLAIN, outputBytesMax: 100_000 }),
    /wrote more than 100000 bytes/,
  )
})

t.test('a short command reads pieces that are made while it reads them', async (t) => {
  const options = { ...PLAIN, outputBytesMax: 2 << 20 }
  let made = 0
  function* pieces(count: number) {
    for (; made < count; made += 1) yield `${made}`.padEnd(1_023).concat('\n')
  }
  const { output } = await runToEnd('/bin/cat', [], { ...options, input: pieces(1_500) })
  t.equal(output.length, 1_500 << 10)
  t.match(output.toString(), /^0 +\n1 +\n.*\n1499 +\n$/s)
  made = 0
  const first = ['-c', 'read -r line; sleep 0.3; echo "$line"']
  await runToEnd('/bin/sh', first, { ...options, input: pieces(100_000) })
  t.ok(made < 500, `${made} pieces were made for a command that read one`)
})

t.test('an error of the input of a short command ends the command and is thrown', async (t) => {
  function* pieces() {
    yield 'one\n'
    throw new Error('no more')
  }
  const options = { ...PLAIN, outputBytesMax: 100, input: pieces() }
  await t.rejects(runToEnd('/bin/sleep', ['20'], options), { message: 'no more' })
})

t.test('processes that end in different ways leak no file descriptor', async (t) => {
  const countOpen = () => readdirSync('/proc/self/fd').length
  await endInOneWay(0)
  const before = countOpen()
  for (let round = 0; round < PROCESSES; round += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => endInOneWay(round + index)))
  }
  await delay(100)
  t.ok(countOpen() <= before + 2, `${before} then ${countOpen()}`)
  const children = (await listProcesses()).filter((row) =>
    /sh -c cat; sleep 0\.01/.test(row.command),
  )
  t.equal(children.length, 0)
  t.same(unhandled, [])
})

/**
 * Ends a process by kill, abort, early return, end of input or broken input, depending on the
 * round.
 */
async function endInOneWay(round: number): Promise<void> {
  const aborting = new AbortController()
  const running = await shell('cat; sleep 0.01', { signal: aborting.signal })
  const chunks = running.output[Symbol.asyncIterator]()
  const pending = chunks.next().catch(() => undefined)
  void running.input.write(Buffer.alloc(100_000))
  if (round % 3 === 0) await delay(round % 7)
  const ways = [
    () => running.kill(),
    () => aborting.abort(),
    () => chunks.return?.(),
    () => running.input.end(),
    () => process.kill(running.pid ?? 0, 'SIGKILL'),
  ]
  void ways[round % ways.length]?.()
  await pending
  for (;;) {
    const result = await chunks.next().catch(() => undefined)
    if (result === undefined || result.done) break
  }
  await running.ended
}
