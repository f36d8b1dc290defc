/** Answers that git writes into a file: whole ones, refusals, and those of a git that failed. */

import { chmod, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import type { RepositoryState } from '../../../cgi/repository/repository-state.js'
import { UploadPackError } from '../../../cgi/transfer/upload-pack.js'
import type { FetchQuestion } from '../../../gateway/packs/extended-answers.js'
import { writeByGit } from '../../../gateway/packs/git-answer.js'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()
const OID = '1'.repeat(40)
const STATE: RepositoryState = { text: '', settingsText: '', isSettled: true }

/** Longer than any error packet of git. */
const PART_OF_A_PACK = `printf '000dpackfile\\n'; head -c 5000 /dev/zero`

/** Runs these shell commands in place of git. Returns the result and what was written. */
async function answerOf(t: Test, commands: string, version: 0 | 2 = 2) {
  const folder = await temporaryFolder(t)
  const [file, path] = [join(folder, 'git'), join(folder, 'answer')]
  await writeFile(file, `#!/bin/sh\ncat > /dev/null\n${commands}\n`)
  await chmod(file, 0o755)
  const form = { version, objectFormat: 'sha1', flags: new Set(['done']) } as const
  const request = normalFetch([`want ${OID}`, 'done'], form)
  const references = await ReferenceList.parse(Buffer.from('0000'))
  if (request === undefined || references === undefined) throw new Error('this is no fetch')
  const question: FetchQuestion = {
    repositoryPath: folder,
    wanted: { request, references, state: STATE },
  }
  const answer = await open(path, 'wx')
  const { signal } = new AbortController()
  const limits = { file: answer.fd, signal, timeoutMs: 60_000, onStarted: () => {} }
  const isWhole = await writeByGit({ ...ours, file }, question, limits).finally(() =>
    answer.close(),
  )
  return { isWhole, text: await readFile(path, 'latin1') }
}

t.test('an answer is whole if git succeeds, and a refusal is not one', async (t) => {
  t.strictSame(await answerOf(t, 'printf 0000'), { isWhole: true, text: '0000' })
  const refusal = await answerOf(t, `printf '000bERR no'; exit 128`)
  t.strictSame(refusal, { isWhole: false, text: '000bERR no' })
})

t.test('git gets the version of the protocol', async (t) => {
  const print = 'printf %s "$GIT_PROTOCOL"'
  t.equal((await answerOf(t, print, 2)).text, 'version=2')
  t.equal((await answerOf(t, print, 0)).text, '')
})

t.test('a git that is killed or fails within a pack is an error', async (t) => {
  for (const commands of [
    'kill -9 $$',
    'printf 0000; kill -9 $$',
    `${PART_OF_A_PACK}; kill -9 $$`,
    `${PART_OF_A_PACK}; exit 128`,
  ]) {
    await t.rejects(answerOf(t, commands), /^git upload-pack did not finish/, commands)
  }
})

t.test('a git that writes nothing is an error with its message', async (t) => {
  const commands = `echo 'fatal: bad object' >&2; exit 128`
  await t.rejects(answerOf(t, commands), new UploadPackError('fatal: bad object'))
})

t.test('a full disk is an error of the file system', async (t) => {
  for (const message of ['fatal: write error: No space left on device', 'File too large']) {
    const commands = `${PART_OF_A_PACK}; echo '${message}' >&2; exit 128`
    await t.rejects(answerOf(t, commands), { code: 'ENOSPC' }, message)
  }
})
