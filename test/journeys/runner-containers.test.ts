/** Jobs with containers and services, from a gateway to Gatehouse's own runner with podman. */

import t, { type Test } from 'tap'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import { readLog } from '../../sql/runs/task-logs.js'
import { type CommandOptions, runCommand, startCommand } from '../helpers/command-line.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { addRegistrationToken } from '../helpers/runner-client.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { BOX, type TestPodman, testPodman } from '../helpers/test-podman.js'
import { addWorkflowRepository } from '../helpers/workflow-repository.js'

/** Time in which a runner with containers starts or ends a job. */
const WITHIN_MS = 180_000

const SERVICE = `
      web:
        image: ${BOX}
        env: { KEY: "\${{ github.repository }}" }
        ports: [8080]
        options: >-
          --health-cmd "wget -q -O /dev/null http://127.0.0.1:8080/" --health-interval 1s
          --entrypoint '["sh", "-c", "echo $KEY > /tmp/index.html; httpd -f -p 8080 -h /tmp"]'`

const WORKFLOW = `
on: push
jobs:
  inside:
    runs-on: linux
    container: ${BOX}
    services:${SERVICE}
    outputs: { said: "\${{ steps.ask.outputs.said }}" }
    steps:
      - uses: actions/checkout@v4
      - run: "! type git && test -f .gitea/workflows/ci.yaml"
      - id: ask
        uses: ./ask
        with: { address: "http://web:8080/" }
  outside:
    needs: inside
    runs-on: linux
    services:${SERVICE}
    steps:
      - run: test "$(curl -sS http://127.0.0.1:$PORT/)" = "\${{ needs.inside.outputs.said }}"
        env: { PORT: "\${{ job.services.web.ports['8080'] }}" }
      - run: echo "said \${{ needs.inside.outputs.said }}"
`

const ASK = `
inputs: { address: { required: true } }
outputs: { said: { value: "\${{ steps.ask.outputs.said }}" } }
runs:
  using: composite
  steps:
    - id: ask
      shell: sh
      run: echo "said=$(wget -q -O - \${{ inputs.address }})" >> $GITHUB_OUTPUT
`

const HANGING = `
on: push
jobs:
  hang: { runs-on: linux, container: ${BOX}, steps: [{ run: echo started; sleep 1000 }] }
`

/** Registers a runner, and returns the options with which it runs. */
async function registered(
  t: Test,
  gateway: GatewayWithUsers,
  podman: TestPodman,
): Promise<CommandOptions> {
  const cwd = await temporaryFolder(t)
  const token = await addRegistrationToken(gateway.db)
  const args = ['--instance', `http://127.0.0.1:${gateway.port}`, '--token', token]
  const { exitCode, errorText } = await runCommand(t, ['runner', 'register', ...args], { cwd })
  t.equal(exitCode, 0, errorText)
  return { cwd, environment: podman.environment }
}

t.test('jobs with containers run, and a runner that was killed removes its own', async (t) => {
  const podman = await testPodman(t)
  const gateway = await startGatewayWithUsers(t)
  const engine = await addWorkflowRepository(gateway)
  const options = await registered(t, gateway, podman)
  await engine.commit(HANGING, 'hang.yaml')
  const killed = await startCommand(t, ['runner', 'run'], options)
  const rowsOf = async (job: RunJob | undefined) => {
    const range = { taskId: job?.taskId ?? 0, firstRow: 0, rowsMax: 100 }
    return (await readLog(gateway.db, range)).map(({ text }) => text)
  }
  const isStarted = async () => (await rowsOf((await engine.jobs(1))[0])).includes('started')
  t.ok(await until(isStarted, Boolean, WITHIN_MS), killed.errorText())
  await killed.end('SIGKILL')
  t.equal((await podman.leftovers()).length, 2, 'the container outlives the runner')

  const content = Buffer.from(ASK).toString('base64')
  const path = '/repos/ada/engine/contents/ask/action.yml'
  const { status } = await gateway.as('ada', 'POST', path, { content, message: '[skip ci] Add it' })
  t.equal(status, 201)
  await engine.commit(WORKFLOW)
  const runner = await startCommand(t, ['runner', 'run'], options)
  const ended = await until(async () => (await engine.run(2)).status, isFinal, WITHIN_MS)
  t.equal(ended, 'success', runner.errorText())
  t.equal((await runner.end('SIGTERM')).exitCode, 0)
  t.strictSame(await podman.leftovers(), [])
  const [inside, outside] = await Promise.all((await engine.jobs(2)).map(rowsOf))
  t.strictSame(inside?.slice(0, 3), [
    `The image ${BOX} is on this machine.`,
    'Starting the service web',
    'Starting the container of the job',
  ])
  t.equal(outside?.at(-1), 'said ada/engine')
})
