/** Threat: small inputs that git expands to gigabytes, within the limits of git processes. */

import { setTimeout as sleep } from 'node:timers/promises'
import { t } from 'tap'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { conflictingTreeBombs, deltaBombPush } from '../helpers/git-bombs.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  gitProcessesBelow,
  listStaleFilesIn,
  memoryOf,
  until,
} from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const MIB = 1_048_576
const MEMORY_MAX_MIB = isFullSize ? 512 : 128
/** Memory of a process besides its private memory: its program, and mapped packs. */
const SHARED_BYTES_MAX = 64 * MIB
/** Memory limit of git processes that read small objects. */
const SMALL_BYTES = 48 * MIB
const SETTLES_WITHIN_MS = 10_000

const gatehouse = await startGatehouse(t, {
  workers: 1,
  environment: { GATEHOUSE_GIT_MEMORY_MAX: `${MEMORY_MAX_MIB}MiB` },
})
const ada = await gatehouse.addUser('ada')

/** Runs the action and returns the peak memory of the server's git processes, by command. */
async function gitPeaks(
  { pid: server }: Gatehouse,
  action: () => Promise<unknown>,
): Promise<ReadonlyMap<string, number>> {
  const peaks = new Map<string, number>()
  let isDone = false
  const watch = async () => {
    while (!isDone) {
      for (const { pid, command } of await gitProcessesBelow(server)) {
        const memory = await memoryOf(pid).catch(() => undefined)
        const peak = memory?.peakBytes ?? Number.NaN
        if (peak > (peaks.get(command) ?? 0)) peaks.set(command, peak)
      }
      await sleep(10)
    }
  }
  const watching = watch()
  await action().finally(() => {
    isDone = true
  })
  await watching
  return peaks
}

function largest(peaks: ReadonlyMap<string, number>): readonly [command: string, bytes: number] {
  return [...peaks].sort(([, one], [, other]) => other - one)[0] ?? ['none', 0]
}

/** Requests the paths without credentials; returns the statuses. */
function statusesOf(gatehouse: Gatehouse, paths: readonly string[]): Promise<readonly number[]> {
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(gatehouse.url + path)
      await response.arrayBuffer().catch(() => undefined)
      return response.status
    }),
  )
}

t.test('views of a pull request between tree bombs need little memory', async (t) => {
  const remote = ada.remote(await makeRepository(ada, 'library'))
  const copy = await newWorkingCopy(t)
  const { main, side } = await conflictingTreeBombs(copy, { width: 10, depth: 10 })
  const refs = [`${main}:refs/heads/main`, `${side}:refs/heads/side`]
  const paths = [
    '/api/v1/repos/ada/library/pulls',
    '/api/v1/repos/ada/library/pulls/1',
    '/ada/library/pulls/1',
    '/ada/library/pulls',
    '/ada/library/pulls/1/files',
    '/api/v1/repos/ada/library/pulls/1.diff',
    '/api/v1/repos/ada/library/pulls/1.patch',
    '/api/v1/repos/ada/library/pulls/1/files',
    '/api/v1/repos/ada/library/compare/main...side',
    '/ada/library/compare/main...side',
    `/ada/library/commit/${side}`,
    `/api/v1/repos/ada/library/git/commits/${side}.diff`,
    '/ada/library/archive/side.zip',
    '/api/v1/repos/ada/library/commits',
    '/ada/library',
    '/api/v1/repos/ada/library/languages',
  ]
  const statuses: number[] = []
  const peaks = await gitPeaks(gatehouse, async () => {
    await copy.git('push', '--quiet', remote, ...refs)
    const opened = await ada.api('POST', '/repos/ada/library/pulls', {
      title: 'Bombs',
      head: 'side',
      base: 'main',
    })
    t.equal(opened.status, 201)
    for (const _ of isFullSize ? [1, 2, 3] : [1])
      statuses.push(...(await statusesOf(gatehouse, paths)))
    const input = { Do: 'merge' }
    const merged = await ada.api('POST', '/repos/ada/library/pulls/1/merge', input)
    t.match(merged, { status: 409, body: { message: /too many paths/ } })
  })
  const [command, bytes] = largest(peaks)
  t.ok(bytes < SMALL_BYTES, `git takes at most ${Math.round(bytes / MIB)} MiB: ${command}`)
  t.strictSame(
    [...peaks.keys()].filter((line) => line.includes('merge-tree')),
    [],
  )
  t.ok(
    statuses.every((status) => status < 500),
    `${[...new Set(statuses)]}`,
  )
})

t.test(
  'a push of chained deltas fails at the memory limit with an error and leaves no file',
  async (t) => {
    await makeRepository(ada, 'pushed')
    const body = deltaBombPush('refs/heads/bomb', 480_000_000)
    t.ok(body.length < 20_000, `${body.length} bytes are sent`)
    const answers: string[] = []
    const others: number[] = []
    const peaks = await gitPeaks(gatehouse, async () => {
      const pushes = Array.from({ length: isFullSize ? 4 : 2 }, async () => {
        const response = await fetch(`${gatehouse.url}/ada/pushed.git/git-receive-pack`, {
          method: 'POST',
          headers: {
            Authorization: `token ${ada.token}`,
            'Content-Type': 'application/x-git-receive-pack-request',
          },
          body,
        })
        answers.push(await response.text())
      })
      const watching = Promise.all(pushes)
      others.push(...(await statusesOf(gatehouse, ['/api/v1/version', '/ada/pushed'])))
      await watching
    })
    for (const answer of answers) {
      t.match(answer, /fatal: Out of memory/, 'the client gets the reason')
      t.match(answer, /unpack index-pack abnormal exit[\s\S]*ng refs\/heads\/bomb unpacker error/)
    }
    const [command, bytes] = largest(peaks)
    const mostBytes = MEMORY_MAX_MIB * MIB + SHARED_BYTES_MAX
    t.ok(bytes < mostBytes, `git takes at most ${Math.round(bytes / MIB)} MiB: ${command}`)
    t.strictSame(others, [200, 200], 'other clients are answered during the pushes')
    const left = await until(
      () => listStaleFilesIn(gatehouse.dataDir),
      (files) => files.length === 0,
      SETTLES_WITHIN_MS,
    )
    t.strictSame(left, [], 'no file of the pushes is left')
    const branch = await ada.api('GET', '/repos/ada/pushed/branches/bomb')
    t.equal(branch.status, 404)
  },
)

t.test('an archive does not expand placeholders', async (t) => {
  const remote = ada.remote(await makeRepository(ada, 'archived'))
  const copy = await newWorkingCopy(t)
  await copy.commit('.gitattributes', 'bomb export-subst\n')
  await copy.commit('bomb', `$Format:${'%>(16384)%n'.repeat(1_500)}$\n`.repeat(4))
  await copy.git('push', '--quiet', remote, 'main')
  let bytes = 0
  const peaks = await gitPeaks(gatehouse, async () => {
    const response = await fetch(`${gatehouse.url}/ada/archived/archive/main.tar.gz`)
    t.equal(response.status, 200)
    bytes = (await response.arrayBuffer()).byteLength
  })
  t.ok(bytes < 10_000, `${bytes} bytes`)
  const [command, peak] = largest(peaks)
  t.ok(peak < SMALL_BYTES, `git takes at most ${Math.round(peak / MIB)} MiB: ${command}`)
})
