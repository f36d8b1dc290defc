/** Shells of steps, by the programs that the machine has. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { shellCommand } from '../../../gateway/own-runner/shell.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** Returns a search path whose last folder has the programs. */
async function pathWith(t: Test, ...names: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const name of names) await writeFile(join(folder, name), '', { mode: 0o755 })
  return `/nowhere:${folder}`
}

t.test('the default shell is bash, and sh on a machine without bash', async (t) => {
  const bash = ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', 'file']
  t.strictSame(await shellCommand(undefined, 'file', await pathWith(t, 'bash')), bash)
  t.strictSame(await shellCommand(undefined, 'file', await pathWith(t)), ['sh', '-e', 'file'])
  t.strictSame(await shellCommand('bash', 'file', await pathWith(t)), bash)
})

t.test('the programs of a container are not those of the machine', async (t) => {
  t.strictSame(await shellCommand(undefined, 'file', undefined), ['sh', '-e', 'file'])
  t.strictSame(await shellCommand('python', 'file', undefined), ['python', 'file'])
})

t.test('python is python3 if there is no python', async (t) => {
  t.strictSame(await shellCommand('python', 'f', await pathWith(t, 'python')), ['python', 'f'])
  t.strictSame(await shellCommand('python', 'f', await pathWith(t)), ['python3', 'f'])
  t.strictSame(await shellCommand('node', 'f', await pathWith(t)), ['node', 'f'])
})

t.test('another shell is refused by its name', async (t) => {
  for (const name of ['fish', 'constructor', 'bash -x {0}']) {
    await t.rejects(shellCommand(name, 'f', '/bin'), {
      message: `the shell '${name}' is not supported by this runner; it has bash, sh, python, node`,
    })
  }
})
