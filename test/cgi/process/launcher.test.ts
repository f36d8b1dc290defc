/** Commands run alike if this process starts them and if the launcher does. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { launcherPid } from '../../../cgi/process/launcher.js'
import { childrenCpuSeconds, listProcesses } from '../../../cgi/process/process-table.js'
import {
  type ProcessGroup,
  spawnByExeca,
  spawnByLauncher,
  spawnProcessGroup,
} from '../../../cgi/process/spawn-group.js'
import { temporaryFolder } from '../../helpers/temporary.js'

type Spawn = (
  file: string,
  args: readonly string[],
  options: Parameters<typeof spawnByExeca>[2],
) => ProcessGroup | Promise<ProcessGroup>

const ENVIRONMENT = { PATH: '/usr/bin:/bin' }

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Runs a script with input; returns its exit and output. */
async function runScript(spawn: Spawn, script: string, input: string | Buffer = '') {
  const group = await spawn('/bin/sh', ['-c', script], { environment: ENVIRONMENT })
  group.stdin.on('error', () => {}).end(input)
  const [output, errorText, exit] = await Promise.all([
    readAll(group.stdout),
    readAll(group.stderr),
    group.exit,
  ])
  return { output, errorText: errorText.toString(), exit }
}

/** Starts a command by the launcher. Throws if there is none. */
async function launched(...args: Parameters<Spawn>): Promise<ProcessGroup> {
  const group = await spawnByLauncher(...args)
  if (group === undefined) throw new Error('there is no launcher')
  return group
}

const STARTERS: Readonly<Record<string, Spawn>> = {
  'this process': spawnProcessGroup,
  'this process by execa': spawnByExeca,
  'the launcher': launched,
}

for (const [starter, spawn] of Object.entries(STARTERS)) {
  const test = (name: string, run: (t: Test) => Promise<void>) => t.test(`${starter}: ${name}`, run)

  test('a command takes its input to the end, and gives output, errors and exit code', async (t) => {
    const result = await runScript(spawn, 'cat; echo complaint >&2; exit 3', 'hello')
    t.equal(result.output.toString(), 'hello')
    t.equal(result.errorText, 'complaint\n')
    t.same(result.exit, { exitCode: 3, signal: undefined })
  })

  test('a command has only the given environment', async (t) => {
    const { output } = await runScript(spawn, 'env | grep -v "^\\(PWD\\|SHLVL\\|_\\)="')
    t.equal(output.toString(), 'PATH=/usr/bin:/bin\n')
  })

  test('large input and output pass unchanged', async (t) => {
    const input = Buffer.alloc(8 << 20, 'gatehouse ')
    const { output } = await runScript(spawn, 'cat', input)
    t.ok(output.equals(input))
  })

  test('a command that reads no input ends without an error', async (t) => {
    const { exit } = await runScript(spawn, 'exec <&-; exit 4', Buffer.alloc(1 << 20))
    t.same(exit, { exitCode: 4, signal: undefined })
  })

  test('a write fails after a running command has closed its input', async (t) => {
    const script = 'exec <&-; echo closed; sleep 60'
    const group = await spawn('/bin/sh', ['-c', script], { environment: ENVIRONMENT })
    await group.stdout[Symbol.asyncIterator]().next()
    group.stdin.on('error', () => {})
    const error = await new Promise((resolve) => group.stdin.write(Buffer.alloc(1 << 20), resolve))
    t.type(error, Error)
    process.kill(-(group.pid ?? 0), 'SIGKILL')
    await group.exit
  })

  test('a command leads a process group, and its signal is reported', async (t) => {
    const group = await spawn('/bin/sleep', ['60'], { environment: ENVIRONMENT })
    const row = (await listProcesses()).find(({ pid }) => pid === group.pid)
    t.equal(row?.groupId, group.pid)
    process.kill(-(group.pid ?? 0), 'SIGKILL')
    t.same(await group.exit, { exitCode: undefined, signal: 'SIGKILL' })
  })

  test('a missing program and a missing folder are reported', async (t) => {
    const missing = await spawn('/nonexistent/program', [], { environment: ENVIRONMENT })
    t.equal(missing.pid, undefined)
    t.match((await missing.exit).startError, /ENOENT/)
    const options = { environment: ENVIRONMENT, cwd: '/nonexistent' }
    const nowhere = await spawn('/bin/true', [], options)
    t.match((await nowhere.exit).startError, /\/nonexistent|ENOENT/)
  })

  test('concurrent commands keep their own streams', async (t) => {
    const numbers = Array.from({ length: 40 }, (_, number) => number)
    const run = async (number: number) => (await runScript(spawn, `echo ${number}`)).output
    const outputs = await Promise.all(numbers.map(run))
    t.same(outputs.map(Number), numbers)
  })
}

t.test('the CPU time of commands that the launcher started is counted', async (t) => {
  const before = await childrenCpuSeconds()
  await runScript(launched, 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done')
  t.ok((await childrenCpuSeconds()) - before >= 0.05)
})

t.test(
  'if the launcher ends, its commands fail, and the next one has a new launcher',
  async (t) => {
    const group = await launched('/bin/sleep', ['60'], { environment: ENVIRONMENT })
    const pid = launcherPid() ?? 0
    process.kill(pid, 'SIGKILL')
    t.match(await group.exit, { exitCode: undefined, startError: 'the launcher ended' })
    process.kill(-(group.pid ?? 0), 'SIGKILL')
    const { output } = await runScript(launched, 'echo again')
    t.equal(output.toString(), 'again\n')
    t.not(launcherPid(), pid)
  },
)

t.test('the launcher ignores the signals that end this process, and ends with it', async (t) => {
  const module = new URL('../../../cgi/process/', import.meta.url).href
  const script = `
    const { spawnByLauncher } = await import('${module}spawn-group.js')
    const { launcherPid } = await import('${module}launcher.js')
    const run = async (text) => {
      const group = await spawnByLauncher('/bin/echo', [text], { environment: {} })
      for await (const chunk of group.stdout) process.stdout.write(chunk)
      await group.exit
    }
    await run('first')
    process.kill(launcherPid(), 'SIGTERM')
    await run('second')
    process.stdout.write(String(launcherPid()))
    if (process.argv[1] === 'SIGKILL') process.kill(process.pid, 'SIGKILL')`
  for (const end of ['exit', 'SIGKILL']) {
    const folder = await temporaryFolder(t)
    const args = ['--input-type=module', '--eval', script, end]
    const group = spawnByExeca(process.execPath, args, { environment: { TMPDIR: folder } })
    const [first, second, pid = ''] = (await readAll(group.stdout)).toString().split('\n')
    t.same([first, second], ['first', 'second'])
    const left = async () => [
      ...(await readdir(folder)),
      ...(existsSync(`/proc/${pid}`) ? [pid] : []),
    ]
    for (let round = 0; (await left()).length > 0 && round < 100; round += 1) await delay(50)
    t.same(await left(), [], `${end}: neither the launcher nor its folder is left`)
  }
})

t.test('without a folder for its socket there is no launcher, and commands run', async (t) => {
  const module = new URL('../../../cgi/process/', import.meta.url).href
  const script = `
    const { spawnByLauncher } = await import('${module}spawn-group.js')
    const { runToEnd } = await import('${module}run.js')
    const memory = Buffer.alloc(200 << 20, 1)
    const options = { environment: {}, timeoutMs: 9_000, outputBytesMax: 99 }
    const { output } = await runToEnd('/bin/echo', ['runs'], options)
    process.stdout.write(output + (await spawnByLauncher('/bin/true', [], options)) + memory.at(9))`
  const args = ['--input-type=module', '--eval', script]
  const group = spawnByExeca(process.execPath, args, { environment: { TMPDIR: '/nonexistent' } })
  t.equal((await readAll(group.stdout)).toString(), 'runs\nundefined1')
})
