/** Fetches with `git upload-pack`: its answer is streamed and its process ends. */

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { listProcesses } from '../../../cgi/process/process-table.js'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import {
  callUploadPack,
  type UploadPackCall,
  UploadPackError,
} from '../../../cgi/transfer/upload-pack.js'
import { git } from '../../helpers/git-client.js'
import { fetchBody, packetLine } from '../../helpers/git-requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()

/** Upper bound for one second, with a margin for a busy machine. */
const BUSY_SECOND_MS = 2_000

async function aRepository(t: Test) {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  await commitFirstFiles(ours, path, {
    branch: 'main',
    files: [{ name: 'README.md', content: '# One\n' }],
    message: 'First',
    when: new Date(0),
    author: { name: 'Ada', email: 'ada@example.com' },
  })
  return { path, tip: await git(['rev-parse', 'main'], { cwd: path }) }
}

function aCall(repositoryPath: string, body: AsyncIterable<Uint8Array>): UploadPackCall {
  const signal = new AbortController().signal
  return { repositoryPath, gitProtocol: 'version=2', body, signal, timeoutMs: 30_000 }
}

async function* bytes(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function countUploadPacks(path: string): Promise<number> {
  return (await listProcesses()).filter(({ folder }) => folder === path).length
}

t.test('references and packs are answered in protocol v2', async (t) => {
  const { path, tip } = await aRepository(t)
  const question = `${packetLine('command=ls-refs\n')}0001${packetLine('symrefs\n')}0000`
  const refs = await callUploadPack(ours, aCall(path, bytes(question)))
  t.match((await readAll(refs.body)).toString(), `${tip} HEAD symref-target:refs/heads/main\n`)
  const fetched = await callUploadPack(ours, aCall(path, bytes(fetchBody(tip))))
  const answer = (await readAll(fetched.body)).toString('latin1')
  t.match(answer, /^000dpackfile\n.{4}.PACK/s)
  t.match(answer, /0000$/)
  t.match(await fetched.ended, { exitCode: 0, errorText: '' })
})

t.test('a missing object is answered with an ERR packet', async (t) => {
  const { path } = await aRepository(t)
  const answer = await callUploadPack(ours, aCall(path, bytes(fetchBody('1'.repeat(40)))))
  t.match((await readAll(answer.body)).toString(), /^.{4}ERR upload-pack: not our ref 1{40}/)
})

t.test("a malformed request and a missing repository are errors with git's message", async (t) => {
  const { path, tip } = await aRepository(t)
  const call = (body: AsyncIterable<Uint8Array>) => callUploadPack(ours, aCall(path, body))
  await t.rejects(call(bytes('not a packet')), UploadPackError)
  await t.rejects(call(bytes('not a packet')), /protocol error/)
  await rename(join(path, 'HEAD'), join(path, 'NO'))
  await t.rejects(call(bytes(fetchBody(tip))), /not appear to be a git repository/)
  // The launcher, which starts git for a large process, has its own sentence.
  const missing = /did not start: .*(?:ENOENT|does not exist)/
  await t.rejects(callUploadPack(ours, aCall(`${path}x`, bytes())), missing)
})

t.test('an aborted body is the error, and git ends', async (t) => {
  const { path } = await aRepository(t)
  async function* breaking() {
    yield Buffer.from(packetLine('command=fetch\n'))
    await sleep(100)
    throw new Error('cable cut')
  }
  await t.rejects(callUploadPack(ours, aCall(path, breaking())), /cable cut/)
  t.equal(await countUploadPacks(path), 0)
})

t.test('a reader that stops, an abort and a timeout end git within a second', async (t) => {
  const { path, tip } = await aRepository(t)
  const abandoned = await callUploadPack(ours, aCall(path, bytes(fetchBody(tip))))
  await abandoned.body[Symbol.asyncIterator]().return?.()
  await abandoned.ended
  t.equal(await countUploadPacks(path), 0)
  async function* endless() {
    yield Buffer.from(packetLine('command=fetch\n'))
    await new Promise((resolve) => setTimeout(resolve, 20_000).unref())
  }
  const aborted = new AbortController()
  const startedAt = performance.now()
  setTimeout(() => aborted.abort(), 100)
  const call = { ...aCall(path, endless()), signal: aborted.signal }
  await t.rejects(callUploadPack(ours, call), /was ended by SIGTERM/)
  t.ok(performance.now() - startedAt < BUSY_SECOND_MS)
  const late = callUploadPack(ours, { ...aCall(path, endless()), timeoutMs: 200 })
  await t.rejects(late, { name: 'Error', failure: 'unavailable' })
  t.equal(await countUploadPacks(path), 0)
})
