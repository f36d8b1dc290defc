/** Podman with storage, networks and images of its own, for the tests of one file. */

import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { podmanEnvironment, searchPath } from '../../conf/load.js'
import { findProgram } from '../../gateway/own-runner/run-program.js'
import { temporaryFolder } from './temporary.js'

/** Image with busybox, without glibc. */
export const BOX = 'localhost/box'

/** Image with busybox and the libraries that Node needs. */
export const NODE_BOX = 'localhost/node-box'

export interface TestPodman {
  /** Variables by which podman finds the configuration. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs podman, and returns its output. */
  run(...args: readonly string[]): Promise<string>
  /** Returns containers, networks and volumes that were not there in the beginning. */
  leftovers(): Promise<readonly string[]>
}

/**
 * Configuration for any machine that starts containers as root: without systemd, and with limits
 * that may not be raised. The addresses are random, because other podmans do not know them.
 */
function configuration(folder: string): string {
  return `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
static_dir = "${folder}/static"
tmp_dir = "${folder}/run"
volume_path = "${folder}/volumes"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
default_subnet_pools = [{ base = "10.${randomInt(100, 250)}.${randomInt(0, 250)}.0/24", size = 28 }]
`
}

/** Makes a podman with the image BOX, which is removed at the end of the test. */
export async function testPodman(t: Test): Promise<TestPodman> {
  const folder = await temporaryFolder(t)
  const [settings, storage] = [join(folder, 'containers.conf'), join(folder, 'storage.conf')]
  await writeFile(settings, configuration(folder))
  const paths = `graphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`
  await writeFile(storage, `[storage]\ndriver = "vfs"\n${paths}`)
  const environment = {
    ...podmanEnvironment(),
    CONTAINERS_CONF: settings,
    CONTAINERS_STORAGE_CONF: storage,
  }
  const run = async (...args: readonly string[]) => {
    const options = { env: environment, cwd: folder }
    return (await promisify(execFile)('podman', args, options)).stdout
  }
  t.teardown(async () => {
    await run('rm', '--all', '--force', '--time=0', '--volumes')
    await run('network', 'prune', '--force')
  })
  await importImage({ run, folder: join(folder, 'box'), name: BOX, libraries: [] })
  return {
    environment,
    run,
    async leftovers() {
      const containers = await run('ps', '--all', '--quiet')
      const networks = await run('network', 'ls', '--quiet', '--filter=label=gatehouse.runner')
      const volumes = await run('volume', 'ls', '--quiet')
      return [containers, networks, volumes].flatMap((text) => text.split('\n')).filter(Boolean)
    },
  }
}

/** Adds the image NODE_BOX. */
export async function addNodeImage(t: Test, { run }: TestPodman): Promise<void> {
  const folder = join(await temporaryFolder(t), 'image')
  const libraries = await librariesOf(process.execPath)
  await importImage({ run, folder, name: NODE_BOX, libraries })
}

interface ImageInput {
  readonly run: TestPodman['run']
  readonly folder: string
  readonly name: string
  readonly libraries: readonly string[]
}

async function importImage({ run, folder, name, libraries }: ImageInput): Promise<void> {
  const busybox = await findProgram('busybox', searchPath())
  if (busybox === undefined) throw new Error('the package busybox-static is missing')
  for (const part of ['bin', 'etc', 'tmp']) await mkdir(join(folder, part), { recursive: true })
  await copyFile(busybox, join(folder, 'bin/busybox'))
  const { stdout } = await promisify(execFile)(busybox, ['--list'])
  for (const program of stdout.split('\n')) {
    if (/^\w/.test(program) && program !== 'busybox') {
      await symlink('busybox', join(folder, 'bin', program))
    }
  }
  for (const library of libraries) {
    await mkdir(dirname(join(folder, library)), { recursive: true })
    await copyFile(library, join(folder, library))
  }
  const archive = `${folder}.tar`
  await promisify(execFile)('tar', ['-C', folder, '-cf', archive, '.'])
  await run('import', '--quiet', archive, name)
}

/** Returns the libraries that a program loads, as ldd(1) lists them. */
async function librariesOf(program: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ldd', [program])
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
}
