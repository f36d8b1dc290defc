/** The server is killed amid writes over the API: what it acknowledged is there, and no lock. */

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { repositoriesIn } from '../helpers/repositories.js'
import { gitProcessesOf, leavingsIn, until, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto } from '../helpers/working-copy.js'

const ROUNDS = isFullSize ? 40 : 4
const WRITERS = 4
/** About as long as one write takes. */
const KILLED_WITHIN_MS = 200
const WRITTEN_WITHIN_MS = 60_000
const MENDED_WITHIN_MS = 60_000

t.test('kill -9 in the middle of writes over the API', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 2 })
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'r' })
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  const files: string[] = []
  const branches: string[] = []
  const left: string[] = []

  /** Writes until the server is gone; keeps what it acknowledged. */
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
    const workers = await workersOf(gatehouse.pid)
    const gits = round % 2 === 1 ? await gitProcessesOf(gatehouse.dataDir) : []
    for (const pid of [gatehouse.pid, ...workers, ...gits.map(({ pid }) => pid)]) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended by itself just now.
      }
    }
    await gatehouse.stop('SIGKILL')
    await ends
    left.push(...(await leavingsIn(gatehouse.dataDir)))
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
    `${files.length} files and ${branches.length} branches were acknowledged, ${left.length} things left`,
  )
  t.ok(files.length > ROUNDS * WRITERS, 'the kills came while it wrote')
  const isLock = (name: string) => !name.includes('/tmp_obj_')
  const mended = await until(
    async () => (await leavingsIn(gatehouse.dataDir)).filter(isLock),
    (found) => found.length === 0,
    MENDED_WITHIN_MS,
  )
  t.strictSame(mended, [], 'nothing is left but unfinished objects, which the sweeper takes')
  const copy = await cloneInto(t, ada.remote('ada/r.git'))
  const cloned = new Set((await copy.git('ls-files')).split('\n'))
  t.strictSame(
    files.filter((file) => !cloned.has(file)),
    [],
    'a clone has them all',
  )
})
