/** Files that ship with the program are found from where it is compiled to. */

import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { t } from 'tap'
import { findProgramFile } from '../../conf/program-file.js'

t.test('a file is found by its path from the root of the clone', async (t) => {
  const path = findProgramFile('conf/git.config')
  t.ok(isAbsolute(path))
  t.match(readFileSync(path, 'utf8'), /^\[/m)
})

t.test('a missing file is named', async (t) => {
  t.throws(() => findProgramFile('conf/nothing'), /conf\/nothing is missing beside the program/)
})
