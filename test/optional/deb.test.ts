/** The Debian package, published on a Gatehouse and installed with apt in empty roots. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { freePort } from '../helpers/free-port.js'
import { askApi, startGatehouse } from '../helpers/gatehouse.js'
import { diskFolder, temporaryFolder } from '../helpers/temporary.js'
import { cloneInto, newWorkingCopy } from '../helpers/working-copy.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const STARTS_WITHIN_MS = 120_000
const run = promisify(execFile)

/** Root folder of a Debian without further packages. */
interface DebianRoot {
  readonly folder: string
  /** Runs a program in the root as its user root; returns its output. Throws if it fails. */
  run(...command: readonly string[]): Promise<string>
  /** Starts a program in the root as its user git. */
  start(environment: Readonly<Record<string, string>>, ...command: readonly string[]): ChildProcess
}

async function unpackRoot(t: Test, suite: string): Promise<DebianRoot> {
  const folder = await temporaryFolder(t, diskFolder())
  const archive = join(ROOT, `.programs/deb/${suite}.tar`)
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`, '--exclude=./dev/*'])
  await writeFile(join(folder, 'etc/resolv.conf'), await readFile('/etc/resolv.conf'))
  const places = ['--bind', folder, '/', '--bind', '/proc', '/proc', '--dev-bind', '/dev', '/dev']
  const inside = [...places, '--die-with-parent', '--chdir', '/']
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    DEBIAN_FRONTEND: 'noninteractive',
    LC_ALL: 'C.UTF-8',
    // Debian's packages are fetched through the proxy of the machine, if it has one.
    ...(process.env['http_proxy'] === undefined ? {} : { http_proxy: process.env['http_proxy'] }),
    no_proxy: '127.0.0.1',
  }
  return {
    folder,
    async run(...command) {
      const options = { env, maxBuffer: 16 << 20 }
      return (await run('/usr/bin/bwrap', [...inside, '--', ...command], options)).stdout
    },
    start: (environment, ...command) =>
      spawn(
        '/usr/bin/bwrap',
        [...inside, '--', 'setpriv', '--reuid=git', '--regid=git', '--init-groups', ...command],
        { env: { ...env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] },
      ),
  }
}

/** Returns the paths that contain the name of the package, without apt's own files and the data. */
async function tracesIn({ folder }: DebianRoot): Promise<readonly string[]> {
  const skipped = ['var/lib/gatehouse', 'var/lib/apt', 'var/cache', 'etc/apt', 'proc', 'dev']
  const skip = skipped.flatMap((path) => ['-path', join(folder, path), '-prune', '-o'])
  const { stdout } = await run('find', [folder, ...skip, '-name', '*gatehouse*', '-print'])
  return stdout.split('\n').filter((path) => path !== '' && path !== folder)
}

async function untilReady(port: number): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    if (Date.now() > deadlineMs) throw new Error('the installed server is not ready')
    await sleep(100)
  }
}

const gatehouse = await startGatehouse(t)
const ada = await gatehouse.addUser('ada')
const registry = `${gatehouse.url}/api/packages/ada/debian`
const authorization = `token ${ada.token}`
const built = join(ROOT, 'dist/release')
const deb = (await readdir(built)).find((name) => name.endsWith('.deb')) ?? 'no .deb was built'

for (const suite of ['bookworm', 'trixie']) {
  t.test(`apt installs the package on ${suite}, and a purge leaves only the data`, async (t) => {
    const body = await readFile(join(built, deb))
    const upload = `${registry}/pool/${suite}/main/upload`
    const published = await fetch(upload, { method: 'PUT', headers: { authorization }, body })
    t.equal(published.status, 201, await published.text())
    const root = await unpackRoot(t, suite)
    const key = await (await fetch(`${registry}/repository.key`)).text()
    await writeFile(join(root.folder, 'etc/apt/keyrings/gatehouse.asc'), key)
    const source = `deb [signed-by=/etc/apt/keyrings/gatehouse.asc] ${registry} ${suite} main\n`
    await writeFile(join(root.folder, 'etc/apt/sources.list.d/gatehouse.list'), source)

    const beganMs = Date.now()
    await root.run('apt-get', 'update')
    await root.run('apt-get', 'install', '--yes', '--no-install-recommends', 'gatehouse')
    const port = await freePort()
    const listen = { GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`, GATEHOUSE_HTTP_DRAIN: '0s' }
    const server = root.start(listen, 'gatehouse', 'serve')
    t.teardown(() => server.kill('SIGKILL'))
    let greeting = ''
    server.stdout?.on('data', (chunk: Buffer) => {
      greeting += chunk.toString()
    })
    await untilReady(port)
    const asGit = ['setpriv', '--reuid=git', '--regid=git', '--init-groups', 'gatehouse']
    await root.run(...asGit, 'user', 'create', 'bob', '--admin', '--password=correct horse battery')
    const scopes = ['--name=first', '--scopes=all']
    const token = (await root.run(...asGit, 'token', 'create', 'bob', ...scopes)).trim()
    const created = await askApi(port, {
      method: 'POST',
      path: '/user/repos',
      body: { name: 'first' },
      authorization: `token ${token}`,
    })
    t.equal(created.status, 201)
    const copy = await newWorkingCopy(t)
    const commit = await copy.commit('first')
    await copy.git('push', '--quiet', `http://bob:${token}@127.0.0.1:${port}/bob/first`, 'main')
    const clone = await cloneInto(t, `http://127.0.0.1:${port}/bob/first`)
    t.equal(await clone.git('rev-parse', 'HEAD'), commit)
    t.comment(`${((Date.now() - beganMs) / 1_000).toFixed(1)} s from apt-get update to the clone`)
    t.match(greeting, '  sudo -u git gatehouse user create NAME --admin')

    const ended = once(server, 'exit')
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    process.kill(Number(children), 'SIGTERM')
    t.strictSame(await ended, [0, null])
    await root.run('apt-get', 'purge', '--yes', 'gatehouse')
    t.strictSame(await tracesIn(root), [])
    const data = await readdir(join(root.folder, 'var/lib/gatehouse'))
    t.ok(data.includes('gatehouse.db') && data.includes('repositories'), data.join(' '))
  })
}
