/**
 * The start script turns a fresh clone into a running program and installs and builds only if
 * needed.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

const ROOT = new URL('../../../', import.meta.url).pathname

/** Program that prints its arguments, to show that it ran. */
const PROGRAM = "process.stdout.write(['ran', ...process.argv.slice(2)].join(' '))\n"

const PACKAGE = {
  name: 'clone',
  version: '1.0.0',
  type: 'module',
  engines: { node: '>=22.14 <99' },
  dependencies: { packed: 'file:packed' },
}

const SOURCE_FOLDERS = ['gateway', 'cgi', 'registry', 'sql', 'conf', 'scripts', 'test']

/** Replacement of the compiler that copies the one source file. */
const BUILD =
  '#!/bin/sh\nmkdir -p dist/program && cp scripts/gatehouse.ts dist/program/gatehouse.js\n'

/** Creates a clone with our scripts, a compiler that copies, and one package without a registry. */
function makeClone(t: Test, changes: object = {}): string {
  const packed = { 'package.json': '{"name":"packed","version":"1.0.0"}' }
  const clone = join(t.testdir({ home: {}, elsewhere: {}, 'a clone': { packed } }), 'a clone')
  for (const folder of SOURCE_FOLDERS) mkdirSync(`${clone}/${folder}`)
  writeFileSync(`${clone}/tsconfig.json`, '{}')
  writeFileSync(`${clone}/scripts/build`, BUILD, { mode: 0o755 })
  for (const script of ['prepare.sh', 'start', 'gatehouse']) {
    cpSync(`${ROOT}scripts/${script}`, `${clone}/scripts/${script}`)
  }
  writeFileSync(`${clone}/scripts/gatehouse.ts`, PROGRAM)
  writeFileSync(`${clone}/package.json`, JSON.stringify({ ...PACKAGE, ...changes }, null, 2))
  const packages = {
    '': PACKAGE,
    packed: { version: '1.0.0' },
    'node_modules/packed': { resolved: 'packed', link: true },
  }
  const lock = { name: 'clone', version: '1.0.0', lockfileVersion: 3, packages }
  writeFileSync(`${clone}/package-lock.json`, JSON.stringify(lock))
  return clone
}

/** Runs a script of the clone from another folder, with an empty home. */
function run(clone: string, script: string, options: { args?: string[]; path?: string } = {}) {
  const { args = [], path = process.env['PATH'] } = options
  return spawnSync(`${clone}/scripts/${script}`, args, {
    cwd: join(dirname(clone), 'elsewhere'),
    env: { PATH: path, HOME: join(dirname(clone), 'home') },
    encoding: 'utf8',
  })
}

/** Runs a script like `run`, concurrently with others; returns its output. */
async function runBeside(clone: string, script: string): Promise<string> {
  const child = spawn(`${clone}/scripts/${script}`, [], {
    env: { PATH: process.env['PATH'], HOME: join(dirname(clone), 'home') },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return await text(child.stdout)
}

/** Sets a file's time later than every built file's. */
function touch(path: string): void {
  const soon = Date.now() / 1000 + 5
  utimesSync(path, soon, soon)
}

const started = makeClone(t)
const firstStart = run(started, 'start')

/** Returns a clone that has been started before. */
function startedClone(t: Test): string {
  const clone = join(t.testdir({ home: {}, elsewhere: {} }), 'a clone')
  cpSync(started, clone, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  return clone
}

t.test('a fresh clone is installed, built and served', async (t) => {
  const { stdout, stderr, status } = firstStart
  t.equal(stdout, 'ran serve', stderr)
  t.equal(status, 0)
  t.match(stderr, /Installing.*Compiling/s)
})

t.test('a terminal shows the seconds of a step and then its duration', async (t) => {
  const clone = makeClone(t)
  writeFileSync(`${clone}/scripts/build`, BUILD.replace('mkdir', 'sleep 1.2 && mkdir'))
  const { stdout, status } = spawnSync(
    'script',
    ['-qec', `'${clone}/scripts/start'`, '/dev/null'],
    {
      env: { PATH: process.env['PATH'], HOME: join(dirname(clone), 'home') },
      encoding: 'utf8',
    },
  )
  t.equal(status, 0, stdout)
  t.match(stdout, /Compiling the program … 0 s\rCompiling the program … 1 s\r/)
  t.match(stdout, /Compiling the program: 1\.\d s/)
  t.notMatch(stdout, 'Waiting', 'each step releases the lock')
})

t.test('an installed and built clone is neither installed nor built again', async (t) => {
  const clone = startedClone(t)
  const second = run(clone, 'gatehouse', { args: ['user', 'create', 'a b', '--email', ''] })
  t.equal(second.stdout, 'ran user create a b --email ')
  t.equal(second.stderr, '')
})

t.test('the exit code and the output are those of the program', async (t) => {
  const clone = startedClone(t)
  writeFileSync(`${clone}/scripts/gatehouse.ts`, 'process.exitCode = 2\n')
  touch(`${clone}/scripts/gatehouse.ts`)
  const { status, stdout } = run(clone, 'gatehouse')
  t.equal(status, 2)
  t.equal(stdout, '', 'output of installing and building goes to standard error')
})

t.test('a changed source is built, with or without a page', async (t) => {
  const clone = startedClone(t)
  writeFileSync(`${clone}/scripts/gatehouse.ts`, PROGRAM.replace('ran', 'ran anew'))
  touch(`${clone}/scripts/gatehouse.ts`)
  t.equal(run(clone, 'start').stdout, 'ran anew serve')
  writeFileSync(`${clone}/scripts/page.tsx`, '')
  touch(`${clone}/scripts/page.tsx`)
  t.match(run(clone, 'start').stderr, /Compiling the program/)
})

t.test('the compiled form of a test is removed with its source', async (t) => {
  const clone = startedClone(t)
  writeFileSync(`${clone}/test/page.test.tsx`, '')
  mkdirSync(`${clone}/dist/test`)
  for (const name of ['old', 'page']) writeFileSync(`${clone}/dist/test/${name}.test.js`, '')
  const script = '. scripts/prepare.sh && build all'
  const { stderr } = spawnSync('sh', ['-c', script], { cwd: clone, encoding: 'utf8' })
  t.match(stderr, /Compiling the tests/)
  t.notOk(existsSync(`${clone}/dist/test/old.test.js`))
  t.ok(existsSync(`${clone}/dist/test/page.test.js`))
})

t.test('files of the data folder are not sources', async (t) => {
  const clone = startedClone(t)
  mkdirSync(`${clone}/data`)
  writeFileSync(`${clone}/data/pushed.ts`, '')
  touch(`${clone}/data/pushed.ts`)
  t.equal(run(clone, 'start').stderr, '')
})

t.test('a changed lock file is installed', async (t) => {
  const clone = startedClone(t)
  execFileSync('sh', ['-c', 'echo >> package-lock.json'], { cwd: clone })
  t.match(run(clone, 'start').stderr, /Installing/)
})

t.test('a failed install is repeated', async (t) => {
  const clone = makeClone(t, { dependencies: { 'not-in-the-lock': '1.0.0' } })
  for (const attempt of ['first', 'second']) {
    const { status, stdout, stderr } = run(clone, 'start')
    t.equal(status, 1, attempt)
    t.equal(stdout, '')
    t.match(stderr, /The npm packages could not be installed/)
  }
})

t.test('an interrupted install is repeated', async (t) => {
  const clone = makeClone(t)
  mkdirSync(`${clone}/node_modules/half-a-package`, { recursive: true })
  t.match(run(clone, 'start').stderr, /Installing/)
  t.notOk(existsSync(`${clone}/node_modules/half-a-package`))
})

t.test('a failed build is repeated', async (t) => {
  const clone = startedClone(t)
  writeFileSync(
    `${clone}/scripts/build`,
    '#!/bin/sh\necho half > dist/program/gatehouse.js && echo "error: half" && exit 1\n',
  )
  touch(`${clone}/scripts/build`)
  for (const attempt of ['first', 'second']) {
    const { status, stdout, stderr } = run(clone, 'start')
    t.equal(status, 1, attempt)
    t.equal(stdout, '')
    t.match(stderr, /error: half.*The sources do not compile/s, "with the compiler's message")
  }
})

t.test('a Node.js range without any version is reported in one line', async (t) => {
  for (const node of ['>=99.0 <100', '>=18.0 <20', '>=22.99 <23']) {
    const { status, stderr } = run(makeClone(t, { engines: { node } }), 'start')
    t.equal(status, 1)
    t.equal(stderr, `Gatehouse needs Node.js ${node}; this is ${process.version}.\n`)
  }
})

/** Puts programs first on the path: a Node.js of another version, and the given ones. */
function withOldNode(clone: string, programs: Readonly<Record<string, string>> = {}): string {
  const bin = join(dirname(clone), 'home')
  const node = '#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 && exit\nexit 139\n'
  for (const [name, text] of Object.entries({ node, ...programs })) {
    writeFileSync(`${bin}/${name}`, text, { mode: 0o755 })
  }
  return `${bin}:${process.env['PATH']}`
}

t.test('with an older Node.js the one fetched before is used', async (t) => {
  const clone = startedClone(t)
  const path = withOldNode(clone)
  mkdirSync(`${clone}/.prepared/node/bin`, { recursive: true })
  symlinkSync(process.execPath, `${clone}/.prepared/node/bin/node`)
  const { status, stdout, stderr } = run(clone, 'start', { path })
  t.equal(stdout, 'ran serve', stderr)
  t.equal(status, 0)
})

t.test('a Node.js package with another checksum is refused', async (t) => {
  const clone = startedClone(t)
  const npm = '#!/bin/sh\n[ "$1" = pack ] && echo junk > "$(echo "$3" | tr @ -).tgz"\n'
  const { status, stdout, stderr } = run(clone, 'start', { path: withOldNode(clone, { npm }) })
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, /Fetching Node.js .* because this machine has v20\.20\.2/)
  t.match(stderr, /FAILED.*could not be fetched/s)
  t.notOk(existsSync(`${clone}/.prepared/node`))
})

t.test('concurrent start commands prepare a clone one after the other', async (t) => {
  const clone = makeClone(t)
  const running = ['start', 'gatehouse', 'start'].map((script) => runBeside(clone, script))
  const outputs = await Promise.all(running)
  t.same(outputs, ['ran serve', 'ran', 'ran serve'])
})

t.test('a missing program is named in one line', async (t) => {
  const clone = makeClone(t)
  const bin = join(dirname(clone), 'home')
  for (const program of ['sh', 'dirname', 'sed', 'node', 'npm', 'git']) {
    const { status, stderr } = run(clone, 'start', { path: bin })
    if (['node', 'npm', 'git'].includes(program)) {
      t.equal(status, 1)
      t.equal(stderr, `Gatehouse needs ${program} on the PATH (Node.js >=22.14 <99).\n`)
    }
    const found = execFileSync('which', [program], { encoding: 'utf8' }).trim()
    writeFileSync(`${bin}/${program}`, `#!/bin/sh\nexec ${found} "$@"\n`, { mode: 0o755 })
  }
  rmSync(bin, { recursive: true })
})
