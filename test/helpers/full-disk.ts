/** A server on a small disk that tests fill, with contents that each surface can read. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Person } from './gatehouse.js'
import { tryGit } from './git-client.js'
import { makeRepository } from './repositories.js'
import { mountSmallDisk, type SmallDisk } from './small-disk.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from './ssh-gatehouse.js'
import { temporaryFolder } from './temporary.js'
import { newWorkingCopy, type WorkingCopy } from './working-copy.js'

const DISK = 'size=40m'
const LARGE_BYTES = 600_000

/** Result of a write: success, and the client's output. */
export interface Outcome {
  readonly isDone: boolean
  readonly output: string
}

export interface FullDisk {
  readonly fixture: SshGatehouse
  readonly disk: SmallDisk
  readonly ada: Person & Caller
  readonly bob: Person
  readonly copy: WorkingCopy
  readonly commit: string
  readonly cookie: string
  /** Sends a request with ada's token. */
  send(method: string, path: string, options?: Sent): Promise<Outcome>
}

interface Sent {
  readonly body?: string | Uint8Array<ArrayBuffer> | URLSearchParams | FormData
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns a request body with a value as JSON. */
export const json = (value: unknown): Sent => ({
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
})

/** Returns random content that does not fit on a nearly full disk. */
export const large = (): Buffer<ArrayBuffer> => randomBytes(LARGE_BYTES)

/**
 * Starts a server on a small disk, with a repository, two pull requests, a release and a package.
 * Returns undefined if this machine does not permit mounting one.
 */
export async function openFullDisk(t: Test, freeMin: string): Promise<FullDisk | undefined> {
  const disk = await mountSmallDisk(t, DISK)
  if (disk === undefined) {
    t.comment('this machine does not permit mounting a tmpfs')
    return undefined
  }
  const fixture = await startSshGatehouse(t, {
    parent: disk.path,
    workers: 1,
    environment: {
      GATEHOUSE_DATA_DISK_FREE_MIN: freeMin,
      GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1',
      GATEHOUSE_MAINTENANCE_ENABLED: 'true',
    },
  })
  const { gatehouse } = fixture
  const ada = await fixture.addPerson('ada')
  const bob = await gatehouse.addUser('bob')
  const send: FullDisk['send'] = async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(`${gatehouse.url}${path}`, {
      method,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `token ${ada.token}`, ...headers },
    })
    return { isDone: response.status < 400, output: `${response.status} ${await response.text()}` }
  }
  await makeRepository(ada, 'library')
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('content', large())
  const remote = ada.remote('ada/library.git')
  await copy.git('push', '--quiet', remote, 'HEAD:refs/heads/main')
  for (const branch of ['one', 'two']) {
    await copy.git('checkout', '--quiet', '--detach', commit)
    const tip = await copy.commit(branch)
    await copy.git('push', '--quiet', remote, `${tip}:refs/heads/${branch}`)
    const input = json({ title: branch, head: branch, base: 'main' })
    t.match(await send('POST', '/api/v1/repos/ada/library/pulls', input), { isDone: true })
  }
  const release = json({ tag_name: 'v1', target_commitish: 'main' })
  t.match(await send('POST', '/api/v1/repos/ada/library/releases', release), { isDone: true })
  t.match(await send('PUT', '/api/packages/ada/generic/tool/1/file', { body: 'x' }), SUCCESS)
  const cookie = await signIn(gatehouse.url, ada)
  return { fixture, disk, ada, bob, copy, commit, cookie, send }
}

const SUCCESS = { isDone: true }

/** Signs in with the form; returns the session cookie. */
export async function signIn(url: string, { name, password }: Person): Promise<string> {
  const body = new URLSearchParams({ user_name: name, password })
  const { headers } = await fetch(`${url}/user/login`, { method: 'POST', redirect: 'manual', body })
  return String(headers.get('set-cookie')).split(';')[0] ?? ''
}

/** Checks that reads on each surface succeed. */
export async function readAll(t: Test, { send, fixture, ada, commit }: FullDisk): Promise<void> {
  for (const path of [
    '/livez',
    '/api/v1/repos/ada/library',
    '/api/v1/repos/ada/library/pulls/2',
    '/ada/library',
    '/api/v1/repos/ada/library/raw/content',
    '/api/packages/ada/generic/tool/1/file',
    '/api/v1/user',
  ]) {
    t.match(await send('GET', path), SUCCESS, path)
  }
  const folder = await temporaryFolder(t)
  const remotes = [ada.remote('ada/library.git'), fixture.remote('ada/library')]
  for (const [index, remote] of remotes.entries()) {
    const into = join(folder, String(index))
    const words = ['clone', '--quiet', remote, into]
    const cloned = await tryGit(words, { cwd: folder, environment: ada.environment })
    t.equal(cloned.exitCode, 0, cloned.errorText)
    const found = await tryGit(['cat-file', '-t', commit], { cwd: into })
    t.equal(found.output, 'commit')
  }
}
