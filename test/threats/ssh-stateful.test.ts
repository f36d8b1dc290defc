/** Threat: clients of protocol v0 over SSH that send too much, nonsense, or nothing more. */

import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { FETCH_REQUEST_BYTES_MAX } from '../../gateway/packs/upload-pack.js'
import type { Person } from '../helpers/gatehouse.js'
import { packetLine } from '../helpers/git-requests.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  gitProcessesOf,
  killNow,
  listStaleFilesIn,
  peaksDuring,
  until,
  workersOf,
} from '../helpers/server-processes.js'
import { converseStateful, type SshConversation } from '../helpers/ssh-conversation.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { isFullSize } from '../helpers/test-size.js'
import { incompressible, newWorkingCopy } from '../helpers/working-copy.js'

const ENDS_WITHIN_MS = 60_000
/** Maximum growth of a worker for one client. */
const GROWTH_BYTES_MAX = 60_000_000
/** Bytes that each line counts in addition to its own. */
const LINE_BYTES = 64
/** Long enough for the floods on a busy machine. */
const GIT_TIMEOUT_MS = 40_000

const UNKNOWN = '1'.repeat(40)
/** The end of the shallow commits; the refs end with a line. */
const SECTION = /shallow [0-9a-f]{40}0000$/
const HAVE = packetLine(`have ${UNKNOWN}\n`)

interface Ground {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
  /** Tip of ada/work. */
  readonly tip: string
}

t.test('threats of protocol v0 over SSH', async (t) => {
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_GIT_TIMEOUT: `${GIT_TIMEOUT_MS / 1_000}s` },
  })
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work')
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('file')
  await copy.git('push', '--quiet', ada.remote('ada/work.git'), 'main')
  const ground = { fixture, ada, tip }
  await floods(t, ground)
  await nonsense(t, ground)
  await revocations(t, ground)
  await aborts(t, ground)
})

const wantOf = (tip: string, ...more: readonly string[]) =>
  `${[`want ${tip} multi_ack_detailed side-band-64k\n`, ...more].map(packetLine).join('')}0000`

/** Bytes of a flood after which the client waits before each chunk, to save CPU time. */
const FAST_BYTES = 1.5 * GROWTH_BYTES_MAX
const SLOW_MS = 100

/** Sends the text again and again until the server ends the session. */
async function flood({ client, ended }: SshConversation, text: string): Promise<number | null> {
  const chunk = text.repeat(Math.ceil(60_000 / text.length))
  let isOpen = true
  let sentBytes = 0
  void ended.finally(() => {
    isOpen = false
  })
  while (isOpen) {
    sentBytes += chunk.length
    if (sentBytes > FAST_BYTES) await sleep(SLOW_MS)
    if (client.stdin.write(chunk)) await new Promise(setImmediate)
    else await Promise.race([new Promise((resolve) => client.stdin.once('drain', resolve)), ended])
  }
  return await ended
}

async function noGitLeft(t: Test, { fixture }: Ground): Promise<void> {
  const { dataDir } = fixture.gatehouse
  const ask = () => gitProcessesOf(dataDir)
  t.same(await until(ask, (processes) => processes.length === 0, ENDS_WITHIN_MS), [])
  t.same(await listStaleFilesIn(dataDir), [])
}

/** Names of floods, what precedes them, and the text that is repeated. */
const floodsOf = (tip: string) =>
  [
    ['empty packets', '', '0004'],
    ['wants', '', packetLine(`want ${tip}\n`)],
    ['long lines', '', packetLine(`${'x'.repeat(60_000)}\n`)],
    ['haves of one round', wantOf(tip), HAVE],
    ...(isFullSize
      ? ([
          ['empty lines', '', packetLine('\n')],
          ['shallow commits', '', packetLine(`shallow ${UNKNOWN}\n`)],
        ] as const)
      : []),
  ] as const

async function floods(t: Test, ground: Ground): Promise<void> {
  const { fixture, ada, tip } = ground
  const open = () => converseStateful(fixture, ada, { path: 'ada/work' })
  for (const [at, [what, before, text]] of floodsOf(tip).entries()) {
    await t.test(`endless ${what} are refused in bounded memory`, async (t) => {
      const workers = await workersOf(fixture.gatehouse.pid)
      const talk = await open()
      talk.client.stdin.write(before)
      const [idleBytes = 0] = await peaksDuring(workers, async () => {})
      const [peakBytes = 0] = await peaksDuring(workers, async () => {
        t.equal(await flood(talk, text), 1)
      })
      t.match(talk.errorText(), 'The request names too many objects.')
      const lines = await until(
        () => fixture.logged({ event: 'ssh-session', outcome: 'exit 1' }),
        ({ length }) => length > at,
        ENDS_WITHIN_MS,
      )
      const { receivedBytes } = lines.at(-1) ?? {}
      const bytesMax = FETCH_REQUEST_BYTES_MAX * (text.length / (text.length + LINE_BYTES))
      t.ok(Number(receivedBytes) < bytesMax + 1_048_576, `after ${receivedBytes} bytes`)
      t.ok(peakBytes - idleBytes < GROWTH_BYTES_MAX, `grew by ${peakBytes - idleBytes} bytes`)
      await noGitLeft(t, ground)
    })
  }

  // Both tests wait for git.timeout, so the silent clients are silent during the first of them.
  const silent = talkAndFallSilent(ground)
  await t.test('a client that negotiates without end is ended after git.timeout', async (t) => {
    const workers = await workersOf(fixture.gatehouse.pid)
    const talk = await open()
    await talk.send(`${wantOf(tip)}${HAVE}0000`, /NAK\n$/)
    const [idleBytes = 0] = await peaksDuring(workers, async () => {})
    const startedAtMs = Date.now()
    const [peakBytes = 0] = await peaksDuring(workers, async () => {
      t.not(await flood(talk, `${HAVE.repeat(256)}0000`), 0)
    })
    t.ok(Date.now() - startedAtMs < GIT_TIMEOUT_MS + ENDS_WITHIN_MS)
    t.ok(peakBytes - idleBytes < GROWTH_BYTES_MAX, `grew by ${peakBytes - idleBytes} bytes`)
    await noGitLeft(t, ground)
  })

  await t.test('silent clients are ended after git.timeout', async (t) => {
    t.same(await silent, [1, 1, 1, 1, 1])
    await noGitLeft(t, ground)
  })
}

/** Opens clients that stop after some of their lines; returns their exit codes. */
function talkAndFallSilent({ fixture, ada, tip }: Ground): Promise<readonly (number | null)[]> {
  const sent = [
    ['', /0000$/],
    [packetLine(`want ${tip}\n`), /0000$/],
    [wantOf(tip), /0000$/],
    [wantOf(tip, 'deepen 1\n'), SECTION],
    [`${wantOf(tip)}${HAVE}0000`, /NAK\n$/],
  ] as const
  const ends = sent.map(async ([text, answer]) => {
    const talk = await converseStateful(fixture, ada, { path: 'ada/work' })
    talk.client.stdin.write(text)
    await until(
      async () => talk.output(),
      (output) => answer.test(output),
      ENDS_WITHIN_MS,
    )
    return await talk.ended
  })
  return Promise.all(ends)
}

const UNREADABLE = /^Git cannot read this request\.\n$/
const INCOMPLETE = /^The request is incomplete\.\n$/

/** Names of malformed inputs, the text, and the expected error. */
const nonsenseOf = (tip: string) =>
  [
    ['input that is no packet', 'GET / HTTP/1.1\r\n\r\n', UNREADABLE],
    ['a delimiter', `${packetLine(`want ${tip}\n`)}0001`, UNREADABLE],
    ['nothing', '', INCOMPLETE],
    ['a truncated packet', 'fff0want', INCOMPLETE],
    ['wants and nothing more', wantOf(tip), INCOMPLETE],
    ['a packet that is none after haves', `${wantOf(tip)}${HAVE}0000zzzz`, UNREADABLE],
    ['an end within a packet after haves', `${wantOf(tip)}${HAVE}0000001`, INCOMPLETE],
    ['an end after haves', `${wantOf(tip)}${HAVE}`, /^fatal: the remote end hung up/],
    [
      'a want of a name',
      `${packetLine('want main\n')}0000${packetLine('done\n')}`,
      /^fatal: .*want/,
    ],
    ['an invalid depth', wantOf(tip, 'deepen 0\n'), /^fatal: Invalid deepen/],
    ['a have of a name', `${wantOf(tip)}${packetLine('have x\n')}`, /^fatal: /],
  ] as const

/** Further inputs: packets that packet-stream.test.ts tries too, and lines that git refuses. */
const moreNonsenseOf = (tip: string) =>
  [
    ['a length of three', '0003', UNREADABLE],
    ['a packet that is too long', 'fff1', UNREADABLE],
    ['wants without a flush', packetLine(`want ${tip}\n`), INCOMPLETE],
    ['a packet that is none after the wants', `${wantOf(tip)}zzzz`, UNREADABLE],
    ['another command', `${packetLine('command=fetch\n')}0000`, /^fatal: .*command=fetch/],
    ['a line that is neither have nor done', `${wantOf(tip)}${packetLine('x\n')}`, /^fatal: /],
    ['empty lines', `${packetLine('\n')}0000`, /^fatal: /],
  ] as const

async function nonsense(t: Test, ground: Ground): Promise<void> {
  const { fixture, ada, tip } = ground
  const cases = [...nonsenseOf(tip), ...(isFullSize ? moreNonsenseOf(tip) : [])]
  for (const [what, sent, sentence] of cases) {
    await t.test(`${what} is refused as git does`, async (t) => {
      const talk = await converseStateful(fixture, ada, { path: 'ada/work' })
      talk.client.stdin.end(sent)
      t.equal(await talk.ended, sentence.source.startsWith('^fatal') ? 128 : 1)
      t.match(talk.errorText(), sentence)
      await noGitLeft(t, ground)
    })
  }
}

async function revocations(t: Test, ground: Ground): Promise<void> {
  const { fixture, ada, tip } = ground
  for (const [when, before, answer, rest] of [
    ['a clone', '', /0000$/, wantOf(tip) + packetLine('done\n')],
    ['a shallow clone', wantOf(tip, 'deepen 1\n'), SECTION, packetLine('done\n')],
    ['a negotiation', wantOf(tip), /0000$/, `${HAVE}0000`],
    ['a round of a negotiation', `${wantOf(tip)}${HAVE}0000`, /NAK\n$/, packetLine('done\n')],
  ] as const) {
    await t.test(`a key that is removed before ${when} gets no answer`, async (t) => {
      const caller = await fixture.newCaller(`early-${when.replaceAll(' ', '-')}`)
      const id = await fixture.addKey(ada, caller)
      const talk = await converseStateful(fixture, caller, { path: 'ada/work' })
      talk.client.stdin.write(before)
      const output = await until(
        async () => talk.output(),
        (text) => answer.test(text),
        ENDS_WITHIN_MS,
      )
      t.equal((await ada.api('DELETE', `/user/keys/${id}`)).status, 204)
      talk.client.stdin.write(rest)
      t.equal(await talk.ended, 1)
      t.match(talk.errorText(), /does not know this key any more/)
      t.equal(talk.output(), output)
      await noGitLeft(t, ground)
    })
  }
}

/** Size of a pack that no buffers between git and a paused client can take. */
const LARGE_BYTES = 12_000_000

async function aborts(t: Test, ground: Ground): Promise<void> {
  const { fixture, ada } = ground
  const copy = await newWorkingCopy(t)
  await copy.commit('large', incompressible(LARGE_BYTES))
  await makeRepository(ada, 'large')
  await copy.git('push', '--quiet', ada.remote('ada/large.git'), 'main')
  const tip = await copy.git('rev-parse', 'main')
  const done = packetLine('done\n')
  for (const [when, sent, isPack] of [
    ['a clone', wantOf(tip) + done, true],
    ['a shallow clone', wantOf(tip, 'deepen 1\n') + done, true],
    ['the pack after a negotiation', `${wantOf(tip)}${HAVE}0000${done}`, true],
    ['a negotiation', `${wantOf(tip)}${HAVE}0000`, false],
  ] as const) {
    for (const victim of ['client', 'helper'] as const) {
      await t.test(`a ${victim} that is killed during ${when} leaves no process`, async (t) => {
        const talk = await converseStateful(fixture, ada, { path: 'ada/large' })
        const refsLength = talk.output().length
        talk.client.stdin.write(sent)
        await until(
          async () => talk.output().length - refsLength,
          (length) => length >= (isPack ? 10_000 : 8),
          ENDS_WITHIN_MS,
        )
        talk.client.stdout.pause()
        if (!isPack) t.equal((await gitProcessesOf(fixture.gatehouse.dataDir)).length, 1)
        if (victim === 'client') talk.client.kill('SIGKILL')
        else killNow(...(await helpersOf(fixture)))
        await noGitLeft(t, ground)
        const lines = await fixture.logged({ repository: 'ada/large', outcome: 'cut' })
        t.ok(lines.length > 0)
        talk.client.kill('SIGKILL')
      })
    }
  }
}

/** Returns the ids of the SSH helpers of a server. */
async function helpersOf({ sshd, gatehouse }: SshGatehouse): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const isHelper = async (pid: string) => {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return command.startsWith(`${sshd.helper}\0serve`) && command.includes(gatehouse.dataDir)
  }
  const found = await Promise.all(pids.map(isHelper))
  return pids.filter((_, at) => found[at]).map(Number)
}
