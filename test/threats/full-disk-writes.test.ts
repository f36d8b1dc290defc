/** Threat: the disk is full; each surface refuses writes in its own form, and reads succeed. */

import { type Test, t } from 'tap'
import {
  type FullDisk,
  json,
  large,
  type Outcome,
  openFullDisk,
  readAll,
  signIn,
} from '../helpers/full-disk.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { listStaleFilesIn, until } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'

const SETTLES_WITHIN_MS = 30_000
/** Number of surfaces that are tried again after the first test; the second tries all of them. */
const FEW = 2
/** Surfaces that store files as a generic package does; each is tried on a disk without space. */
const LIKE_OTHERS = /^a package at (?:alpine|cran|composer)/

interface Surface {
  readonly name: string
  /** True if the write needs more than the space of a nearly full disk. */
  readonly isLarge: boolean
  /** Pattern of the client's output if the write is refused. */
  readonly refusal: RegExp
  readonly write: (scene: FullDisk, label: string) => Promise<Outcome>
}

const STATUS_507 = /^507 .*(?:disk is full or read-only|The disk is full)/s
const GIT_ERROR = /disk is full or read-only|No space left on device/

const packages = (path: string) => (scene: FullDisk) =>
  scene.send('PUT', `/api/packages/ada/${path}`, { body: large() })

const SURFACES: readonly Surface[] = [
  {
    name: 'a file over the API',
    isLarge: true,
    refusal: STATUS_507,
    write: ({ send }, label) =>
      send(
        'POST',
        `/api/v1/repos/ada/library/contents/${label}`,
        json({ content: large().toString('base64'), branch: 'main' }),
      ),
  },
  {
    name: 'a new repository',
    isLarge: false,
    refusal: STATUS_507,
    write: ({ send }, label) =>
      send('POST', '/api/v1/user/repos', json({ name: `made-${label}`, auto_init: true })),
  },
  {
    name: 'a new repository by a form',
    isLarge: false,
    refusal: STATUS_507,
    write: ({ send, cookie }, label) =>
      send('POST', '/repo/create', {
        body: new URLSearchParams({ name: `form-${label}`, readme: 'on' }),
        headers: { cookie, authorization: '' },
      }),
  },
  {
    name: 'a fork',
    isLarge: true,
    refusal: STATUS_507,
    write: ({ send, bob }, label) =>
      send('POST', '/api/v1/repos/ada/library/forks', {
        body: JSON.stringify({ name: `fork-${label}` }),
        headers: { authorization: `token ${bob.token}`, 'content-type': 'application/json' },
      }),
  },
  {
    name: 'a migration',
    isLarge: true,
    refusal: STATUS_507,
    write: ({ send, fixture: { gatehouse } }, label) =>
      send(
        'POST',
        '/api/v1/repos/migrate',
        json({ clone_addr: `${gatehouse.url}/ada/library.git`, repo_name: `taken-${label}` }),
      ),
  },
  {
    name: 'a merge',
    isLarge: false,
    refusal: STATUS_507,
    write: ({ send }, label) =>
      send(
        'POST',
        `/api/v1/repos/ada/library/pulls/${label === 'full' ? 1 : 2}/merge`,
        json({ Do: 'merge' }),
      ),
  },
  {
    name: 'a file of a release',
    isLarge: true,
    refusal: STATUS_507,
    write: ({ send }, label) => {
      const form = new FormData()
      form.append('attachment', new Blob([large()]), `file-${label}`)
      return send('POST', '/api/v1/repos/ada/library/releases/1/assets', { body: form })
    },
  },
  {
    name: 'a generic package',
    isLarge: true,
    refusal: STATUS_507,
    write: (scene, label) => packages(`generic/tool/${label}/file`)(scene),
  },
  ...['alpine/v3/main', 'cran/src', 'composer', 'debian/pool/stable/main/upload', 'go/upload'].map(
    (path): Surface => ({
      name: `a package at ${path}`,
      isLarge: true,
      refusal: STATUS_507,
      write: packages(path),
    }),
  ),
  {
    name: 'a push over HTTPS',
    isLarge: true,
    refusal: GIT_ERROR,
    write: ({ ada, ...scene }, label) => push(scene, label, { to: ada.remote('ada/library.git') }),
  },
  {
    name: 'a push over SSH',
    isLarge: true,
    refusal: GIT_ERROR,
    write: ({ ada, fixture, ...scene }, label) =>
      push(scene, label, { to: fixture.remote('ada/library'), environment: ada.environment }),
  },
  {
    name: 'the command line',
    isLarge: false,
    refusal: /^gatehouse: .*disk is full/,
    async write({ fixture: { gatehouse } }, label) {
      const words = ['token', 'create', 'ada', '--name', label, '--scopes', 'all']
      const { exitCode, errorText } = await gatehouse.run(...words)
      return { isDone: exitCode === 0, output: errorText }
    },
  },
]

interface Target {
  readonly to: string
  readonly environment?: Readonly<Record<string, string>>
}

async function push(
  { copy, commit }: Pick<FullDisk, 'copy' | 'commit'>,
  label: string,
  { to, environment = {} }: Target,
): Promise<Outcome> {
  const branch = `${label}-${to.startsWith('http') ? 'https' : 'ssh'}`
  await copy.git('checkout', '--quiet', '--detach', commit)
  const tip = await copy.commit(branch, large())
  const words = ['push', to, `${tip}:refs/heads/${branch}`]
  const { exitCode, errorText } = await copy.try(words, { environment })
  return { isDone: exitCode === 0, output: errorText }
}

/** Waits until the worker, which checks the free space every second, reports this readiness. */
async function readiness(scene: FullDisk, isReady: boolean) {
  return await until(
    () => scene.send('GET', '/readyz'),
    ({ isDone }) => isDone === isReady,
    SETTLES_WITHIN_MS,
  )
}

/** Frees the disk and checks that these surfaces work and that refused writes left no file. */
async function recoverFrom(t: Test, scene: FullDisk, surfaces: readonly Surface[]): Promise<void> {
  const { gatehouse } = scene.fixture
  const left = await until(
    () => listStaleFilesIn(gatehouse.dataDir),
    (found) => found.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(left, [], 'no part of a refused write is left')
  await scene.disk.free()
  t.match(await readiness(scene, true), { output: '200 ok\n' })
  for (const { name, write } of surfaces) {
    const { isDone, output } = await write(scene, 'free')
    const isPackage = name.startsWith('a package at ')
    t.ok(
      isPackage ? /^4\d\d /.test(output) : isDone,
      `${name} works again: ${output.slice(0, 300)}`,
    )
  }
  // The maintenance that follows a push may be running.
  const isWhole = (found: readonly string[]) => found.length === 0
  t.strictSame(await until(() => faultsOnDisk(gatehouse), isWhole, SETTLES_WITHIN_MS), [])
  t.notMatch(gatehouse.log(), /"internal server error"/)
}

t.test('writes are refused before they start if less than the reserve is free', async (t) => {
  const scene = await openFullDisk(t, '8MiB')
  if (scene === undefined) return
  const { disk, send, fixture, ada } = scene
  await makeRepository(ada, 'useless')
  await disk.fill(4_194_304)
  t.match(await readiness(scene, false), { output: '503 data:space: failing\n' })
  t.match((await send('GET', '/metrics')).output, /^gatehouse_writes_refused 1$/m)
  t.match(
    (await send('GET', '/metrics')).output,
    /^gatehouse_disk_free_bytes\{folder="data"\} 4\d{6}$/m,
  )
  for (const { name, refusal, write } of SURFACES) {
    const { isDone, output } = await write(scene, 'full')
    // The reserve is for administrators, so the command line may write.
    t.equal(isDone, name === 'the command line', `${name}: ${output.slice(0, 300)}`)
    if (!isDone) t.match(output, refusal, name)
  }
  await readAll(t, scene)
  t.match(await signIn(fixture.gatehouse.url, ada), /=/, 'sign-in works')
  t.match(await send('DELETE', '/api/v1/repos/ada/useless'), { output: '204 ' })
  t.match(await send('DELETE', '/api/v1/packages/ada/generic/tool/1'), { output: '204 ' })
  await send('PUT', '/api/packages/ada/generic/tool/1/file', { body: 'x' })
  await recoverFrom(t, scene, SURFACES.slice(0, FEW))
})

t.test('writes that do not fit fail with disk-full errors if there is no reserve', async (t) => {
  const scene = await openFullDisk(t, '0')
  if (scene === undefined) return
  const { disk } = scene
  const writeTo = async (leftBytes: number, { name, refusal, write }: Surface) => {
    await disk.fill(leftBytes)
    const { isDone, output } = await write(scene, 'full')
    t.notOk(isDone, `${name}, of ${leftBytes} bytes`)
    t.match(output, refusal, `${name}, of ${leftBytes} bytes: ${output.slice(0, 300)}`)
    await disk.free()
    // Each write must fail at the disk, and not because of the failure of the previous write.
    await readiness(scene, true)
  }
  const partly = isFullSize ? SURFACES : SURFACES.filter(({ name }) => !LIKE_OTHERS.test(name))
  for (const surface of partly) if (surface.isLarge) await writeTo(262_144, surface)
  for (const surface of SURFACES) await writeTo(0, surface)
  // The second pull request cannot be compared with the new tip of its base.
  const content = Buffer.from('moved').toString('base64')
  const path = '/api/v1/repos/ada/library/contents/moved'
  const moved = await scene.send('POST', path, json({ content }))
  t.ok(moved.isDone, moved.output)
  await disk.fill(0)
  await readAll(t, scene)
  await recoverFrom(t, scene, partly)
})
