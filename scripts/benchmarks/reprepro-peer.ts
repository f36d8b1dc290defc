/** Peer for Debian indexes: reprepro, which stores the index paragraphs in a database. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchmarkContext } from './benchmark.js'
import { ARCHITECTURE, COMPONENT, type DebianSide, DISTRIBUTION, LIST } from './debian-side.js'
import { createCpuGroup, runInGroup } from './server.js'
import { makeSigningHome } from './signing-home.js'

/** Maximum files in one command, because the kernel limits the size of the arguments. */
const FILES_PER_COMMAND = 2_000

/** Creates an empty repository in the benchmark's folder. */
export async function startRepreproPeer({ folder, signal }: BenchmarkContext): Promise<DebianSide> {
  const home = join(folder, 'reprepro')
  await mkdir(join(home, 'conf'), { recursive: true })
  const cpu = await createCpuGroup('reprepro')
  const { key, environment, stop } = await makeSigningHome(cpu, { folder: home, signal })
  const lines = [
    `Codename: ${DISTRIBUTION}`,
    `Components: ${COMPONENT}`,
    `Architectures: ${ARCHITECTURE}`,
    `SignWith: ${key}`,
    // The same forms as Gatehouse; the default lacks .xz.
    'DebIndices: Packages Release . .gz .xz',
  ]
  await writeFile(join(home, 'conf', 'distributions'), `${lines.join('\n')}\n`)
  const logFile = join(home, 'log')
  const run = (...words: readonly string[]) => {
    const program = ['reprepro', '--silent', '--basedir', home, ...words] as const
    return runInGroup(cpu, { program, environment, logFile, signal })
  }
  return {
    name: 'reprepro',
    cpu,
    async fill(_, debs) {
      const left = debs.map(({ path }) => path)
      while (left.length > 0) {
        const some = left.splice(0, FILES_PER_COMMAND)
        await run('--export=silent-never', 'includedeb', DISTRIBUTION, ...some)
      }
      await run('export', DISTRIBUTION)
    },
    async add({ path }) {
      await run('includedeb', DISTRIBUTION, path)
      return readFile(join(home, 'dists', DISTRIBUTION, LIST))
    },
    async stop() {
      await stop()
      await cpu.remove()
    },
  }
}
