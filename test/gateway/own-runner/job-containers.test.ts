/** Containers of jobs by the real podman, with a stub of the server. */

import { readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listProcesses } from '../../../cgi/process/process-table.js'
import { searchPath } from '../../../conf/load.js'
import { createLog } from '../../../conf/log.js'
import { removeLeftovers } from '../../../gateway/own-runner/remove-containers.js'
import { type RunOptions, ranTask, writeStep } from '../../helpers/ran-task.js'
import { STUB_CREDENTIALS, stubRunnerServer } from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { addNodeImage, BOX, NODE_BOX, testPodman } from '../../helpers/test-podman.js'

const podman = await testPodman(t)

/** Returns a workflow of a job with these keys and steps. */
function jobWith(keys: readonly string[], ...steps: readonly string[]): string {
  const lines = steps.map((step) => `      - ${step.split('\n').join('\n        ')}\n`)
  const head = keys.map((key) => `    ${key.split('\n').join('\n    ')}\n`).join('')
  return `on: push\njobs:\n  build:\n    runs-on: [linux]\n${head}    steps:\n${lines.join('')}`
}

function podmanInput(environment = podman.environment, path = searchPath()) {
  return { searchPath: path, environment, runnerId: STUB_CREDENTIALS.uuid }
}

function ran(t: Test, workflow: string, options: RunOptions = {}) {
  return ranTask(t, workflow, { podman: podmanInput(), ...options })
}

t.test('steps run in the container with their variables, files and exit status', async (t) => {
  const { result, stub, outputs, context } = await ran(
    t,
    jobWith(
      [
        `container: {image: ${BOX}, env: {FROM: container, KEPT: "it's \${{ vars.V }}"}}`,
        'env: {FROM: job, UID: "7", A-B: c}',
        'outputs: {made: "${{ steps.make.outputs.made }}"}',
      ],
      `id: make
run: |
  echo made=$(test -e /usr/bin || echo in the image) >> $GITHUB_OUTPUT
  mkdir bin
  printf '#!/bin/sh\\necho tool in $(basename $PWD)\\n' > bin/tool
  chmod +x bin/tool
  echo $PWD/bin >> $GITHUB_PATH
  printf 'LONG<<E\\na\\nb\\nE\\n' >> $GITHUB_ENV`,
      `run: |
  tool
  echo "$FROM, $KEPT, $LONG"
  echo to stderr >&2
  echo $PATH | sed 's/.*bin:/TASK:/'
  cat
  exit 5`,
      'if: always()\nrun: echo ${{ job.status }}, id of ${#ID}\nenv: {ID: "${{ job.container.id }}"}',
      'if: always()\nworking-directory: /etc\nrun: pwd',
      'if: always()\nrun: mkdir -p of/other; chown -R 5:5 of; chmod -R 700 of',
    ),
    { vars: { V: 'so' } },
  )
  t.equal(result, 'FAILURE')
  t.strictSame({ ...outputs }, { made: 'in the image' })
  t.strictSame(
    stub.rows.filter((row) => !row.startsWith('Run ')),
    [
      `The image ${BOX} is on this machine.`,
      'Starting the container of the job',
      'tool in workspace',
      "job, it's so, a",
      'b',
      'to stderr',
      'TASK:/bin',
      'Error: the step exited with status 5.',
      'failure, id of 64',
      '/etc',
    ],
  )
  t.strictSame(await readdir(context.workFolder), [])
})

t.test('attempts on the machine and steps out of time end in the container', async (t) => {
  const secret = await temporaryFolder(t)
  const attempts: Readonly<Record<string, string>> = {
    'read a folder of the machine': `ls ${secret}`,
    'see sockets of services': 'ls /run/podman || ls /run/user || ls /run/lock',
    'see a process of the machine': `test -d /proc/${process.pid}`,
    'mount a file system': 'mount -t tmpfs none /mnt || mount -t tmpfs none /etc',
    'make a device': 'mknod /tmp/memory c 1 1',
    'write settings of the kernel': 'echo x > /proc/sys/kernel/core_pattern',
    'get privileges by a program': "grep -q 'NoNewPrivs:.*0' /proc/self/status",
    'configure the network': 'ip link set lo down',
    'have further capabilities': "! grep -qi 'CapBnd:.*00000000800404fb' /proc/self/status",
    'write the Node of the runner': 'echo x > /.gatehouse/node',
  }
  const lines = Object.entries(attempts).map(
    ([name, script]) => `  if (${script}) 2>/dev/null; then echo "possible: ${name}"; fi\n`,
  )
  const { steps, stub } = await ran(
    t,
    jobWith(
      [`container: ${BOX}`],
      `run: |\n  set +e\n${lines.join('')}  echo end`,
      `timeout-minutes: 0.03\nrun: "trap '' TERM; echo started; sleep 4321"`,
      'if: always()\nrun: "echo sleeping: $(ps | grep -c \'[s]leep 4321\')"',
    ),
  )
  t.strictSame(steps, ['SUCCESS', 'FAILURE', 'SUCCESS'])
  t.strictSame(
    stub.rows.slice(3).filter((row) => !row.startsWith('Run ')),
    ['end', 'started', 'Error: the step ran longer than 0.03 minutes.', 'sleeping: 0'],
  )
})

t.test('variables of jobs act neither on podman nor on its arguments', async (t) => {
  const secret = 'secret-of-the-job'
  // A podman that read one of them would not start.
  const names = [
    'CONTAINERS_CONF',
    'CONTAINERS_STORAGE_CONF',
    'LD_PRELOAD',
    'HOME',
    'PATH',
    'TMPDIR',
  ]
  const env = names.map((name) => `${name}: /nowhere:/bin`).join(', ')
  const stub = await stubRunnerServer(t)
  let commands: readonly string[] = []
  stub.onRows = (rows) => {
    if (!rows.includes('waiting') || commands.length > 0) return
    void listProcesses().then((found) => {
      commands = found.map(({ command }) => command)
    })
  }
  const { result } = await ran(
    t,
    jobWith(
      [
        `container: {image: ${BOX}, env: {A: "\${{ secrets.KEY }}", ${env.replace('LD_PRELOAD', 'LD_X')}}}`,
        `services: {db: {image: ${BOX}, env: {B: "\${{ secrets.KEY }}", ${env}}, options: "--entrypoint '[\\"/bin/sleep\\",\\"60\\"]'"}}`,
        `env: {${env.replace('LD_PRELOAD', 'LD_Y')}}`,
      ],
      'run: |\n  echo waiting\n  sleep 2\n  test $A = $C\nenv: {C: "${{ secrets.KEY }}"}',
    ),
    { stub, secrets: { KEY: secret } },
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.ok(commands.some((command) => command.includes('podman')))
  t.notOk(commands.some((command) => command.includes(secret)))
})

const SHOW = `
inputs: { some-name: {} }
runs: { using: node20, main: show.js }
`

t.test(
  'JavaScript actions run in an image with glibc, and fail with a sentence in another',
  async (t) => {
    await addNodeImage(t, podman)
    const script =
      "console.log(process.env['INPUT_SOME-NAME'], require('fs').existsSync('/usr/bin'))"
    const files = writeStep({ 'show/action.yml': SHOW, 'show/show.js': script })
    const use = 'uses: ./show\nwith: {some-name: "${{ matrix.x }}it"}'
    const good = await ran(
      t,
      jobWith([`container: ${NODE_BOX}`, 'strategy: {matrix: {x: [b]}}'], files, use),
    )
    t.equal(good.stub.rows.at(-1), 'bit false')
    const bad = await ran(t, jobWith([`container: ${BOX}`], files, use.replace('matrix', 'vars')))
    t.equal(bad.result, 'FAILURE')
    t.match(
      bad.stub.rows.at(-1),
      /^Error: Node does not start in localhost\/box: JavaScript actions need an image with glibc/,
    )
  },
)

/** Lines of a service that answers over HTTP a second after its start. */
const WEB = `
  web:
    image: ${BOX}
    env: {TEXT: "answer of \${{ vars.V }}"}
    ports: [8080]
    volumes: ["shared:/shared"]
    options: >-
      --health-cmd "wget -q -O /dev/null http://127.0.0.1:8080/" --health-interval 1s
      --entrypoint '["sh", "-c", "sleep 1; echo $TEXT | tee /shared/index.html; httpd -f -p 8080 -h /shared"]'`

t.test('a job in a container reaches a healthy service by its name', async (t) => {
  const { result, stub } = await ran(
    t,
    jobWith(
      [`container: {image: ${BOX}, volumes: ["shared:/seen:ro", /own]}`, `services:${WEB}`],
      'run: wget -q -O - http://web:8080/; cat /seen/index.html; touch /own/x; ! touch /seen/x',
    ),
    { vars: { V: 'web' } },
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.strictSame(stub.rows.slice(1), [
    'Starting the service web',
    'Starting the container of the job',
    'The service web is healthy.',
    stub.rows[4],
    'answer of web',
    'answer of web',
    'touch: /seen/x: Read-only file system',
  ])
})

t.test('a job without a container reaches a service by a port of the machine', async (t) => {
  const { result, stub } = await ran(
    t,
    jobWith(
      ['strategy: {matrix: {image: [""]}}', 'container: "${{ matrix.image }}"', `services:${WEB}`],
      'run: curl -sS http://127.0.0.1:$PORT/\nenv: {PORT: "${{ job.services.web.ports[\'8080\'] }}"}',
      'run: test -n "${{ job.services.web.id }}" -a "${{ job.container.id }}" = ""',
    ),
    { vars: { V: 'port' } },
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.ok(stub.rows.includes('answer of port'))
})

t.test('a service that fails ends the job with its output, before the first step', async (t) => {
  for (const [options, sentence] of [
    [`--entrypoint '["sh", "-c", "echo reason; exit 3"]' --health-cmd true`, 'has ended'],
    [
      `--entrypoint '["sh", "-c", "echo reason; sleep 60"]' --health-cmd false
      --health-interval 1s --health-retries 1 --health-timeout 1s`,
      'was not healthy within 2 seconds',
    ],
  ]) {
    const service = `  db:\n    image: ${BOX}\n    options: >-\n      ${options}`
    const { result, steps, stub } = await ran(
      t,
      jobWith([`services:\n${service}`], 'run: echo step'),
    )
    t.equal(result, 'FAILURE')
    t.strictSame(steps, ['CANCELLED'])
    t.strictSame(stub.rows.slice(1), [
      'Starting the service db',
      'Output of the service db:',
      'reason',
      `Error: the service 'db' ${sentence}.`,
    ])
  }
})

t.test('a cancelled job leaves nothing, while it starts and while it runs', async (t) => {
  const sleeping = `services: {db: {image: ${BOX}, options: "--entrypoint '[\\"sleep\\",\\"60\\"]' --health-cmd false"}}`
  for (const [keys, row] of [
    [[`container: ${BOX}`], 'waiting'],
    [[sleeping], 'Starting the service db'],
  ] as const) {
    const stub = await stubRunnerServer(t)
    stub.onRows = (rows) => {
      if (rows.includes(row)) stub.isCancelled = true
    }
    const workflow = jobWith(keys, 'run: echo waiting; sleep 60')
    const { result, steps } = await ran(t, workflow, { stub })
    t.equal(result, 'CANCELLED', row)
    t.strictSame(steps, ['CANCELLED'])
    t.notMatch(stub.rows.join('\n'), 'Warning')
  }
  t.strictSame(await podman.leftovers(), [], 'the jobs before have left nothing either')
})

t.test('a removal that fails is tried again', async (t) => {
  const path = await temporaryFolder(t)
  const failing = `#!/bin/sh
if [ "$1" = rm ] && mkdir "${path}/tried" 2> /dev/null; then
  podman "$@"
  echo 'Error: busy' >&2
  exit 125
fi
exec podman "$@"
`
  await writeFile(join(path, 'podman'), failing, { mode: 0o755 })
  const input = podmanInput(podman.environment, `${path}:${searchPath()}`)
  const { result, stub } = await ran(t, jobWith([`container: ${BOX}`], 'run: echo step'), {
    podman: input,
  })
  t.equal(result, 'SUCCESS')
  t.strictSame(stub.rows.slice(-1), ['step'])
  t.strictSame(await podman.leftovers(), [])
})

t.test('leftovers of a runner are removed, and those of another are kept', async (t) => {
  for (const name of ['uuid-1', 'uuid-2']) {
    const labels = [`--label=gatehouse.runner=${name}`]
    await podman.run('network', 'create', ...labels, `net-${name}`)
    await podman.run('volume', 'create', ...labels, `volume-${name}`)
    const where = [`--network=net-${name}`, `--volume=volume-${name}:/x`, `--name=box-${name}`]
    await podman.run('run', '--detach', ...labels, ...where, BOX, 'sleep', '600')
  }
  const log = createLog({ level: 'silent', format: 'json' })
  await removeLeftovers(podmanInput(), log)
  const names = async (...args: readonly string[]) =>
    (await podman.run(...args, '--filter=name=uuid')).trim()
  t.equal(await names('ps', '--all', '--format={{.Names}}'), 'box-uuid-2')
  t.equal(await names('network', 'ls', '--format={{.Name}}'), 'net-uuid-2')
  t.equal(await names('volume', 'ls', '--format={{.Name}}'), 'volume-uuid-2')
  await removeLeftovers({ ...podmanInput(), runnerId: 'uuid-2' }, log)
  t.strictSame(await podman.leftovers(), [])
})

t.test('only jobs with containers need podman, and they say what is missing', async (t) => {
  const path = await temporaryFolder(t)
  for (const name of ['bash', 'sh', 'cat']) await symlink(`/bin/${name}`, join(path, name))
  const missing = { ...podmanInput(), searchPath: path }
  const broken = podmanInput({ ...podman.environment, CONTAINERS_CONF: '/nowhere' })
  for (const [input, sentence] of [
    [missing, /^Error: the job needs containers: install the package podman on the machine of/],
    [broken, /^Error: the job needs containers, but podman fails on the machine .*: .*nowhere/],
  ] as const) {
    const failed = await ran(t, jobWith([`container: ${BOX}`], 'run: echo step'), { podman: input })
    t.equal(failed.result, 'FAILURE')
    t.match(failed.stub.rows, [sentence])
    t.equal((await ran(t, jobWith([], 'run: echo step'), { podman: input })).result, 'SUCCESS')
  }
})

t.test('credentials for a registry are in a file that only the runner reads', async (t) => {
  // A stub, because no registry is there: it has no image, and shows how it was called.
  const folder = await temporaryFolder(t)
  const stub = join(folder, 'podman')
  const script = `#!/bin/sh
[ "$1 $2" = 'image exists' ] && exit 1
[ $1 = pull ] || exit 0
file=\${3#--authfile=}
echo "pulled $4: $(stat -c %a $file), $(stat -c %a $(dirname $file)), $(cat $file)" >&2
exit 1
`
  await writeFile(stub, script, { mode: 0o755 })
  const image =
    '{image: "code.example.org/ada/x", credentials: {username: a, password: "${{ secrets.KEY }}"}}'
  const input = { ...podmanInput(), searchPath: folder }
  const { stub: server } = await ran(t, jobWith([`container: ${image}`], 'run: echo step'), {
    podman: input,
    secrets: { KEY: 'hidden-key' },
  })
  const auth = '{"auths":{"code.example.org":{"auth":"YTp***"}}}'
  t.strictSame(server.rows, [
    'Pulling the image code.example.org/ada/x',
    `Error: podman pull has failed: pulled code.example.org/ada/x: 600, 700, ${auth}.`,
  ])
})
