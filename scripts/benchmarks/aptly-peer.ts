/** Peer for Debian indexes: aptly, which stores packages in a database and publishes them. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchmarkContext } from './benchmark.js'
import { ARCHITECTURE, COMPONENT, type DebianSide, DISTRIBUTION, LIST } from './debian-side.js'
import { createCpuGroup, runInGroup } from './server.js'
import { makeSigningHome } from './signing-home.js'

const REPOSITORY = 'bench'

/** Options that skip files which Gatehouse does not generate either. */
const WITHOUT = ['-skip-contents', '-skip-bz2']

/** Creates an empty repository in the benchmark's folder. */
export async function startAptlyPeer({ folder, signal }: BenchmarkContext): Promise<DebianSide> {
  const home = join(folder, 'aptly')
  await mkdir(home)
  const cpu = await createCpuGroup('aptly')
  const { key, environment, stop } = await makeSigningHome(cpu, { folder: home, signal })
  const configFile = join(home, 'aptly.conf')
  const configuration = { rootDir: home, architectures: [ARCHITECTURE], gpgProvider: 'gpg' }
  await writeFile(configFile, JSON.stringify(configuration))
  const logFile = join(home, 'log')
  const run = (...words: readonly string[]) => {
    const program = ['aptly', `-config=${configFile}`, ...words] as const
    return runInGroup(cpu, { program, environment, logFile, signal })
  }
  const sign = ['-batch', `-gpg-key=${key}`]
  await run('repo', 'create', `-component=${COMPONENT}`, REPOSITORY)
  return {
    name: 'aptly',
    cpu,
    async fill(debFolder) {
      await run('repo', 'add', REPOSITORY, debFolder)
      const asGatehouse = ['-acquire-by-hash', `-distribution=${DISTRIBUTION}`]
      await run('publish', 'repo', ...sign, ...WITHOUT, ...asGatehouse, REPOSITORY)
    },
    async add({ path }) {
      await run('repo', 'add', REPOSITORY, path)
      await run('publish', 'update', ...sign, ...WITHOUT, DISTRIBUTION)
      return readFile(join(home, 'public', 'dists', DISTRIBUTION, LIST))
    },
    async stop() {
      await stop()
      await cpu.remove()
    },
  }
}
