/** Threat: writes that the API acknowledged are lost if the server is killed, or locks remain. */

import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as eventLoopTick, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { repositoriesIn } from '../helpers/repositories.js'
import {
  killNow,
  killServer,
  listStaleFilesIn,
  until,
  workersOf,
} from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto } from '../helpers/working-copy.js'

const ROUNDS = isFullSize ? 40 : 2
const WRITERS = 4
/** Upper bound of the delay before a kill: about the duration of one write. */
const KILLED_WITHIN_MS = 200
const WRITTEN_WITHIN_MS = 60_000
const RECOVERED_WITHIN_MS = 60_000

t.test('writes that the API acknowledged survive kill -9 of the server', async (t) => {
  const gatehouse = await startGatehouse(t, { isOnDisk: true })
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'r' })
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  const files: string[] = []
  const branches: string[] = []
  const left: string[] = []

  /** Writes until the server is killed; records acknowledged files and branches. */
  async function write(name: string): Promise<void> {
    for (let at = 0; ; at += 1) {
      const file = `${name}/${at}`
      const made = await ada.api('POST', `/repos/ada/r/contents/${file}`, { content: 'YQ==' })
      t.equal(made.status, 201, file)
      files.push(file)
      const named = { new_branch_name: file }
      const branch = await ada.api('POST', '/repos/ada/r/branches', named)
      t.equal(branch.status, 201, file)
      branches.push(file)
    }
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    const writers = Array.from({ length: WRITERS }, (_, at) => write(`${round}-${at}`))
    const ends = Promise.allSettled(writers)
    const before = files.length
    const isWriting = (count: number) => count > before + WRITERS
    await until(async () => files.length, isWriting, WRITTEN_WITHIN_MS)
    await sleep(randomInt(KILLED_WITHIN_MS))
    await killServer(gatehouse, { withGit: round % 2 === 1 })
    await ends
    left.push(...(await listStaleFilesIn(gatehouse.dataDir)))
    await gatehouse.start()
    const next = { content: '', message: `after ${round}` }
    t.equal((await ada.api('POST', `/repos/ada/r/contents/after-${round}`, next)).status, 201)
    const list = await git(['ls-tree', '-r', '--name-only', 'main'], { cwd: path })
    const there = new Set(list.split('\n'))
    t.strictSame(
      files.filter((file) => !there.has(file)),
      [],
      `round ${round}: files`,
    )
    const references = await git(['for-each-ref', '--format=%(refname:short)'], { cwd: path })
    const known = new Set(references.split('\n'))
    t.strictSame(
      branches.filter((name) => !known.has(name)),
      [],
      `round ${round}: branches`,
    )
    await git(['fsck', '--strict', '--no-dangling'], { cwd: path })
  }
  t.comment(
    `${files.length} files and ${branches.length} branches were acknowledged, ${left.length} stale files were left`,
  )
  t.ok(files.length > ROUNDS * WRITERS, 'the server was killed during writes')
  const isLock = (name: string) => !name.includes('/tmp_obj_')
  const recovered = await until(
    async () => (await listStaleFilesIn(gatehouse.dataDir)).filter(isLock),
    (found) => found.length === 0,
    RECOVERED_WITHIN_MS,
  )
  t.strictSame(recovered, [], 'only unfinished objects are left, which maintenance removes')
  const copy = await cloneInto(t, ada.remote('ada/r.git'))
  const cloned = new Set((await copy.git('ls-files')).split('\n'))
  t.strictSame(
    files.filter((file) => !cloned.has(file)),
    [],
    'a clone has all acknowledged files',
  )
})

/** Number of merges whose worker must be killed before the reply, and of attempts at that. */
const CUTS = isFullSize ? 20 : 1
const MERGES_MAX = CUTS * 5

t.test('a merge is recorded once if its workers are killed after the branch moved', async (t) => {
  const gatehouse = await startGatehouse(t, { isOnDisk: true })
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'r', auto_init: true })
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  const ask = (method: string, rest: string, body?: unknown) =>
    ada.api(method, `/repos/ada/r${rest}`, body)
  const tip = () => readFileSync(join(path, 'refs/heads/main'), 'utf8').trim()

  /** Merges and kills the workers; returns true if they were killed before the reply. */
  async function cutMerge(number: number): Promise<boolean> {
    const [workers, before] = [await workersOf(gatehouse.pid), tip()]
    let end: 'answered' | 'cut' | undefined
    const merging = ask('POST', `/pulls/${number}/merge`, { Do: 'merge' }).then(
      () => {
        end = 'answered'
      },
      () => {
        end = 'cut'
      },
    )
    while (end === undefined && tip() === before) await eventLoopTick()
    killNow(...workers)
    await merging
    return end === 'cut'
  }

  let [merges, cuts] = [0, 0]
  while (cuts < CUTS && merges < MERGES_MAX) {
    merges += 1
    const name = `topic-${merges}`
    t.equal((await ask('POST', `/contents/${name}`, fileOf(name))).status, 201)
    t.equal((await ask('POST', '/pulls', { title: name, head: name, base: 'main' })).status, 201)
    if (await cutMerge(merges)) cuts += 1
    const found = await until(
      () => ask('GET', `/pulls/${merges}`).catch(() => undefined),
      (answer) => answer?.status === 200,
      RECOVERED_WITHIN_MS,
    )
    const merged = { state: 'closed', merged: true, merge_commit_sha: tip() }
    t.match(found?.body, merged, `${name} is merged, with or without a reply`)
    t.equal((await ask('POST', `/pulls/${merges}/merge`, { Do: 'merge' })).status, 405)
  }
  t.equal(cuts, CUTS, `of ${merges}`)
  const made = await git(['rev-list', '--count', '--merges', 'main'], { cwd: path })
  t.equal(Number(made), merges, 'each pull request has one merge commit')
  await git(['fsck', '--strict', '--no-dangling'], { cwd: path })
})

const fileOf = (branch: string) => ({ content: 'YQ==', new_branch: branch })
