/** Threat: a reply is truncated if the pack cache runs out of disk space. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { postFetch, readFetchAnswer } from '../helpers/fetch-answers.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { fetchBody } from '../helpers/git-requests.js'
import { countPackCache } from '../helpers/pack-cache-counts.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { succeeds } from '../helpers/small-disk.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const CONTENT_BYTES = 6_000_000
const CLIENTS = 8
const GOES_PAST_WITHIN_MS = 60_000

/** A way to prevent files of the cache from growing. */
interface Obstacle {
  readonly name: string
  readonly workers: number
  /** Applies the obstacle; returns false if this machine does not allow it. */
  readonly raise: (t: Test, gatehouse: Gatehouse, cache: string) => Promise<boolean>
}

const OBSTACLES: readonly Obstacle[] = [
  {
    name: 'a full disk',
    // Replies also come from a file that another worker writes.
    workers: 2,
    async raise(t, _gatehouse, cache) {
      const isMounted = await succeeds('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', cache)
      if (isMounted) t.teardown(() => succeeds('umount', '-l', cache))
      return isMounted
    },
  },
  {
    name: 'a limit of the file size',
    workers: 1,
    async raise(_t, gatehouse) {
      for (const pid of await workersOf(gatehouse.pid)) {
        await succeeds('prlimit', `--pid=${pid}`, '--fsize=4000000')
      }
      return true
    },
  },
]

for (const { name, workers, raise } of OBSTACLES) {
  t.test(`${name} cuts at most running replies; later clones bypass the cache`, async (t) => {
    const environment = { GATEHOUSE_CACHE_DISK_FREE: '0' }
    const gatehouse = await startGatehouse(t, { workers, environment })
    const ada = await gatehouse.addUser('ada')
    const remote = ada.remote(`${await makeRepository(ada, 'library')}.git`)
    const copy = await newWorkingCopy(t)
    const commit = await copy.commit('content', randomBytes(CONTENT_BYTES))
    // The push bypasses the server, so that the server does not know the repository's size.
    const [path = ''] = await repositoriesIn(gatehouse.dataDir)
    // A pack, as after a push by the server: git would compress a loose object for each clone.
    const receiver = '--receive-pack=git -c receive.unpackLimit=1 receive-pack'
    await copy.git('push', '--quiet', receiver, path, 'HEAD:refs/heads/main')
    const cache = join(gatehouse.dataDir, 'cache', 'packs')
    await mkdir(cache, { recursive: true })
    if (!(await raise(t, gatehouse, cache))) {
      t.comment('this machine does not permit mounting a tmpfs')
      return
    }

    const body = fetchBody(commit)
    const authorization = `token ${ada.token}`
    /** Returns true if the reply was complete, false if the connection was closed early. */
    const ask = async () => {
      const request = { port: gatehouse.port, path: '/ada/library.git', authorization, body }
      const answer = await postFetch(request).catch(() => undefined)
      if (answer === undefined) return false
      t.equal(answer.status, 200)
      t.ok(readFetchAnswer(answer.body).isWhole, 'a reply that ends normally is complete')
      return true
    }
    if (await succeeds('mount', '-o', 'remount,ro', cache)) {
      t.ok(await ask(), 'a read-only cache is bypassed')
      t.ok(await succeeds('mount', '-o', 'remount,rw', cache))
    }
    const together = await Promise.all(Array.from({ length: CLIENTS }, ask))
    const completed = together.filter((isWhole) => isWhole).length
    t.comment(`${completed} of ${CLIENTS} concurrent replies were complete`)
    const next: boolean[] = []
    for (let number = 0; number < CLIENTS; number += 1) next.push(await ask())
    const whole = next.filter((isWhole) => isWhole).length
    // Each worker detects the full disk by itself, and tries the cache again after a minute.
    t.ok(whole > 0, 'later requests bypass the cache')
    t.comment(`${whole} of the next ${CLIENTS} replies were complete`)
    t.ok((await countPackCache(gatehouse)).bypass >= whole)

    const folder = await temporaryFolder(t)
    for (const args of [[], ['--depth=1'], ['--bare', '--filter=tree:0']]) {
      const into = join(folder, args.join('') || 'whole')
      const cloned = await tryGit(['clone', '--quiet', ...args, remote, into], { cwd: folder })
      if (cloned.exitCode !== 0) continue
      t.equal(await git(['rev-parse', 'main'], { cwd: into }), commit)
      t.equal(
        (await tryGit(['fsck', '--full'], { cwd: into })).exitCode,
        0,
        'a clone that succeeds is complete',
      )
    }
    const last = await until(
      () => tryGit(['clone', '--quiet', remote, 'last'], { cwd: folder }),
      ({ exitCode }) => exitCode === 0,
      GOES_PAST_WITHIN_MS,
    )
    t.equal(last.exitCode, 0)
    const left = await until(
      () => readdir(cache),
      (names) => names.length === 0,
      GOES_PAST_WITHIN_MS,
    )
    t.strictSame(left, [], 'no partial cache file is left')
  })
}
