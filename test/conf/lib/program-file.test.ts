/** Files that ship with the program are found relative to its compiled code. */

import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { t } from 'tap'
import { commandOfInstallation, findProgramFile } from '../../../conf/lib/program-file.js'

t.test('a file is found by its path in the checkout', async (t) => {
  const path = findProgramFile('conf/git.config')
  t.ok(isAbsolute(path))
  t.match(readFileSync(path, 'utf8'), /^\[/m)
})

t.test('an error names the missing file', async (t) => {
  t.throws(() => findProgramFile('conf/nothing'), /conf\/nothing is missing beside the program/)
})

t.test('a clone names its own script as the command', async (t) => {
  t.equal(commandOfInstallation(), './scripts/gatehouse')
})
