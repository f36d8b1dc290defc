/** Peer for package documents with many versions: verdaccio, an npm registry in JavaScript. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchmarkContext } from './benchmark.js'
import { createCpuGroup, freePort, type MeasuredServer, startServer, USER_PATH } from './server.js'

/** Path of the program that `scripts/verdaccio` installs; scripts/bench runs it, tests do not. */
export const VERDACCIO = fileURLToPath(
  new URL('../../../.programs/verdaccio/node_modules/verdaccio/bin/verdaccio', import.meta.url),
)

export interface VerdaccioPeer extends MeasuredServer {
  /** Adds a package with these versions, whose document is at `/NAME`. */
  addPackage(name: string, versions: readonly string[]): Promise<void>
}

/** Starts verdaccio with its files in the benchmark's folder, public and without an uplink. */
export async function startVerdaccioPeer({
  folder,
  signal,
}: BenchmarkContext): Promise<VerdaccioPeer> {
  const home = join(folder, 'verdaccio')
  const storage = join(home, 'storage')
  await mkdir(storage, { recursive: true })
  const configFile = join(home, 'config.yaml')
  await writeFile(configFile, JSON.stringify(configOf(storage)))
  const port = await freePort()
  const cpu = await createCpuGroup('verdaccio')
  const listen = ['--listen', `127.0.0.1:${port}`, '--config', configFile]
  const server = await startServer(
    cpu,
    {
      program: [process.execPath, VERDACCIO, ...listen],
      environment: { PATH: USER_PATH, HOME: home },
      logFile: join(home, 'log'),
      signal,
    },
    { port },
  )
  return {
    url: `http://127.0.0.1:${port}`,
    cpu,
    async addPackage(name, versions) {
      await mkdir(join(storage, name), { recursive: true })
      // Written directly, because publishing takes longer with each version.
      await writeFile(
        join(storage, name, 'package.json'),
        JSON.stringify(packageOf(name, versions)),
      )
    },
    async stop() {
      await server.stop()
      await cpu.remove()
    },
  }
}

/** Returns the configuration, which is written as JSON because YAML includes JSON. */
function configOf(storage: string) {
  return {
    storage,
    auth: {},
    uplinks: {},
    packages: { '**': { access: '$all' } },
    log: { type: 'stdout', format: 'pretty', level: 'error' },
  }
}

function packageOf(name: string, versions: readonly string[]) {
  const made = versions.map((version) => {
    const tarball = `http://localhost/${name}/-/${name}-${version}.tgz`
    const dist = { shasum: '0'.repeat(40), integrity: `sha512-${'A'.repeat(86)}==`, tarball }
    return [version, { name, version, _id: `${name}@${version}`, dist }] as const
  })
  const publishedAt = new Date(0).toISOString()
  return {
    name,
    _id: name,
    _rev: '1-0',
    readme: '',
    versions: Object.fromEntries(made),
    time: Object.fromEntries(versions.map((version) => [version, publishedAt])),
    'dist-tags': { latest: versions.at(-1) },
    _distfiles: {},
    _attachments: {},
    _uplinks: {},
  }
}
