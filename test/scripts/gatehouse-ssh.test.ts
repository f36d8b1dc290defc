/** The compiled helper between sshd and the gateway; the test acts as the gateway. */

import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type Channel, openChannel } from '../../gateway/ssh/channel.js'
import { HELPER_VERSION, messageHead } from '../../gateway/ssh/message.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

const SOURCE = fileURLToPath(new URL('../../../scripts/gatehouse-ssh.c', import.meta.url))
const LONG_MS = 60_000
const MEMORY_KIB_MAX = 10_240

const folder = await temporaryFolder(t)
const helper = join(folder, 'gatehouse-ssh')
const path = join(folder, 'ssh.sock')
execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-static', '-o', helper, SOURCE])

/** Server that acts as the gateway, for one request at a time. */
const gateway: Server = createServer().listen(path)
await once(gateway, 'listening')
t.teardown(() => gateway.close())

interface Run {
  readonly child: ChildProcessWithoutNullStreams
  readonly channel: Channel
  readonly socket: Socket
  readonly question: readonly string[] | undefined
  readonly output: () => Buffer
  readonly errorText: () => string
  readonly ended: Promise<number | null>
}

/** Starts the helper and returns its request. */
async function ask(
  t: Test,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = spawn(helper, words, { env: environment, stdio: 'pipe' })
  const parts: Buffer[] = []
  let errorText = ''
  child.stdout.on('data', (chunk: Buffer) => parts.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    errorText += chunk.toString()
  })
  child.stdin.on('error', () => {})
  const ended = once(child, 'close').then(() => child.exitCode)
  t.teardown(() => child.kill('SIGKILL'))
  const [socket] = (await once(gateway, 'connection')) as [Socket]
  const channel = openChannel(socket)
  const question = await channel.next(LONG_MS)
  const output = () => Buffer.concat(parts)
  return { child, channel, socket, question, output, errorText: () => errorText, ended }
}

const serve = (t: Test, environment?: Readonly<Record<string, string>>) =>
  ask(t, ['serve', path, 'SHA256:abc'], environment)

interface Program {
  readonly kind: 'push' | 'fetch'
  /** A shell script that is run in place of git. */
  readonly script: string
  readonly idleSeconds?: number
}

function run(channel: Channel, { kind, script, idleSeconds = 600 }: Program): void {
  const words = ['sh', '-c', script]
  channel.send(
    'run',
    kind,
    String(idleSeconds),
    folder,
    '/bin/sh',
    String(words.length),
    ...words,
    'PATH=/usr/bin:/bin',
    'ONLY=this one',
  )
}

t.test('a known key gets its authorized_keys line and an unknown one none', async (t) => {
  const words = ['keys', path, 'ssh-ed25519', 'AAAAC3+/=']
  const known = await ask(t, words)
  t.same(known.question, [HELPER_VERSION, 'keys', 'ssh-ed25519', 'AAAAC3+/='])
  known.channel.send('known', 'SHA256:abc+/')
  t.equal(await known.ended, 0)
  const line = `restrict,command="exec ${helper} serve ${path} SHA256:abc+/" ssh-ed25519 AAAAC3+/=\n`
  t.equal(known.output().toString(), line)
  const unknown = await ask(t, words)
  unknown.channel.send('unknown')
  t.equal(await unknown.ended, 0)
  t.equal(unknown.output().toString(), '')
})

t.test(
  'for an invalid answer of the gateway the client gets the message that it is unavailable',
  async (t) => {
    for (const answer of [['away'], ['say', '1', 'x'], ['known', 'a"b'], ['known'], ['']]) {
      const { channel, ended, output } = await ask(t, ['keys', path, 'ssh-rsa', 'AAAA'])
      channel.send(...answer)
      t.equal(await ended, 0)
      t.equal(output().toString(), `restrict,command="exec ${helper} away" ssh-rsa AAAA\n`)
    }
    const gone = await ask(t, ['keys', path, 'ssh-rsa', 'AAAA'])
    gone.socket.destroy()
    await gone.ended
    t.match(gone.output().toString(), / away" ssh-rsa AAAA\n$/)
  },
)

t.test('a key that could break out of the line is not sent to the gateway', async (t) => {
  for (const [type, key] of [
    ['ssh-rsa', 'AAAA\nssh-rsa BBBB'],
    ['ssh-rsa"', 'AAAA'],
    ['ssh rsa', 'AAAA'],
    ['ssh-rsa', ''],
    ['ssh-rsa', 'A'.repeat(20_000)],
  ] as const) {
    t.equal(execFileSync(helper, ['keys', path, type, key]).length, 0)
  }
  const odd = spawn(helper, ['keys', '/tmp/a b', 'ssh-rsa', 'AAAA'])
  t.equal((await once(odd, 'exit'))[0], 1)
})

t.test('the request has the values that sshd sets, cut to a maximum length', async (t) => {
  const { question, channel, ended, errorText } = await serve(t, {
    SSH_ORIGINAL_COMMAND: `git-upload-pack '${'x'.repeat(100_000)}'`,
    GIT_PROTOCOL: 'version=2',
    SSH_CONNECTION: '192.0.2.7 50000 192.0.2.1 22',
    LD_LIBRARY_PATH: '/nowhere',
  })
  const [version, verb, key, command = '', protocol, address, ...more] = question ?? []
  t.same([version, verb, key, protocol], [HELPER_VERSION, 'serve', 'SHA256:abc', 'version=2'])
  t.equal(command.length, 4_096)
  t.same([address, more], ['192.0.2.7', []])
  channel.send('say', '7', 'A sentence.')
  t.equal(await ended, 7)
  t.equal(errorText(), 'A sentence.\n')
})

t.test("git has exactly the environment of the gateway's answer", async (t) => {
  const { channel, ended, output } = await serve(t, {
    GIT_DIR: '/x',
    LD_PRELOAD: '',
    BASH_ENV: '/x',
  })
  run(channel, { kind: 'fetch', script: 'env; pwd' })
  t.same(await channel.next(LONG_MS).then((end) => end?.slice(0, 2)), ['ended', '0'])
  t.equal(await ended, 0)
  const lines = output().toString().split('\n').sort()
  t.same(lines, ['', folder, 'ONLY=this one', 'PATH=/usr/bin:/bin', `PWD=${folder}`].sort())
})

t.test('bytes are copied both ways completely and counted, in little memory', async (t) => {
  const { child, channel, ended, output } = await serve(t)
  const sent = Buffer.alloc(20_000_000, 'The quick brown fox. ')
  run(channel, { kind: 'fetch', script: 'cat' })
  child.stdin.write(sent)
  const next = channel.next(LONG_MS)
  await until(
    async () => output().length,
    (length) => length === sent.length,
    LONG_MS,
  )
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  t.ok(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) < MEMORY_KIB_MAX, status)
  child.stdin.end()
  t.same(await next, ['ended', '0', String(sent.length), String(sent.length)])
  t.equal(await ended, 0)
  t.ok(output().equals(sent))
})

t.test("after a fetch the helper exits immediately with git's exit code", async (t) => {
  for (const [script, code] of [
    ['exit 3', 3],
    ['kill -9 $$', 137],
  ] as const) {
    const { channel, ended } = await serve(t)
    run(channel, { kind: 'fetch', script })
    t.same((await channel.next(LONG_MS))?.slice(0, 2), ['ended', String(code)])
    t.equal(await ended, code)
  }
})

t.test(
  'a push starts after the go message, and its last bytes are sent after the done message',
  async (t) => {
    const { child, channel, ended, output } = await serve(t)
    run(channel, { kind: 'push', script: 'echo ready; read line; echo "$line"; echo 0000' })
    child.stdin.write('commands\n')
    const started = await channel.next(LONG_MS)
    t.equal(started?.[0], 'started')
    await until(
      async () => output().toString(),
      (text) => text === 'ready\n',
      LONG_MS,
    )
    await sleep(50)
    t.equal(output().toString(), 'ready\n', "the client's input is not read before")
    channel.send('go')
    t.same(await channel.next(LONG_MS), ['ended', '0', '9', '20'])
    t.equal(output().toString(), 'ready\ncommands\n0', 'all but the last four bytes')
    channel.send('done')
    t.equal(await ended, 0)
    t.equal(output().toString(), 'ready\ncommands\n0000\n')
  },
)

t.test('the success answer of a push is withheld if the gateway does not confirm it', async (t) => {
  const { child, channel, socket, ended, output, errorText } = await serve(t)
  run(channel, { kind: 'push', script: 'read line; echo ok 0000' })
  await channel.next(LONG_MS)
  channel.send('go')
  child.stdin.write('commands\n')
  await channel.next(LONG_MS)
  socket.destroy()
  t.equal(await ended, 1)
  t.equal(output().toString(), 'ok 0')
  t.match(errorText(), /Gatehouse has ended the connection/)
})

/** A shell command and a child process that run for ten minutes; prints both process ids. */
const FAMILY = 'sleep 600 & echo $$ $!; wait'

/** Waits until both processes that FAMILY has printed have ended; true if they have. */
async function familyIsGone({ output }: Run): Promise<boolean> {
  const pids = output().toString().trim().split(' ').map(Number)
  const running = async () => {
    const states = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z')),
    )
    return states.filter((state) => !/\) Z|^ Z/.test(state)).length
  }
  return pids.length === 2 && (await until(running, (count) => count === 0, LONG_MS)) === 0
}

async function startFamily(t: Test, program: Partial<Program> = {}): Promise<Run> {
  const running = await serve(t)
  run(running.channel, { kind: 'fetch', script: FAMILY, ...program })
  await until(async () => running.output().includes('\n'), Boolean, LONG_MS)
  return running
}

t.test('if the client disconnects, all processes end', async (t) => {
  const running = await startFamily(t)
  running.child.stdin.destroy()
  running.child.stdout.destroy()
  t.equal((await running.channel.next(LONG_MS))?.[0], 'cut')
  t.ok(await familyIsGone(running))
  running.channel.send('done')
  t.equal(await running.ended, 1)
})

t.test(
  'if the gateway disconnects, all processes end and the client reads the reason',
  async (t) => {
    const running = await startFamily(t)
    running.socket.destroy()
    t.equal(await running.ended, 1)
    t.match(running.errorText(), /Gatehouse has ended the connection/)
    t.ok(await familyIsGone(running))
  },
)

t.test('if the gateway ends the connection, the client reads its message', async (t) => {
  const running = await startFamily(t)
  running.channel.send('end', 'It has taken too long.')
  t.equal((await running.channel.next(LONG_MS))?.[0], 'cut')
  running.channel.send('done')
  t.equal(await running.ended, 1)
  t.equal(running.errorText(), 'It has taken too long.\n')
  t.ok(await familyIsGone(running))
})

t.test('a connection without data for too long ends', async (t) => {
  const running = await startFamily(t, { idleSeconds: 1 })
  t.equal((await running.channel.next(LONG_MS))?.[0], 'cut')
  running.channel.send('done')
  t.equal(await running.ended, 1)
  t.match(running.errorText(), /idle for too long/)
})

t.test('killing the helper ends git too', async (t) => {
  const running = await serve(t)
  run(running.channel, { kind: 'fetch', script: 'echo $$; exec sleep 600' })
  await until(async () => running.output().includes('\n'), Boolean, LONG_MS)
  running.child.kill('SIGKILL')
  const pid = Number(running.output().toString())
  const isThere = async () => {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z')
    return !/\) Z|^ Z/.test(state)
  }
  t.equal(await until(isThere, (answer) => !answer, LONG_MS), false)
})

t.test('a client that disconnects while it waits in the queue is noticed', async (t) => {
  const { child, channel, ended } = await serve(t)
  const gone = once(channel.signal, 'abort')
  child.stdin.destroy()
  child.stdout.destroy()
  await gone
  t.equal(await ended, 1)
})

/** Starts the helper of a protocol v2 client in the mode in which the gateway itself answers. */
async function speak(t: Test, idleSeconds = 600): Promise<Run> {
  const running = await serve(t)
  running.channel.listen()
  running.channel.send('talk', String(idleSeconds))
  return running
}

t.test('client and gateway exchange data both ways completely and in little memory', async (t) => {
  const { child, channel, ended, output, errorText } = await speak(t)
  const said = Buffer.alloc(20_000_000, 'The quick brown fox. ')
  child.stdin.end(said)
  // The input is sent back immediately, so that both directions are full.
  const heard: Buffer[] = []
  for (let piece = await channel.read(); piece !== undefined; piece = await channel.read()) {
    heard.push(Buffer.from(piece))
    await channel.write(piece)
  }
  t.ok(Buffer.concat(heard).equals(said))
  await channel.write(said)
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  t.ok(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) < MEMORY_KIB_MAX, status)
  channel.finish()
  channel.send('end', '3', 'A sentence.')
  t.equal(await ended, 3)
  t.equal(errorText(), 'A sentence.\n')
  t.ok(output().equals(Buffer.concat([said, said])))
})

t.test('a client whose input is not read still receives data', async (t) => {
  const { child, channel, ended, output } = await speak(t)
  child.stdin.write(Buffer.alloc(5_000_000))
  await channel.write(Buffer.alloc(5_000_000, 'a'))
  await channel.write(Buffer.from('end'))
  channel.finish()
  channel.send('end', '0', '')
  t.equal(await ended, 0)
  t.equal(output().length, 5_000_003)
})

t.test("the end of the client's input is reported while it still receives data", async (t) => {
  const { child, channel, ended, output } = await speak(t)
  child.stdin.end('last words')
  t.equal((await channel.read())?.toString(), 'last words')
  t.equal(await channel.read(), undefined)
  await channel.write(Buffer.from('an answer'))
  channel.finish()
  channel.send('end', '0', '')
  t.equal(await ended, 0)
  t.equal(output().toString(), 'an answer')
})

t.test('a client that disconnects is reported to a gateway that answers itself', async (t) => {
  const { child, channel, ended } = await speak(t)
  const gone = once(channel.signal, 'abort')
  child.stdout.destroy()
  child.stdin.destroy()
  t.equal(await ended, 1)
  await gone
})

for (const [when, words] of [
  ['before a message', ''],
  ['in the middle of a message', 'a part'],
] as const) {
  t.test(
    `if a gateway that answers itself disconnects ${when}, the client reads the reason`,
    async (t) => {
      const { socket, ended, errorText, output } = await speak(t)
      if (words !== '') socket.write(Buffer.concat([messageHead(100), Buffer.from(words)]))
      socket.end()
      t.equal(await ended, 1)
      t.match(errorText(), /Gatehouse has ended the connection/)
      t.equal(output().toString(), words)
    },
  )
}

t.test(
  'a connection to a gateway that answers itself ends if it is idle for too long',
  async (t) => {
    const { ended, errorText } = await speak(t, 1)
    t.equal(await ended, 1)
    t.match(errorText(), /idle for too long/)
  },
)

t.test('unknown arguments print the usage and exit with 2', async (t) => {
  for (const words of [[], ['keys'], ['serve', path], ['--help']]) {
    const child = spawn(helper, words)
    const [code] = await once(child, 'exit')
    t.equal(code, 2)
  }
})
