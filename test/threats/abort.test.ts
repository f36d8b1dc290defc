/** Threat: a thousand clients disconnect during clones and pushes, and leave files or processes. */

import { randomBytes, randomInt } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { t } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { abortPair, gitRequest, pushHead } from '../helpers/git-requests.js'
import { countPackCache } from '../helpers/pack-cache-counts.js'
import { connectTo } from '../helpers/raw-http.js'
import { repositoriesIn } from '../helpers/repositories.js'
import {
  gitProcessesOf,
  listStaleFilesIn,
  openFilesOf,
  until,
  untilFilesAreClosed,
  workersOf,
} from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const CLIENTS = isFullSize ? 1_000 : 48
const CLIENTS_AT_ONCE = 20
const CONTENT_BYTES = isFullSize ? 4_000_000 : 2_000_000
/** Time for the server to end its processes and close its files after the last client. */
const SETTLES_WITHIN_MS = 60_000
/** Time to remove stale files: a file counts as stale only if it has not changed for a while. */
const RECOVERS_WITHIN_MS = 120_000

t.test('clients that disconnect at a random byte leave no process and no file', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library' })).status, 201)
  const folder = await temporaryFolder(t)
  const cwd = join(folder, 'work')
  await mkdir(cwd)
  await git(['init', '--quiet', '-b', 'main'], { cwd })
  const remote = ada.remote('ada/library.git')
  const tip = await commitFile(cwd, 'first')
  t.equal((await tryGit(['push', remote, 'main'], { cwd })).exitCode, 0)
  const next = await commitFile(cwd, 'second')
  const pack = await packOf(cwd, `${next}\n^${tip}\n`)
  const workers = await workersOf(gatehouse.pid)
  const filesBefore = await Promise.all(workers.map(openFilesOf))

  let number = 0
  await Promise.all(
    Array.from({ length: CLIENTS_AT_ONCE }, async () => {
      while (number < CLIENTS) {
        number += 4
        await abortPair(
          { commit: tip, number },
          { port: gatehouse.port, token: ada.token, bytesMax: CONTENT_BYTES, msMax: 2_000 },
        )
        for (const name of [`cut-${number}`, `cut-${number}-too`]) {
          await abortPush(gatehouse, ada, [pushHead(next, `refs/heads/${name}`), pack])
        }
      }
    }),
  )

  const startedAtMs = Date.now()
  const left = await until(
    () => gitProcessesOf(gatehouse.dataDir),
    (pids) => pids.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(left, [], 'no git process is left')
  t.comment(`git ended ${Date.now() - startedAtMs} ms after the last of ${CLIENTS} clients`)
  const staleFiles = await until(
    () => listStaleFilesIn(gatehouse.dataDir),
    (paths) => paths.length === 0,
    RECOVERS_WITHIN_MS,
  )
  t.strictSame(staleFiles, [], 'no lock, quarantine or temporary file is left')
  const { files, isBack } = await untilFilesAreClosed(workers, filesBefore, SETTLES_WITHIN_MS)
  t.ok(isBack, `open files are back to ${filesBefore}: ${files}`)
  const { miss: led, join: joined } = await countPackCache(gatehouse, 'fetch')
  t.ok(led > 0 && joined > 0, `${led} fetches were leaders, ${joined} were coalesced`)
  t.comment(`${led} fetches were leaders, ${joined} were coalesced`)
  t.comment(`cleanup was complete ${Date.now() - startedAtMs} ms after the last client`)

  t.strictSame(await workersOf(gatehouse.pid), workers, 'no worker died')
  t.equal((await tryGit(['push', remote, 'main'], { cwd })).exitCode, 0, 'a push works')
  const clone = await tryGit(['clone', '--quiet', remote, 'clone'], { cwd: folder })
  t.equal(clone.exitCode, 0, 'a clone works')
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  t.equal(await git(['fsck', '--full', '--no-dangling'], { cwd: path }), '', 'git fsck is clean')
})

/** Sends a push up to a random byte, with Content-Length or chunked, and closes the socket. */
async function abortPush(
  gatehouse: Gatehouse,
  ada: Person,
  body: readonly Buffer[],
): Promise<void> {
  const socket = await connectTo(gatehouse.port)
  const whole = Buffer.concat(body)
  const isChunked = randomInt(2) === 0
  const head = gitRequest({
    service: 'git-receive-pack',
    token: ada.token,
    ...(isChunked ? {} : { bodyBytes: whole.length }),
  })
  const size = isChunked ? `${whole.length.toString(16)}\r\n` : ''
  const bytes = Buffer.concat([Buffer.from(head + size), whole])
  // Half of them end within the first kilobytes, while git starts.
  const end = randomInt(2) === 0 ? randomInt(bytes.length) : randomInt(4_096)
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.write(bytes.subarray(0, end), () => setTimeout(resolve, randomInt(100)))
  })
  socket.destroy()
}

async function commitFile(cwd: string, name: string): Promise<string> {
  await writeFile(join(cwd, name), randomBytes(CONTENT_BYTES))
  await git(['add', name], { cwd })
  await git(['commit', '--quiet', '-m', name], { cwd })
  return await git(['rev-parse', 'HEAD'], { cwd })
}

/** Returns a pack of these revisions, without deltas against objects that the server has. */
async function packOf(cwd: string, revisions: string): Promise<Buffer> {
  const prefix = join(cwd, '.git', 'pack')
  const id = await git(['pack-objects', '--quiet', '--revs', prefix], { cwd, input: revisions })
  return await readFile(`${prefix}-${id}.pack`)
}
