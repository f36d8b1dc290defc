/** APKINDEX files and version numbers as parsed by pmbootstrap, an independent implementation. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { t as root, type Test } from 'tap'
import { temporaryFolder } from './temporary.js'

/** A package as returned by pmbootstrap. */
export interface VisiblePackage {
  readonly pkgname: string
  readonly version: string
  readonly arch: string
  readonly timestamp: string
  readonly origin: string
  readonly depends: readonly string[]
  readonly provides: readonly string[]
  readonly provider_priority?: string
}

/** Python program that evaluates an expression for each input line and prints the result. */
const PROGRAM = `
import json, logging, sys, traceback
sys.path.insert(0, '/usr/share/pmbootstrap')
logging.verbose = lambda *words: None
import pmb.helpers.other
import pmb.parse.apkindex
import pmb.parse.version
for line in sys.stdin:
    request = json.loads(line)
    pmb.helpers.other.cache = {'apkindex': {}}
    try:
        answer = {'value': eval(request['expression'], globals(), {'given': request['given']})}
    except BaseException:
        answer = {'error': traceback.format_exc()}
    print(json.dumps(answer), flush=True)
`

/** Returns all records of an index, in order. */
export async function pmbBlocks(t: Test, index: Buffer): Promise<readonly VisiblePackage[]> {
  const file = join(await temporaryFolder(t), 'APKINDEX.tar.gz')
  await writeFile(file, index)
  return (await run('pmb.parse.apkindex.parse_blocks(given)', file)) as readonly VisiblePackage[]
}

/** Returns the packages of an index that provide a name, each in its newest version. */
export async function pmbProviders(
  t: Test,
  index: Buffer,
  name: string,
): Promise<Readonly<Record<string, VisiblePackage>>> {
  const file = join(await temporaryFolder(t), 'APKINDEX.tar.gz')
  await writeFile(file, index)
  const expression = 'pmb.parse.apkindex.providers(None, given[0], indexes=[given[1]])'
  return (await run(expression, [name, file])) as Readonly<Record<string, VisiblePackage>>
}

/** Returns those of the versions that pmbootstrap accepts. */
export async function pmbValidVersions(versions: readonly string[]): Promise<readonly string[]> {
  const expression = '[one for one in given if pmb.parse.version.validate(one)]'
  return (await run(expression, versions)) as readonly string[]
}

interface Answer {
  readonly value?: unknown
  readonly error?: string
}

interface Interpreter {
  readonly child: ChildProcess
  /** Lines with answers, in the order of the requests. */
  readonly lines: AsyncIterator<string>
}

let interpreter: Interpreter | undefined
/** Previous request, whose answer must be read first. */
let previous: Promise<unknown> = Promise.resolve()

/** Evaluates a Python expression in a shared interpreter, which ends with the test file. */
async function run(expression: string, given: unknown): Promise<unknown> {
  const answering = previous.then(() => ask(JSON.stringify({ expression, given })))
  previous = answering.catch(() => undefined)
  const { value, error } = await answering
  if (error !== undefined) throw new Error(error)
  return value
}

async function ask(request: string): Promise<Answer> {
  interpreter ??= startInterpreter()
  const { child, lines } = interpreter
  child.stdin?.write(`${request}\n`)
  const { value, done } = await lines.next()
  if (done === true) throw new Error(`pmbootstrap ended with ${child.exitCode}`)
  return JSON.parse(value) as Answer
}

function startInterpreter(): Interpreter {
  const child = spawn('python3', ['-c', PROGRAM], {
    // pmbootstrap searches for sudo when it is loaded.
    env: { PATH: process.env['PATH'] ?? '/usr/bin', HOME: '/nonexistent', PMB_SUDO: 'env' },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  root.teardown(async () => {
    interpreter = undefined
    child.stdin?.end()
    await ended
  })
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}
