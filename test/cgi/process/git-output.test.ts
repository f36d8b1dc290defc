/** Output of git is streamed and split into records, and git ends when its reader stops. */

import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { fullId, gitOutput, gitRecords } from '../../../cgi/process/git-output.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('records are complete across chunks, with or without a final separator', async (t) => {
  const copy = await newWorkingCopy(t)
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at} ${'ä'.repeat(at % 50)}`)
  await copy.commit('f', lines.join('\n'))
  const read: string[] = []
  const options = { cwd: copy.path, separator: '\n' } as const
  for await (const line of gitRecords(ours, ['cat-file', 'blob', 'HEAD:f'], options))
    read.push(line)
  t.strictSame(read, lines)
  await copy.commit('empty', '')
  for await (const _ of gitRecords(ours, ['cat-file', 'blob', 'HEAD:empty'], options)) t.fail()
})

t.test('a failure of git is thrown when its output ends', async (t) => {
  const copy = await newWorkingCopy(t)
  const all = async () => {
    for await (const _ of gitOutput(ours, ['cat-file', 'blob', 'HEAD:f'], { cwd: copy.path }))
      t.fail()
  }
  await t.rejects(all(), { message: /^git cat-file failed \(128\): fatal: / })
})

t.test('git is not waited for if its reader stops, and input reaches git', async (t) => {
  const copy = await newWorkingCopy(t)
  const id = await copy.commit('f')
  const input = `${id}\n`.repeat(100_000)
  const args = ['cat-file', '--batch-check=%(objectname)']
  let count = 0
  for await (const line of gitRecords(ours, args, { cwd: copy.path, separator: '\n', input })) {
    t.equal(line, id)
    count += 1
    if (count === 3) break
  }
  t.equal(count, 3)
  const abort = new AbortController()
  const aborted = async () => {
    for await (const _ of gitOutput(ours, args, { cwd: copy.path, input, signal: abort.signal })) {
      abort.abort()
    }
  }
  await t.rejects(aborted())
})

t.test('an error of the input ends git and is thrown', async (t) => {
  const copy = await newWorkingCopy(t)
  const id = await copy.commit('f')
  async function* pieces() {
    yield `${id}\n`
    throw new Error('no more')
  }
  const options = { cwd: copy.path, separator: '\n', input: pieces() } as const
  const all = async () => {
    for await (const line of gitRecords(ours, ['cat-file', '--batch-check'], options)) {
      t.match(line, id)
    }
  }
  await t.rejects(all(), { message: 'no more' })
})

t.test('a full id is accepted and every other text is refused', async (t) => {
  for (const id of ['a'.repeat(40), 'b'.repeat(64)]) t.equal(fullId(id), id)
  for (const text of ['', 'main', 'a'.repeat(39), 'A'.repeat(40), `--${'a'.repeat(38)}`]) {
    t.throws(() => fullId(text), { message: /full id/ }, text)
  }
})
