/** Threat: SSH attacks known from other servers: command injection, environment, aborts, bombs. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FETCH_REQUEST_BYTES_MAX } from '../../gateway/packs/upload-pack.js'
import type { Person } from '../helpers/gatehouse.js'
import { deltaBombPush } from '../helpers/git-bombs.js'
import { fetchBody, packetLine } from '../helpers/git-requests.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, listStaleFilesIn, until } from '../helpers/server-processes.js'
import { converse } from '../helpers/ssh-conversation.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { incompressible, newWorkingCopy } from '../helpers/working-copy.js'

const ENDS_WITHIN_MS = 60_000

interface Ground {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
}

t.test('threats over SSH', async (t) => {
  const fixture = await startSshGatehouse(t, {
    // This sshd passes all GIT_* variables on, so the test shows that the helper drops them.
    edit: (config) => config.replace('AcceptEnv GIT_PROTOCOL', 'AcceptEnv GIT_*'),
  })
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work', { auto_init: true })
  const ground = { fixture, ada }
  await commands(t, ground)
  await environments(t, ground)
  await conversations(t, ground)
  await aborts(t, ground)
  await bombs(t, ground)
})

/** Checks that the helper starts git with the limits that the gateway sends. */
async function bombs(t: Test, { fixture, ada }: Ground): Promise<void> {
  const input = deltaBombPush('refs/heads/bomb', 480_000_000)
  const { exitCode, output } = await ada.call("git-receive-pack 'ada/work.git'", { input })
  t.equal(exitCode, 0, 'git has answered')
  t.match(output, /fatal: Out of memory[\s\S]*unpack index-pack abnormal exit/)
  // The entry of the journal is removed after the client has the answer.
  const left = await until(
    () => listStaleFilesIn(fixture.gatehouse.dataDir),
    (files) => files.length === 0,
    10_000,
  )
  t.strictSame(left, [], 'no file of the push is left')
}

async function commands(t: Test, { fixture, ada }: Ground): Promise<void> {
  const folder = await temporaryFolder(t)
  const mark = join(folder, 'mark')
  const hostile = [
    `git-upload-pack 'ada/work.git'; touch ${mark}`,
    `git-upload-pack 'ada/work'\\''$(touch ${mark})'\\'''`,
    'git-upload-pack ada/work.git /etc',
    "GIT-UPLOAD-PACK 'ada/work'",
    "git-upload-pack '~root/x'",
    "git-upload-pack 'ada/../ada/work'",
    `git-upload-pack '${fixture.gatehouse.dataDir}'`,
    "git-upload-pack '--help'",
    "git-lfs-authenticate 'ada/work.git' foo",
    `repo commit x -- --output=${mark}`,
    '\u001b]0;x\u0007\u001b[2J',
    `git-upload-pack '${'x'.repeat(90_000)}'`,
    ' ',
    ...(isFullSize ? moreCommands(mark) : []),
  ]
  for (const [at, command] of hostile.entries()) {
    await t.test(`${JSON.stringify(command.slice(0, 50))} is refused`, async (t) => {
      const { exitCode, output, errorText } = await ada.call(command)
      t.equal(exitCode, 1)
      t.equal(output, '')
      t.match(errorText, /^(?:Gatehouse serves git clone|There is no repository )[^\n]*\n$/)
      t.notOk(existsSync(mark))
      const logged = await until(
        async () => (await fixture.logged({ event: 'ssh-refused', key: ada.fingerprint })).length,
        (count) => count > at,
        ENDS_WITHIN_MS,
      )
      t.equal(logged, at + 1, 'the refusal is logged once')
    })
  }

  await t.test('a command of 120,000 characters fails', async (t) => {
    const { exitCode } = await ada.call(`git-upload-pack '${'x'.repeat(120_000)}'`)
    t.not(exitCode, 0)
  })

  await t.test('git archive --remote is refused with a hint to clone with --depth=1', async (t) => {
    const { exitCode, errorText } = await ada.call("git-upload-archive 'ada/work.git'")
    t.equal(exitCode, 1)
    t.match(errorText, /does not serve git archive --remote\. Clone with --depth=1 instead\.\n/)
  })
}

/** Further commands; those of other forms than the first two are in ssh/command.test.ts too. */
function moreCommands(mark: string): readonly string[] {
  return [
    `git-upload-pack 'ada/work' && touch ${mark}`,
    `git-upload-pack \`touch ${mark}\``,
    'git-upload-pack "ada/work.git" --timeout=1',
    "git-upload-pack '/etc/passwd'",
    'git-receive-pack --help',
    "git-upload-pack 'ada/work\n'",
    "git-lfs-authenticate 'ada/work.git'",
    "git-lfs-transfer 'ada/work.git' x",
  ]
}

/** Values of GIT_PROTOCOL, and whether git gets them; environment.test.ts has all kinds. */
const PROTOCOLS = [
  ['version=2', true],
  ['version=2\nX=1', false],
  [`version=2:${'x'.repeat(300)}`, false],
  ['version=2:x=y', true],
  ['version=3', false],
  ['version=2 ', false],
  ['$(id)', false],
] as const

async function environments(t: Test, { ada }: Ground): Promise<void> {
  await t.test("no variable of the client's environment reaches git", async (t) => {
    const mark = join(await temporaryFolder(t), 'mark')
    const environment = {
      GIT_DIR: '/nowhere',
      GIT_TRACE: mark,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'uploadpack.packObjectsHook',
      GIT_CONFIG_VALUE_0: `touch ${mark}; exec`,
      GIT_EXEC_PATH: '/nowhere',
      GIT_SSH_COMMAND: `touch ${mark}`,
      GIT_PROXY_COMMAND: `touch ${mark}`,
      LD_PRELOAD: '',
    }
    const options = Object.keys(environment).flatMap((name) => ['-o', `SendEnv=${name}`])
    const { exitCode, output } = await ada.call("git-upload-pack 'ada/work'", {
      options,
      environment,
      input: '0000',
    })
    t.equal(exitCode, 0)
    t.match(output, /refs\/heads\/main/)
    t.notOk(existsSync(mark))
  })

  for (const [protocol, isAccepted] of isFullSize ? PROTOCOLS : PROTOCOLS.slice(0, 3)) {
    const name = JSON.stringify(protocol.slice(0, 30))
    await t.test(
      `GIT_PROTOCOL ${name} is ${isAccepted ? 'passed to git' : 'ignored'}`,
      async (t) => {
        const { exitCode, output } = await ada.call("git-upload-pack 'ada/work'", {
          options: ['-o', 'SendEnv=GIT_PROTOCOL'],
          environment: { GIT_PROTOCOL: protocol },
          input: '0000',
        })
        t.equal(exitCode, 0)
        t.equal(/^000eversion 2/.test(output), isAccepted)
      },
    )
  }
}

async function conversations(t: Test, { fixture, ada }: Ground): Promise<void> {
  const tip = '1'.repeat(40)
  for (const [what, sent, sentence] of [
    ['input that is no pkt-line', 'GET / HTTP/1.1\r\n\r\n', /^Git cannot read this request\.\n$/],
    ['a truncated pkt-line', 'fff0command=fetch', /^The request is incomplete\.\n$/],
    ['a command that git does not know', `${packetLine('command=erase')}0000`, /^fatal: /],
    ['a want of an unknown commit', fetchBody(tip), /^$/],
    [
      'a list of haves beyond the size limit',
      `${packetLine('command=fetch')}0001${LONG_LIST}`,
      /too many objects/,
    ],
  ] as const) {
    await t.test(`${what} is answered with an error, and no process is left`, async (t) => {
      const { client, ended, output, errorText } = await converse(fixture, ada, 'ada/work')
      client.stdin.end(sent)
      const exitCode = await ended
      t.match(errorText(), sentence)
      if (errorText() === '') t.match(output(), /ERR upload-pack: not our ref 1{40}/)
      else t.not(exitCode, 0)
      t.same(await gitProcessesOf(fixture.gatehouse.dataDir), [])
    })
  }
}

/** List of haves that exceeds the size limit of a fetch request. */
const LONG_LIST = packetLine(`have ${'2'.repeat(40)}\n`).repeat(
  Math.ceil(FETCH_REQUEST_BYTES_MAX / 50),
)

async function aborts(t: Test, { fixture, ada }: Ground): Promise<void> {
  const { dataDir } = fixture.gatehouse
  const noGitLeft = async () => {
    const ask = () => gitProcessesOf(dataDir)
    return until(ask, (processes) => processes.length === 0, ENDS_WITHIN_MS)
  }

  await t.test('a client that is killed during a clone leaves no process', async (t) => {
    const copy = await newWorkingCopy(t)
    // No buffers between git and a paused client can take this pack.
    await copy.commit('large', incompressible(12_000_000))
    await makeRepository(ada, 'large')
    await copy.git('push', '--quiet', ada.remote('ada/large.git'), 'main')
    const { client } = await converse(fixture, ada, 'ada/large')
    client.stdin.write(fetchBody(await copy.git('rev-parse', 'main')))
    await once(client.stdout, 'data')
    client.stdout.pause()
    client.kill('SIGKILL')
    t.same(await noGitLeft(), [])
    const lines = await fixture.logged({ event: 'ssh-session', repository: 'ada/large' })
    t.match(lines, [{ outcome: 'cut' }])
  })

  await t.test(
    'a client that is killed during a push leaves no file, and the next push succeeds',
    async (t) => {
      const copy = await newWorkingCopy(t)
      await copy.git('pull', '--quiet', ada.remote('ada/work.git'), 'main')
      await copy.commit('large', incompressible(20_000_000))
      const interruption = new AbortController()
      const words = ['push', fixture.remote('ada/work'), 'main']
      const pushing = copy
        .try(words, { ...ada, signal: interruption.signal })
        .catch(() => undefined)
      await until(
        () => listStaleFilesIn(dataDir),
        (found) => found.length > 0,
        ENDS_WITHIN_MS,
      )
      interruption.abort()
      await pushing
      t.same(await noGitLeft(), [])
      const left = await until(
        () => listStaleFilesIn(dataDir),
        (found) => found.length === 0,
        ENDS_WITHIN_MS,
      )
      t.same(left, [])
      const { exitCode, errorText } = await copy.try(words, ada)
      t.equal(exitCode, 0, errorText)
      t.same(await faultsOnDisk(fixture.gatehouse), [])
    },
  )
}
