/** The first steps of README.md, run literally by a user with an empty home folder. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { freePort } from '../helpers/free-port.js'
import { listenersOn, until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

const ROOT = new URL('../../../', import.meta.url).pathname

const SECTIONS = ['Two commands', 'A first clone', 'A first package']

const ADDRESS = '127.0.0.1:3000'

const START_MS = 120_000
const STEPS_MS = 240_000
const OUTPUT_BYTES_MAX = 1_048_576

/** Returns the sections' shell blocks in order. Throws if a section is missing or has none. */
function blocksOf(readme: string): readonly string[] {
  return SECTIONS.flatMap((heading) => {
    const [, section = ''] = readme.split(`\n## ${heading}\n`)
    const [text = ''] = section.split('\n## ')
    const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
    if (blocks.length === 0) throw new Error(`README.md has no shell block under '${heading}'`)
    return blocks
  })
}

/** Creates an installed and built clone, so that scripts/start does not install or compile. */
async function aBuiltClone(folder: string): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const paths = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const existing = paths.filter((path) => path !== '' && existsSync(join(ROOT, path)))
  await mkdir(folder)
  const options = ['--archive', '--parents', `--target-directory=${folder}`]
  execFileSync('cp', [...options, ...existing, 'dist/program'], { cwd: ROOT })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  // The copies are newer than the build, so scripts/prepare.sh would compile without this stamp.
  const stamp = join(folder, 'dist/.built-program')
  await writeFile(stamp, '')
  const soon = Date.now() / 1_000 + 5
  await utimes(stamp, soon, soon)
}

interface Newcomer {
  readonly folder: string
  readonly clone: string
  readonly home: string
  /** Folder in which mktemp(1) creates folders, so that they are removed with the test. */
  readonly temporary: string
  readonly port: number
  /** Complete environment of the commands. */
  readonly environment: Readonly<Record<string, string>>
}

async function aNewcomer(t: Test): Promise<Newcomer> {
  const folder = await temporaryFolder(t)
  const names = ['gatehouse', 'home', 'tmp'] as const
  const [clone = '', home = '', temporary = ''] = names.map((name) => join(folder, name))
  for (const path of [home, temporary]) await mkdir(path)
  await aBuiltClone(clone)
  // The Node.js of this test comes first, so that scripts/start does not download one.
  const path = [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(':')
  const environment = { PATH: path, HOME: home }
  return { folder, clone, home, temporary, port: await freePort(), environment }
}

/** Writes a block to a file, with the test's port instead of the port in README.md. */
async function writeBlock(to: string, block: string, port: number): Promise<string> {
  await writeFile(to, block.replaceAll(ADDRESS, `127.0.0.1:${port}`))
  return to
}

/** Runs the block of the first terminal, which serves until `pressCtrlC` is called. */
async function startServer(t: Test, newcomer: Newcomer, block: string) {
  const { folder, clone, port, environment } = newcomer
  const file = await writeBlock(join(folder, 'first-terminal.sh'), block, port)
  const child = spawn('bash', ['-euo', 'pipefail', file], {
    cwd: clone,
    env: { ...environment, GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let shown = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      shown += chunk.toString()
    })
  }
  const closed = once(child, 'close')
  /** Sends a signal to the process group, as a terminal does. */
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
  }
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) signal('SIGKILL')
    await closed
  })
  // The greeting is printed last, and to another pipe than the log.
  const isReady = async () => shown.includes('Gatehouse serves at') || child.exitCode !== null
  await until(isReady, Boolean, START_MS)
  return {
    shown: () => shown,
    async pressCtrlC() {
      signal('SIGINT')
      await closed
      return child.exitCode
    },
  }
}

/** Variables with which git neither reads the system's identity nor guesses one. */
const WITHOUT_IDENTITY = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'user.useConfigOnly',
  GIT_CONFIG_VALUE_0: 'true',
}

/** Runs the blocks of the second terminal in one shell; returns their output and variables. */
async function runSteps(newcomer: Newcomer, blocks: readonly string[]) {
  const { folder, clone, temporary, port, environment } = newcomer
  const steps = blocks.map(async (block, at) => {
    const file = await writeBlock(join(folder, `step-${at + 1}.sh`), block, port)
    return `. '${file}' >'${file}.out' </dev/null\n`
  })
  const script = join(folder, 'second-terminal.sh')
  const names = ['DEMO', 'GIT_TOKEN', 'PACKAGE_TOKEN']
  const variables = names.map((name) => `printf '%s\\n' "$${name}"\n`)
  await writeFile(script, [...(await Promise.all(steps)), ...variables].join(''))
  const { exitCode, output, errorText } = await runToEnd('bash', ['-euo', 'pipefail', script], {
    cwd: clone,
    environment: { ...environment, ...WITHOUT_IDENTITY, TMPDIR: temporary },
    timeoutMs: STEPS_MS,
    outputBytesMax: OUTPUT_BYTES_MAX,
  })
  const shown = await Promise.all(
    blocks.map((_, at) => readFile(join(folder, `step-${at + 1}.sh.out`), 'utf8').catch(() => '')),
  )
  const [demo = '', gitToken, packageToken] = output.toString().split('\n')
  return { exitCode, errorText, shown, demo, gitToken, packageToken }
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()
}

t.test('the first steps of README.md succeed for a new user', async (t) => {
  const [start = '', ...blocks] = blocksOf(await readFile(join(ROOT, 'README.md'), 'utf8'))
  t.match(start, /^# First terminal\b/)
  t.match(blocks[0], /^# Second terminal\b/)
  const newcomer = await aNewcomer(t)
  const before = await readdir(newcomer.clone)
  const server = await startServer(t, newcomer, start)
  t.match(server.shown(), `Gatehouse serves at http://127.0.0.1:${newcomer.port}`)
  t.notMatch(server.shown(), /Installing|Compiling/)

  const { exitCode, errorText, shown, demo, gitToken, packageToken } = await runSteps(
    newcomer,
    blocks,
  )
  const lastLines = errorText.split(/[\r\n]+/).slice(-10)
  if (!t.equal(exitCode, 0, 'the steps succeed', { lastLines })) return
  t.equal(shown[0], 'created ada\n')
  for (const token of [gitToken, packageToken]) t.match(token, /^[0-9a-f]{40}$/)
  t.not(gitToken, packageToken)
  const limited = JSON.parse(shown[2] ?? '')
  t.match(limited, { name: 'ci', sha1: /^[0-9a-f]{40}$/, repositories: ['ada/hello'] })

  t.equal(dirname(demo), newcomer.temporary, 'the examples are outside of the project')
  t.equal(git(join(demo, 'hello-again'), 'log', '--format=%s %an'), 'Begin Ada')
  const head = git(join(demo, 'hello'), 'rev-parse', 'HEAD')
  t.equal(git(join(demo, 'hello-again'), 'rev-parse', 'HEAD'), head)
  const [published, downloaded] = await Promise.all(
    ['tool.tar.gz', 'downloaded.tar.gz'].map((name) => readFile(join(demo, name))),
  )
  t.ok(
    published !== undefined && downloaded?.equals(published),
    'the downloaded package equals the published one',
  )

  const added = (await readdir(newcomer.clone)).filter((name) => !before.includes(name))
  t.strictSame(added, ['data'], 'the project has one new folder')
  t.strictSame(await readdir(newcomer.home), [], 'the home folder is still empty')
  await server.pressCtrlC()
  t.equal(await listenersOn(newcomer.port), 0, 'Ctrl-C ends the server')
})
