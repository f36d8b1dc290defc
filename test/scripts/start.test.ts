/** A clone becomes a running program by one command, installed and built only when needed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'

const ROOT = new URL('../../../', import.meta.url).pathname

/** Says what it was called with, so that a test sees that it ran. */
const PROGRAM = "process.stdout.write(['ran', ...process.argv.slice(2)].join(' '))\n"

const PACKAGE = {
  name: 'clone',
  version: '1.0.0',
  type: 'module',
  engines: { node: '>=20.19 <99' },
  dependencies: { packed: 'file:packed' },
  scripts: { build: 'mkdir -p dist/scripts && cp scripts/gatehouse.ts dist/scripts/gatehouse.js' },
}

/** A clone with our scripts, a compiler that copies, and one package, which needs no registry. */
function makeClone(t: Test, changes: object = {}): string {
  const packed = { 'package.json': '{"name":"packed","version":"1.0.0"}' }
  const clone = join(t.testdir({ home: {}, elsewhere: {}, 'a clone': { packed } }), 'a clone')
  mkdirSync(`${clone}/scripts`)
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

/** Moves a file's time past whatever was built. */
function touch(path: string): void {
  const soon = Date.now() / 1000 + 5
  utimesSync(path, soon, soon)
}

const started = makeClone(t)
const firstStart = run(started, 'start')

/** A clone that has been started before. */
function startedClone(t: Test): string {
  const clone = join(t.testdir({ home: {}, elsewhere: {} }), 'a clone')
  cpSync(started, clone, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  return clone
}

t.test('a bare clone is installed and built, then serves', async (t) => {
  const { stdout, stderr, status } = firstStart
  t.equal(stdout, 'ran serve', stderr)
  t.equal(status, 0)
  t.match(stderr, /Installing.*Compiling/s)
})

t.test('what is there is neither installed nor built again', async (t) => {
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
  t.equal(stdout, '', 'what installing and building say goes to standard error')
})

t.test('a newer source is built, and what lost its source is gone', async (t) => {
  const clone = startedClone(t)
  writeFileSync(`${clone}/dist/scripts/old.js`, '')
  writeFileSync(`${clone}/scripts/gatehouse.ts`, PROGRAM.replace('ran', 'ran anew'))
  touch(`${clone}/scripts/gatehouse.ts`)
  t.equal(run(clone, 'start').stdout, 'ran anew serve')
  t.notOk(existsSync(`${clone}/dist/scripts/old.js`))
})

t.test('a page is a source: what was made of it stays, a newer one is built', async (t) => {
  const clone = startedClone(t)
  writeFileSync(`${clone}/scripts/page.tsx`, '')
  writeFileSync(`${clone}/dist/scripts/page.js`, '')
  touch(`${clone}/scripts/page.tsx`)
  t.match(run(clone, 'start').stderr, /Compiling/)
  utimesSync(`${clone}/scripts/page.tsx`, 1, 1)
  t.equal(run(clone, 'start').stderr, '')
  t.ok(existsSync(`${clone}/dist/scripts/page.js`))
})

t.test('files of the data folder are not sources', async (t) => {
  const clone = startedClone(t)
  mkdirSync(`${clone}/data`)
  writeFileSync(`${clone}/data/pushed.ts`, '')
  touch(`${clone}/data/pushed.ts`)
  t.equal(run(clone, 'start').stderr, '')
})

t.test('another lock file is installed', async (t) => {
  const clone = startedClone(t)
  execFileSync('sh', ['-c', 'echo >> package-lock.json'], { cwd: clone })
  t.match(run(clone, 'start').stderr, /Installing/)
})

t.test('an install that failed is not taken for whole', async (t) => {
  const clone = makeClone(t, { dependencies: { 'not-in-the-lock': '1.0.0' } })
  for (const attempt of ['first', 'second']) {
    const { status, stdout, stderr } = run(clone, 'start')
    t.equal(status, 1, attempt)
    t.equal(stdout, '')
    t.match(stderr, /The npm packages could not be installed/)
  }
})

t.test('an install that was cut off is done again', async (t) => {
  const clone = makeClone(t)
  mkdirSync(`${clone}/node_modules/half-a-package`, { recursive: true })
  t.match(run(clone, 'start').stderr, /Installing/)
  t.notOk(existsSync(`${clone}/node_modules/half-a-package`))
})

t.test('a build that failed is not taken for whole', async (t) => {
  const build = 'mkdir -p dist/scripts && echo half > dist/scripts/gatehouse.js && exit 1'
  const clone = startedClone(t)
  writeFileSync(
    `${clone}/package.json`,
    JSON.stringify({ ...PACKAGE, scripts: { build } }, null, 2),
  )
  touch(`${clone}/package.json`)
  for (const attempt of ['first', 'second']) {
    const { status, stdout, stderr } = run(clone, 'start')
    t.equal(status, 1, attempt)
    t.equal(stdout, '')
    t.match(stderr, /The sources do not compile/)
  }
})

t.test('a Node that is too old or too new is named in one line', async (t) => {
  for (const node of ['>=99.0 <100', '>=18.0 <20', '>=20.99 <21']) {
    const { status, stderr } = run(makeClone(t, { engines: { node } }), 'start')
    t.equal(status, 1)
    t.equal(stderr, `Gatehouse needs Node.js ${node}; this one is ${process.version}.\n`)
  }
})

t.test('a program that is missing is named in one line', async (t) => {
  const clone = makeClone(t)
  const bin = join(dirname(clone), 'home')
  for (const program of ['sh', 'dirname', 'sed', 'node', 'npm', 'git']) {
    const { status, stderr } = run(clone, 'start', { path: bin })
    if (['node', 'npm', 'git'].includes(program)) {
      t.equal(status, 1)
      t.equal(stderr, `Gatehouse needs ${program} (Node.js >=20.19 <99) on the PATH.\n`)
    }
    const found = execFileSync('which', [program], { encoding: 'utf8' }).trim()
    writeFileSync(`${bin}/${program}`, `#!/bin/sh\nexec ${found} "$@"\n`, { mode: 0o755 })
  }
  rmSync(bin, { recursive: true })
})
