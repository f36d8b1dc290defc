/** Actions of an organization `actions`, executed by Gatehouse's own runner. */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { runCommand } from '../helpers/command-line.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const ROOT = new URL('../../../', import.meta.url).pathname

const GREET = `
name: Greet
inputs: { who: { required: true } }
outputs: { said: { value: "\${{ steps.say.outputs.said }}" } }
runs:
  using: composite
  steps:
    - id: say
      shell: bash
      run: echo "said=Hello, \${{ inputs.who }}" >> $GITHUB_OUTPUT
`

const STORE = `
name: Store
inputs: { name: { required: true }, file: { default: '' } }
outputs: { id: { description: Id of the artifact } }
runs: { using: node20, main: dist/index.js, post: dist/index.js }
`

/** Stores a file as an artifact, or without \`file\` downloads one, as the actions of GitHub do. */
const STORE_SCRIPT = `
// The client refuses other hosts, which it takes for GitHub Enterprise.
process.env.GITHUB_SERVER_URL = 'http://gatehouse.localhost'
const { DefaultArtifactClient } = require('artifact-v4')
const { appendFileSync } = require('node:fs')
const { INPUT_NAME: name, INPUT_FILE: file, STATE_id: id } = process.env

async function main() {
  const client = new DefaultArtifactClient()
  if (id) return console.log('post of artifact', id)
  if (file) {
    const { id } = await client.uploadArtifact(name, [file], '.')
    appendFileSync(process.env.GITHUB_OUTPUT, 'id=' + id + '\\n')
    appendFileSync(process.env.GITHUB_STATE, 'id=' + id + '\\n')
  } else {
    const { artifact } = await client.getArtifact(name)
    await client.downloadArtifact(artifact.id, { path: 'out' })
  }
}
main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
`

/** Returns the script with the packages that it requires, as authors of actions bundle it. */
async function bundled(t: Test, script: string): Promise<string> {
  const file = join(await temporaryFolder(t), 'index.js')
  const args = ['--bundle', '--platform=node', '--log-level=error', `--outfile=${file}`]
  const building = promisify(execFile)(join(ROOT, 'node_modules/.bin/esbuild'), args, { cwd: ROOT })
  building.child.stdin?.end(script)
  await building
  return file
}

interface ActionInput {
  readonly ada: Person
  readonly name: string
  readonly yaml: string
  /** File that becomes dist/index.js. */
  readonly script?: string
}

/** Pushes an action to a public repository of the organization, with the tag v1. */
async function pushAction(t: Test, { ada, name, yaml, script }: ActionInput): Promise<void> {
  t.equal((await ada.api('POST', '/orgs/actions/repos', { name })).status, 201)
  const { path, git } = await newWorkingCopy(t)
  await writeFile(join(path, 'action.yml'), yaml)
  if (script !== undefined) {
    await mkdir(join(path, 'dist'))
    await promisify(execFile)('cp', [script, join(path, 'dist/index.js')])
  }
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'Add the action')
  await git('tag', 'v1')
  await git('push', '--quiet', ada.remote(`actions/${name}`), 'main', 'v1')
}

const WORKFLOW = `
on: push
jobs:
  build:
    runs-on: linux
    steps:
      - id: greet
        uses: actions/greet@v1
        with: { who: "\${{ github.actor }}" }
      - run: echo "\${{ steps.greet.outputs.said }}" > said.txt
      - id: store
        uses: actions/store@v1
        with: { name: said, file: said.txt }
      - run: echo "stored as \${{ steps.store.outputs.id }}"
  use:
    runs-on: linux
    needs: build
    steps:
      - uses: actions/store@v1
        with: { name: said }
      - run: cat out/said.txt
`

/** Registers a runner, and runs a job for each of the names. Returns the logs by the names. */
async function runJobs(
  t: Test,
  { gatehouse, ada, names }: { gatehouse: Gatehouse; ada: Person; names: readonly string[] },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const made = await gatehouse.run('runner', 'token', '--repo', 'ada/engine')
  const cwd = await temporaryFolder(t)
  const register = ['--instance', gatehouse.url, '--token', made.output.trim(), '--labels', 'linux']
  const registered = await runCommand(t, ['runner', 'register', ...register], { cwd })
  t.equal(registered.exitCode, 0, registered.errorText)
  const statuses: (number | null)[] = []
  for (const _ of names) {
    const { exitCode } = await runCommand(t, ['runner', 'run', '--once'], { cwd })
    statuses.push(exitCode)
  }
  const { body } = await ada.api('GET', '/repos/ada/engine/actions/tasks')
  const { workflow_runs: tasks } = body as { workflow_runs: { id: number; name: string }[] }
  const headers = { authorization: `token ${ada.token}` }
  const logs = new Map<string, readonly string[]>()
  for (const { id, name } of tasks) {
    const path = `${gatehouse.url}/api/v1/repos/ada/engine/actions/jobs/${id}/logs`
    const text = await (await fetch(path, { headers })).text()
    logs.set(
      name,
      text.split('\n').map((line) => line.replace(/^\S+Z /, '')),
    )
  }
  t.strictSame(
    statuses,
    names.map(() => 0),
    [...logs.values()].flat().join('\n'),
  )
  return logs
}

t.test('jobs use a composite action and one that stores artifacts, from the site', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/orgs', { username: 'actions' })).status, 201)
  await pushAction(t, { ada, name: 'greet', yaml: GREET })
  const script = await bundled(t, STORE_SCRIPT)
  await pushAction(t, { ada, name: 'store', yaml: STORE, script })
  await ada.api('POST', '/user/repos', { name: 'engine', auto_init: true, private: true })
  await ada.api('PATCH', '/repos/ada/engine', { has_actions: true })
  const content = Buffer.from(WORKFLOW).toString('base64')
  const file = '/repos/ada/engine/contents/.gitea/workflows/ci.yaml'
  t.equal((await ada.api('POST', file, { content, message: 'Add it' })).status, 201)

  const logs = await runJobs(t, { gatehouse, ada, names: ['build', 'use'] })
  const build = logs.get('build') ?? []
  const stored = build.find((row) => /^stored as \d+$/.test(row))
  t.ok(stored, build.join('\n'))
  t.strictSame(
    build.filter((row) => row.startsWith('Fetching')),
    ['Fetching the action actions/greet@v1', 'Fetching the action actions/store@v1'],
  )
  const post = ['Post actions/store@v1', `post of artifact ${stored?.split(' ').at(-1)}`]
  t.strictSame(build.slice(build.indexOf('Post actions/store@v1')).slice(0, 2), post)
  t.ok(logs.get('use')?.includes('Hello, ada'), [...(logs.get('use') ?? [])].join('\n'))
})
