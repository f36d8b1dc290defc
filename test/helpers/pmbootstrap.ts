/** What pmbootstrap, who knows nothing of us, reads in an APKINDEX, and how it orders versions. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/run.js'
import { temporaryFolder } from './temporary.js'

/** A package as pmbootstrap tells of it. */
export interface SeenPackage {
  readonly pkgname: string
  readonly version: string
  readonly arch: string
  readonly timestamp: string
  readonly origin: string
  readonly depends: readonly string[]
  readonly provides: readonly string[]
  readonly provider_priority?: string
}

const START = `
import json, logging, sys
sys.path.insert(0, '/usr/share/pmbootstrap')
logging.verbose = lambda *words: None
import pmb.helpers.other
pmb.helpers.other.cache = {'apkindex': {}}
import pmb.parse.apkindex
import pmb.parse.version
given = json.load(sys.stdin)
`

/** All records of an index, in their order. */
export async function pmbBlocks(t: Test, index: Buffer): Promise<readonly SeenPackage[]> {
  const file = join(await temporaryFolder(t), 'APKINDEX.tar.gz')
  await writeFile(file, index)
  return (await run('pmb.parse.apkindex.parse_blocks(given)', file)) as readonly SeenPackage[]
}

/** Who provides a name in an index, each in its newest version. */
export async function pmbProviders(
  t: Test,
  index: Buffer,
  name: string,
): Promise<Readonly<Record<string, SeenPackage>>> {
  const file = join(await temporaryFolder(t), 'APKINDEX.tar.gz')
  await writeFile(file, index)
  const question = 'pmb.parse.apkindex.providers(None, given[0], indexes=[given[1]])'
  return (await run(question, [name, file])) as Readonly<Record<string, SeenPackage>>
}

/** Which of the versions pmbootstrap takes for such. */
export async function pmbValidVersions(versions: readonly string[]): Promise<readonly string[]> {
  const question = '[one for one in given if pmb.parse.version.validate(one)]'
  return (await run(question, versions)) as readonly string[]
}

async function run(expression: string, given: unknown): Promise<unknown> {
  const script = `${START}print(json.dumps(${expression}))`
  const { output, errorText } = await runToEnd('python3', ['-c', script], {
    // It looks for sudo when it is loaded.
    environment: { PATH: process.env['PATH'] ?? '/usr/bin', HOME: '/nonexistent', PMB_SUDO: 'env' },
    ...{ cwd: '/', timeoutMs: 60_000, outputBytesMax: 1 << 24 },
    input: JSON.stringify(given),
  })
  if (output.length === 0) throw new Error(errorText)
  return JSON.parse(output.toString())
}
