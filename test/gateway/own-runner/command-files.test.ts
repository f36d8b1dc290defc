/** Files of a step for variables, outputs and folders. */

import { execFile } from 'node:child_process'
import { rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import {
  createCommandFiles,
  parseAssignments,
  readCommandFiles,
} from '../../../gateway/own-runner/command-files.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function filesOf(t: Test) {
  const folder = join(await temporaryFolder(t), 'step')
  return { folder, paths: await createCommandFiles(folder) }
}

t.test('assignments of one and of several lines are read', async (t) => {
  const text = 'a=1\nb==x=y\nempty=\n\nlong<<END\nline 1\nEND2\nline=3\nEND\nlast<<_\r\n_\r\n'
  t.strictSame(
    [...parseAssignments(text, 'GITHUB_ENV')],
    [
      ['a', '1'],
      ['b', '=x=y'],
      ['empty', ''],
      ['long', 'line 1\nEND2\nline=3'],
      ['last', ''],
    ],
  )
})

t.test('a malformed assignment is a fault that names the file', async (t) => {
  const parse = (text: string) => () => parseAssignments(text, 'GITHUB_OUTPUT')
  t.throws(parse('no sign'), { message: 'a line of GITHUB_OUTPUT is not NAME=VALUE: no sign' })
  t.throws(parse('=value'), { message: 'a line of GITHUB_OUTPUT is not NAME=VALUE: =value' })
  t.throws(parse('a<<END\nx\n'), { message: "GITHUB_OUTPUT has no line 'END' after a" })
})

t.test('the files of a step are read after it', async (t) => {
  const { folder, paths } = await filesOf(t)
  await writeFile(paths['GITHUB_ENV'] ?? '', 'A=1\n')
  await writeFile(paths['GITHUB_OUTPUT'] ?? '', 'b=2\n')
  await writeFile(paths['GITHUB_PATH'] ?? '', '/one\n/two\n')
  const { env, outputs, paths: folders } = await readCommandFiles(folder)
  t.strictSame([...env, ...outputs, ...folders], [['A', '1'], ['b', '2'], '/one', '/two'])
})

t.test('a file that a step has replaced or filled is refused', async (t) => {
  const { folder, paths } = await filesOf(t)
  const path = paths['GITHUB_OUTPUT'] ?? ''
  await rm(path)
  await t.rejects(readCommandFiles(folder), /GITHUB_OUTPUT cannot be read/)
  await symlink('/etc/passwd', path)
  await t.rejects(readCommandFiles(folder), /GITHUB_OUTPUT cannot be read/)
  await rm(path)
  await promisify(execFile)('mkfifo', [path])
  await t.rejects(readCommandFiles(folder), /GITHUB_OUTPUT is not a plain file/)
  await rm(path)
  await writeFile(path, '')
  await truncate(path, 1_048_577)
  await t.rejects(readCommandFiles(folder), /GITHUB_OUTPUT is longer than 1048576 bytes/)
})

t.test('files in a folder to which a step has made a link are not read', async (t) => {
  const { folder } = await filesOf(t)
  const { folder: other } = await filesOf(t)
  await rm(folder, { recursive: true })
  await t.rejects(readCommandFiles(folder), { message: 'the folder of the step was removed' })
  await symlink(other, folder)
  await t.rejects(readCommandFiles(folder), { message: 'the folder of the step was removed' })
})
