/** Pushes of other containers are left alone while their writer gives signs of life. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { beat, hasBeaten, sweepBeats } from '../../../cgi/maintenance/beats.js'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { findGit } from '../../../cgi/process/git.js'
import { processSpace } from '../../../cgi/process/process-space.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const JOURNAL = fileURLToPath(new URL('../../../cgi/maintenance/journal.js', import.meta.url))

/** Records a push of its own process, and prints the name of its process space. */
const WRITER = `
const { openJournal } = await import(${JSON.stringify(JOURNAL)})
const journal = await openJournal(process.argv[1])
await journal.record({ repositoryPath: process.argv[2], pid: process.pid })
console.log('recorded')
setInterval(() => {}, 1_000)
`

/** Starts the writer in a PID namespace of its own, as a container has one. */
async function startWriter(
  t: Test,
  dataDir: string,
  repository: string,
): Promise<ChildProcessByStdio<null, Readable, null>> {
  const sandbox = ['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--die-with-parent']
  const script = ['--input-type=module', '--eval', WRITER, dataDir, repository]
  const writer = spawn('bwrap', [...sandbox, process.execPath, ...script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => writer.kill('SIGKILL'))
  for await (const chunk of writer.stdout) if (String(chunk).includes('recorded')) break
  return writer
}

async function scene(t: Test) {
  const dataDir = await temporaryFolder(t)
  const repository = join(dataDir, 'x.git')
  await initRepository(await findGit(), repository, {
    defaultBranch: 'main',
    objectFormat: 'sha1',
  })
  const lock = join(repository, 'packed-refs.lock')
  await writeFile(lock, '')
  return { dataDir, repository, lock }
}

t.test('a push in another container with the same host name is not taken for dead', async (t) => {
  const { dataDir, repository, lock } = await scene(t)
  const writer = await startWriter(t, dataDir, repository)
  const [push] = [...(await listJournalEntries(dataDir)).values()]
  const host = push?.host ?? ''
  t.ok(host.startsWith(`${hostname()}/`), host)
  t.not(host, processSpace())
  t.strictSame(await recover(dataDir), [])
  t.ok(existsSync(lock), 'its lock is kept')
  t.equal(writer.exitCode, null, 'it was not ended')

  writer.kill('SIGKILL')
  t.strictSame(await recover(dataDir), [], 'it has given a sign of life a moment ago')
  const past = new Date(Date.now() - 71_000)
  for (const name of await readdir(join(dataDir, 'writers'))) {
    await utimes(join(dataDir, 'writers', name), past, past)
  }
  t.strictSame(await recover(dataDir), [repository], 'it has given none for 70 seconds')
  t.notOk(existsSync(lock))
  t.equal((await listJournalEntries(dataDir)).size, 0)
})

t.test('signs of life are given while work is open, and swept after two days', async (t) => {
  const { dataDir } = await scene(t)
  t.notOk(await hasBeaten(dataDir, 'elsewhere/0'), 'a writer without a sign')
  await Promise.all(Array.from({ length: 20 }, () => beat(dataDir)))
  t.ok(await hasBeaten(dataDir, processSpace()))
  const [name = ''] = await readdir(join(dataDir, 'writers'))
  await sweepBeats(dataDir)
  t.strictSame(await readdir(join(dataDir, 'writers')), [name])
  const past = new Date(Date.now() - 3 * 86_400_000)
  await utimes(join(dataDir, 'writers', name), past, past)
  await sweepBeats(dataDir)
  t.strictSame(await readdir(join(dataDir, 'writers')), [])
})
