/** Steps that are isolated by bubblewrap: hostile ones, and what all steps can rely on. */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listProcesses } from '../../../cgi/process/process-table.js'
import { searchPath } from '../../../conf/load.js'
import { startBubblewrap } from '../../../gateway/own-runner/bubblewrap.js'
import { NO_ISOLATION } from '../../../gateway/own-runner/isolation.js'
import { createTaskFolder } from '../../../gateway/own-runner/task-folder.js'
import { jobOf, ranTask } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const IS_ROOT = process.getuid?.() === 0

async function bubblewrap(t: Test, hidden: readonly string[] = []) {
  return startBubblewrap({ searchPath: searchPath(), workFolder: await temporaryFolder(t), hidden })
}

/** Returns the job of a script, with the lines of its `env`. */
function jobOfScript(script: string, ...env: readonly string[]): string {
  const lines = ['run: |', ...script.split('\n').map((line) => `  ${line}`)]
  return jobOf([...lines, 'env:', '  NAME: value', ...env.map((line) => `  ${line}`)].join('\n'))
}

t.test('attempts on the machine fail in the sandbox, and only there', async (t) => {
  const outside = await temporaryFolder(t)
  const credentials = join(outside, 'runner.json')
  await writeFile(credentials, '{}')
  const other = await createTaskFolder(outside, {})
  const attempts: Readonly<Record<string, string>> = {
    'read the file of the runner': `cat ${credentials}`,
    'read the folder of another task': `cat ${other.eventFile}`,
    'write a file of another task': `test -w ${other.workspace}`,
    'see the home of the user': `ls ${homedir()}`,
    'see sockets of services': 'test -d /run/lock || test -d /run/user',
    'see data of services': 'ls /var/lib',
    'see the hardware': 'ls /sys/class',
    'see a process of the machine': `test -d /proc/${process.pid}`,
    'signal a process of the machine': `kill -0 ${process.pid}`,
    'see shared memory of the machine': `test /dev/shm -ef /proc/${process.pid}/root/dev/shm`,
    'read memory of the machine': 'test -e /dev/mem || test -e /dev/kmsg',
    'make a user namespace': 'unshare --user true',
    'get privileges by a program': "grep -q 'NoNewPrivs:.*0' /proc/self/status",
  }
  const attemptsOfRoot: Readonly<Record<string, string>> = {
    'write programs': 'test -w /usr/bin',
    'write settings of the machine': 'test -w /etc',
    'write into the root folder': 'test -w /',
    'write settings of the kernel': 'test -w /proc/sys/kernel/core_pattern',
    'have capabilities': "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
    'have capabilities by a program': "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status",
  }
  const isolation = await bubblewrap(t)
  for (const [name, script] of Object.entries({ ...attempts, ...(IS_ROOT && attemptsOfRoot) })) {
    const bare = await ranTask(t, jobOfScript(script))
    t.equal(bare.result, 'SUCCESS', `${name}: ${bare.stub.rows}`)
    const isolated = await ranTask(t, jobOfScript(script), { isolation })
    t.equal(isolated.result, 'FAILURE', name)
    t.match(isolated.stub.rows.at(-1), /the step exited with status/, name)
  }
})

t.test('hidden files and folders are hidden in folders of the system too', async (t) => {
  const isolation = await bubblewrap(t, ['/etc/passwd', '/usr/share/doc', '/nowhere', '/usr/none'])
  const script = '! cat /etc/passwd\nls -A /usr/share/doc\ncat /etc/group | head -1'
  const { result, stub } = await ranTask(t, jobOfScript(script), { isolation })
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.match(stub.rows.slice(1), [/passwd: Permission denied/, 'root:x:0:'])
})

t.test('variables of a step are not those of programs outside the sandbox', async (t) => {
  const outside = await temporaryFolder(t)
  // The dynamic linker of each program writes a file.
  const env = ['LD_DEBUG: libs', `LD_DEBUG_OUTPUT: ${outside}/linker`]
  const isolation = await bubblewrap(t)
  t.equal((await ranTask(t, jobOfScript('true', ...env), { isolation })).result, 'SUCCESS')
  t.strictSame(await readdir(outside), [])
  await ranTask(t, jobOfScript('true', ...env))
  t.not((await readdir(outside)).length, 0, 'the variables have an effect')
})

t.test('a variable adds no arguments to those of bwrap', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      "run: printf 'NAME=x\\0--bind\\0/\\0/machine\\n' >> $GITHUB_ENV",
      'run: ls /machine\nif: always()',
    ),
    { isolation: await bubblewrap(t) },
  )
  t.equal(result, 'FAILURE')
  t.strictSame(stub.rows.slice(-2), [
    'Run ls /machine',
    'Error: a variable of the step contains a null character.',
  ])
})

t.test('processes that a step leaves end with it, also in a session of their own', async (t) => {
  const seconds = `98765.${process.pid}`
  const isRunning = async () =>
    (await listProcesses()).some(({ command }) => command.includes(`sleep ${seconds}`))
  const script = `setsid nohup sh -c 'trap "" TERM; echo started; sleep ${seconds}' &\nsleep 0.3`
  const { result, stub } = await ranTask(t, jobOfScript(script), {
    isolation: await bubblewrap(t),
  })
  t.equal(result, 'SUCCESS')
  t.ok(stub.rows.includes('started'))
  t.notOk(await isRunning())
})

t.test('the arguments of processes outside the sandbox have no secret', async (t) => {
  const isolation = await bubblewrap(t)
  const stub = await stubRunnerServer(t)
  let commands: readonly string[] = []
  const listed = new Promise<void>((resolve) => {
    stub.onRows = () =>
      void listProcesses().then((rows) => {
        commands = rows.map(({ command }) => command)
        resolve()
      })
  })
  await ranTask(t, jobOfScript('echo started; sleep 2', 'KEY: argument-secret'), {
    isolation,
    stub,
  })
  await listed
  t.ok(commands.some((command) => command.includes('bwrap --args 3')))
  t.notOk(commands.some((command) => command.includes('argument-secret')))
})

for (const kind of ['bubblewrap', 'none'] as const) {
  const isolationOf = (t: Test) => (kind === 'none' ? NO_ISOLATION : bubblewrap(t))

  t.test(`steps have their folders, files and exit status with ${kind}`, async (t) => {
    const { result, stub } = await ranTask(
      t,
      jobOf(
        'run: |\n  mkdir bin sub; printf "#!/bin/sh\\necho tool\\n" > bin/mytool; chmod +x bin/mytool\n  echo "$PWD/bin" >> $GITHUB_PATH\n  echo LATER=kept >> $GITHUB_ENV\n  echo made=it >> $GITHUB_OUTPUT\n  echo home > ~/file; echo temp > $RUNNER_TEMP/file; echo shared > $(mktemp -d)/file\nid: first',
        'run: |\n  mytool; echo $LATER ${{ steps.first.outputs.made }}\n  cat ~/file $RUNNER_TEMP/file\n  echo "[$NAME]"; basename $PWD; ls /proc/self/fd | grep -xc .; cat\nworking-directory: sub\nenv: {NAME: "a  b\\nc"}',
        'run: node -p "process.version"',
        'run: exit 7',
      ),
      { isolation: await isolationOf(t) },
    )
    t.equal(result, 'FAILURE')
    t.strictSame(stub.rows.slice(2), [
      'tool',
      'kept it',
      'home',
      'temp',
      '[a  b',
      'c]',
      'sub',
      '4',
      'Run node -p "process.version"',
      process.version,
      'Run exit 7',
      'Error: the step exited with status 7.',
    ])
  })

  t.test(`programs of a cancelled step can clean up with ${kind}`, async (t) => {
    const stub = await stubRunnerServer(t)
    stub.onRows = (rows) => {
      stub.isCancelled = rows.includes('waiting')
    }
    // The shell of the step ends before its program.
    const program = 'trap "sleep 0.1; echo by program; exit" TERM; echo waiting; sleep 100 & wait'
    const { result, steps } = await ranTask(
      t,
      jobOf(`run: sh -c '${program}'`, 'run: echo cleaned\nif: always()'),
      { stub, isolation: await isolationOf(t) },
    )
    t.equal(result, 'CANCELLED')
    t.strictSame(steps, ['CANCELLED', 'SUCCESS'])
    t.ok(stub.rows.includes('by program'), stub.rows.join('\n'))
    t.equal(stub.rows.at(-1), 'cleaned')
  })

  t.test(`programs that a step has left get SIGTERM with ${kind}`, async (t) => {
    const program = 'trap "echo got SIGTERM > left; exit" TERM; sleep 100 & wait'
    const { result, stub } = await ranTask(
      t,
      jobOf(`run: |\n  sh -c '${program}' &\n  sleep 0.5`, 'run: cat left'),
      { isolation: await isolationOf(t) },
    )
    t.equal(result, 'SUCCESS')
    t.equal(stub.rows.at(-1), 'got SIGTERM')
  })

  t.test(`a step that ignores SIGTERM is killed at its timeout with ${kind}`, async (t) => {
    const startedAtMs = Date.now()
    const { result, stub } = await ranTask(
      t,
      jobOf('run: |\n  trap "" TERM\n  sleep 100 & sleep 100\ntimeout-minutes: 0.01'),
      { isolation: await isolationOf(t) },
    )
    t.equal(result, 'FAILURE')
    t.strictSame(stub.rows.slice(1), ['Error: the step ran longer than 0.01 minutes.'])
    t.ok(Date.now() - startedAtMs < 30_000)
  })
}

t.test('the Node of the runner is there, also if it is in a temporary folder', async (t) => {
  const { execPath } = process
  t.teardown(() => {
    process.execPath = execPath
  })
  for (const parent of ['/tmp', '/dev/shm']) {
    const folder = await mkdtemp(join(parent, 'gatehouse-node-'))
    t.teardown(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'bin'))
    process.execPath = join(folder, 'bin/node')
    await writeFile(join(folder, 'bin/tool'), '#!/bin/sh\necho a tool\n', { mode: 0o755 })
    const script = `${folder}/bin/tool`
    const { result, stub } = await ranTask(t, jobOfScript(script), {
      isolation: await bubblewrap(t),
    })
    t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  }
})

t.test('/tmp is private to a task, and its steps share it', async (t) => {
  const name = `gatehouse-private-${process.pid}`
  const { result, stub } = await ranTask(
    t,
    jobOf(`run: echo kept > /tmp/${name}`, `run: cat /tmp/${name}`),
    { isolation: await bubblewrap(t) },
  )
  t.equal(result, 'SUCCESS')
  t.equal(stub.rows.at(-1), 'kept')
  t.notOk((await readdir('/tmp')).includes(name))
})

t.test('without bwrap, or if it starts no sandbox, the error says what to do', async (t) => {
  const folder = await temporaryFolder(t)
  const start = () => startBubblewrap({ searchPath: folder, workFolder: folder, hidden: [] })
  await t.rejects(start(), {
    message:
      'the program bwrap is missing: install the package bubblewrap, or pass --isolation none ' +
      'on a machine that may be lost',
  })
  await writeFile(join(folder, 'bwrap'), '#!/bin/sh\necho no permission >&2; exit 1\n', {
    mode: 0o755,
  })
  await t.rejects(start(), {
    message:
      'bwrap starts no sandbox (no permission): install bubblewrap 0.8 or later and permit ' +
      'unprivileged user namespaces, or pass --isolation none on a machine that may be lost',
  })
  t.strictSame(await readdir(folder), ['bwrap'])
})
