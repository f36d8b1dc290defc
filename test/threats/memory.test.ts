/** Threat: large pushes and clones exhaust the memory unless they are streamed. */

import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { t } from 'tap'
import { stayFlat } from '../helpers/flat-memory.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { fetchBody, gitRequest } from '../helpers/git-requests.js'
import { connectTo } from '../helpers/raw-http.js'
import { makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, until } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const MIB = 1_048_576
const FILES = isFullSize ? 8 : 4
const FILE_BYTES = (isFullSize ? 128 : 25) * MIB
/** Speed of a slow client, and the number of bytes that it reads before it disconnects. */
const SLOW_BYTES_PER_SECOND = 20_000_000
const SLOW_BYTES = isFullSize ? 200_000_000 : 60_000_000
/** Time for the server to end its processes after the client has disconnected. */
const SETTLES_WITHIN_MS = 5_000

t.test("a large push and a large clone do not grow the server's memory", async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const remote = ada.remote(await makeRepository(ada, 'library'))
  const copy = await newWorkingCopy(t)
  const tip = await commitRandomFiles(copy)

  await stayFlat(t, gatehouse, 'a push', async () => {
    t.match(await copy.try(['push', '--quiet', remote, 'main']), { exitCode: 0, errorText: '' })
  })
  await stayFlat(t, gatehouse, 'a clone', async () => {
    const clone = await cloneInto(t, remote, ['--quiet', '--bare'])
    // The clone has checked all objects when it indexed the pack.
    t.equal(await clone.git('rev-parse', 'main'), tip, 'the clone is at the pushed commit')
  })
  await stayFlat(t, gatehouse, 'a slow clone', async () => {
    const takenBytes = await readSlowlyAndLeave(gatehouse, ada, tip)
    t.ok(takenBytes >= SLOW_BYTES, `${takenBytes} bytes were read before the client disconnected`)
    const left = await until(
      () => gitProcessesOf(gatehouse.dataDir),
      (processes) => processes.length === 0,
      SETTLES_WITHIN_MS,
    )
    t.strictSame(left, [], 'no git process is left')
  })
})

/** Commits incompressible files, with delta search and compression switched off to save time. */
async function commitRandomFiles(copy: WorkingCopy): Promise<string> {
  await copy.git('config', 'core.compression', '0')
  await copy.git('config', 'core.bigFileThreshold', '1m')
  await copy.git('config', 'pack.window', '0')
  for (let number = 1; number <= FILES; number += 1) {
    const chunks = Array.from({ length: FILE_BYTES / MIB }, () => MIB)
    const content = Readable.from(chunks).map((bytes: number) => randomBytes(bytes))
    await pipeline(content, createWriteStream(join(copy.path, `random-${number}`)))
  }
  await copy.git('add', '.')
  await copy.git('commit', '--quiet', '-m', 'Write random files')
  return await copy.git('rev-parse', 'HEAD')
}

/** Fetches everything at a limited speed, disconnects, and returns the number of bytes read. */
async function readSlowlyAndLeave(gatehouse: Gatehouse, ada: Person, tip: string): Promise<number> {
  const socket = await connectTo(gatehouse.port)
  const body = fetchBody(tip)
  socket.write(gitRequest({ service: 'git-upload-pack', token: ada.token, bodyBytes: body.length }))
  socket.write(body)
  const startedAtMs = Date.now()
  let takenBytes = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    takenBytes += chunk.length
    if (takenBytes >= SLOW_BYTES) break
    const dueMs = startedAtMs + (takenBytes * 1_000) / SLOW_BYTES_PER_SECOND
    if (dueMs > Date.now()) await sleep(dueMs - Date.now())
  }
  socket.destroy()
  return takenBytes
}
