/** Node.js versions that the program cannot run on are refused. */

import { readFileSync } from 'node:fs'
import { t } from 'tap'
import { findProgramFile } from '../../../conf/lib/program-file.js'
import { refuseNode } from '../../../scripts/commands/node-version.js'

t.test('the running Node.js and the minimum version are accepted', async (t) => {
  const { engines } = JSON.parse(readFileSync(findProgramFile('package.json'), 'utf8'))
  t.equal(refuseNode(), undefined)
  const [, least] = />=(\S+)/.exec(engines.node) ?? []
  t.equal(refuseNode(`${least}.0`), undefined)
})

t.test('an older and a newer Node.js are refused with their version', async (t) => {
  for (const version of ['18.20.4', '20.20.2', '22.13.1', '24.1.0']) {
    t.match(refuseNode(version), `this is ${version}`)
  }
})
