/** Jobs of private repositories, actions and artifacts, with Gatehouse's own runner. */

import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { runCommand, startCommand } from '../helpers/command-line.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { installProgram } from '../helpers/programs.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const ROOT = new URL('../../../', import.meta.url).pathname
const WITHIN_MS = 180_000
/** Folder with the client of artifacts that actions bundle. */
const CLIENTS = await installProgram('artifact-clients')

/** Server of the tests, and a runner for all jobs. */
const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')
const cwd = await temporaryFolder(t)
const made = await gatehouse.run('runner', 'token', '--owner', 'ada')
const register = ['--instance', gatehouse.url, '--token', made.output.trim(), '--labels', 'linux']
const registered = await runCommand(t, ['runner', 'register', ...register], { cwd })
t.equal(registered.exitCode, 0, registered.errorText)
const runner = await startCommand(t, ['runner', 'run'], { cwd })

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
  const building = promisify(execFile)(join(ROOT, 'node_modules/.bin/esbuild'), args, {
    cwd: CLIENTS,
  })
  building.child.stdin?.end(script)
  await building
  return file
}

interface ActionInput {
  readonly name: string
  readonly yaml: string
  /** File that becomes dist/index.js. */
  readonly script?: string
}

/** Pushes an action to a public repository of the organization, with the tag v1. */
async function pushAction(t: Test, { name, yaml, script }: ActionInput): Promise<void> {
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

interface ListedTask {
  readonly id: number
  readonly name: string
  readonly status: string
}

interface RanJob {
  readonly status: string
  readonly rows: readonly string[]
}

/** Runs the two jobs of a workflow in a new private repository; returns them by their names. */
async function runJobs(
  t: Test,
  repository: string,
  workflow: string,
): Promise<Readonly<Record<string, RanJob>>> {
  await ada.api('POST', '/user/repos', { name: repository, auto_init: true, private: true })
  await ada.api('PATCH', `/repos/ada/${repository}`, { has_actions: true })
  const content = Buffer.from(workflow).toString('base64')
  const file = `/repos/ada/${repository}/contents/.gitea/workflows/ci.yaml`
  t.equal((await ada.api('POST', file, { content, message: 'Add it' })).status, 201)

  const list = async () => {
    const { body } = await ada.api('GET', `/repos/ada/${repository}/actions/tasks`)
    return (body as { workflow_runs: ListedTask[] }).workflow_runs
  }
  const isEnded = (tasks: readonly ListedTask[]) =>
    tasks.some(({ status }) => status === 'failure') ||
    tasks.filter(({ status }) => status === 'success').length === 2
  const tasks = await until(list, isEnded, WITHIN_MS)
  const headers = { authorization: `token ${ada.token}` }
  const jobs: Record<string, RanJob> = {}
  for (const { id, name, status } of tasks) {
    const path = `${gatehouse.url}/api/v1/repos/ada/${repository}/actions/jobs/${id}/logs`
    const text = await (await fetch(path, { headers })).text()
    jobs[name] = { status, rows: text.split('\n').map((line) => line.replace(/^\S+Z /, '')) }
  }
  return jobs
}

async function succeed(t: Test, repository: string, workflow: string) {
  const jobs = await runJobs(t, repository, workflow)
  const statuses = Object.values(jobs).map(({ status }) => status)
  t.strictSame(statuses, ['success', 'success'], JSON.stringify(jobs))
  return jobs
}

t.test('jobs use a composite action and one that stores artifacts, from the site', async (t) => {
  t.equal((await ada.api('POST', '/orgs', { username: 'actions' })).status, 201)
  await pushAction(t, { name: 'greet', yaml: GREET })
  const script = await bundled(t, STORE_SCRIPT)
  await pushAction(t, { name: 'store', yaml: STORE, script })
  const { build: first, use } = await succeed(t, 'engine', WORKFLOW)
  const build = first?.rows ?? []
  const stored = build.find((row) => /^stored as \d+$/.test(row))
  t.ok(stored, build.join('\n'))
  t.strictSame(
    build.filter((row) => row.startsWith('Fetching')),
    ['Fetching the action actions/greet@v1', 'Fetching the action actions/store@v1'],
  )
  const post = ['Post actions/store@v1', `post of artifact ${stored?.split(' ').at(-1)}`]
  t.strictSame(build.slice(build.indexOf('Post actions/store@v1')).slice(0, 2), post)
  t.ok(use?.rows.includes('Hello, ada'), JSON.stringify(use))
})

const DOCUMENT = new URL('../../../docs/actions.md', import.meta.url)

t.test('steps of a documented workflow store an artifact for a job and for users', async (t) => {
  const text = await readFile(DOCUMENT, 'utf8')
  const [, workflow = ''] = /runner-actions\.test\.ts -->\n```yaml\n(.*?)```/s.exec(text) ?? []
  await succeed(t, 'site', workflow)
  const { body } = await ada.api('GET', '/repos/ada/site/actions/artifacts')
  const { artifacts } = body as { artifacts: { id: number; size_in_bytes: number }[] }
  t.match(artifacts, [{ name: 'site' }])
  const headers = { authorization: `token ${ada.token}` }
  const path = `/api/v1/repos/ada/site/actions/artifacts/${artifacts[0]?.id}/zip`
  const bytes = await (await fetch(`${gatehouse.url}${path}`, { headers })).arrayBuffer()
  t.equal(bytes.byteLength, artifacts[0]?.size_in_bytes)
  t.equal(Buffer.from(bytes).subarray(0, 2).toString(), 'PK')
})

const CHECKOUT = `
on: push
jobs:
  build:
    runs-on: linux
    outputs: { made: "\${{ steps.make.outputs.made }}" }
    steps:
      - uses: actions/checkout@v4
      - run: test "$(git rev-parse HEAD)" = "$GITHUB_SHA"
      - id: make
        run: echo "made=it" >> $GITHUB_OUTPUT
      - run: echo token \${{ github.token }} of \${{ github.actor }}
  test:
    needs: build
    runs-on: [linux]
    steps: [{ run: "echo got \${{ needs.build.outputs.made }}; exit 4" }]
`

t.test('a job checks out a private repository, and a later job gets its output', async (t) => {
  const { build, test } = await runJobs(t, 'private', CHECKOUT)
  t.equal(build?.status, 'success', JSON.stringify(build))
  t.ok(build?.rows.includes('token *** of ada'))
  t.equal(test?.status, 'failure')
  const last = ['got it', 'Error: the step exited with status 4.']
  t.strictSame(test?.rows.filter(Boolean).slice(-2), last)
  t.equal((await runner.end('SIGTERM')).exitCode, 0)
})
