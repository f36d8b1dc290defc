/** `gatehouse workflow check`: explains a valid file, and says where another one is wrong. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { WORKFLOW_COMMANDS } from '../../../scripts/commands/workflow.js'
import { runCommand } from '../../helpers/command.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const FILE = `name: Build
on: {push: {branches: [main]}, gollum: }
jobs:
  test: {runs-on: [linux, arm64], needs: [build], steps: [{run: make test}]}
  build: {runs-on: linux, steps: [{run: make}]}
  deploy: {needs: [test, build], uses: ./.gitea/workflows/deploy.yaml}
`

t.test('a valid file is explained', async (t) => {
  const file = join(await temporaryFolder(t), 'build.yaml')
  await writeFile(file, FILE)
  const check = (...args: readonly string[]) =>
    runCommand(t, WORKFLOW_COMMANDS, 'workflow', 'check', file, ...args)
  const explained = [
    'Name: Build',
    'Events: push, gollum',
    'Stage 1: build, on linux',
    'Stage 2: test, on linux + arm64, after build',
    'Stage 3: deploy, a reusable workflow, after test, build',
    "Warning: the event 'gollum' does not exist here and starts nothing.",
  ]
  t.strictSame(await check(), explained)
  const starts = 'A push to refs/heads/main starts it.'
  t.strictSame(await check('--push', 'refs/heads/main'), [...explained, starts])
  t.match((await check('--push', 'refs/tags/v1')).at(-1), 'refs/tags/v1 does not start it.')
  await t.rejects(check('--push', 'main'), {
    message: "--push 'main' is neither refs/heads/NAME nor refs/tags/NAME",
  })
})

t.test('a faulty file is refused with line and column', async (t) => {
  const file = join(await temporaryFolder(t), 'build.yaml')
  await writeFile(file, 'on: push\njobs:\n  a: {steps: [{run: x}]}\n')
  const check = (path: string) => runCommand(t, WORKFLOW_COMMANDS, 'workflow', 'check', path)
  await t.rejects(check(file), { message: `${file}:3:6: jobs.a has no 'runs-on'` })
  await t.rejects(check(`${file}x`), { message: /build\.yamlx cannot be read: ENOENT/ })
})
