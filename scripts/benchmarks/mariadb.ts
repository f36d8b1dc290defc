/** MariaDB server of a benchmark, with its default settings but for folders and address. */

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchmarkContext } from './benchmark.js'
import { createCpuGroup, freePort, type MeasuredServer, startServer, USER_PATH } from './server.js'
import { runProgram } from './sshd.js'

const DATABASE = 'gatehouse'

/** Starts a server with an empty database, whose URL it returns. */
export async function startMariadb({ folder, signal }: BenchmarkContext): Promise<MeasuredServer> {
  const data = join(folder, 'mariadb')
  const socket = join(data, 'socket')
  const port = await freePort()
  await mkdir(data)
  // The server refuses to run as root, so it gets the user mysql then.
  const isRoot = process.getuid?.() === 0
  const flags = ['--no-defaults', `--datadir=${data}`, ...(isRoot ? ['--user=mysql'] : [])]
  if (isRoot) {
    await chmod(folder, 0o755)
    await runProgram('chown', 'mysql:', data)
  }
  await runProgram(
    'mariadb-install-db',
    ...flags,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  )
  const setup = join(folder, 'setup.sql')
  await writeFile(setup, `create database ${DATABASE};\n`)
  const cpu = await createCpuGroup('mariadb')
  const address = [
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    `--socket=${socket}`,
    `--init-file=${setup}`,
  ]
  const server = await startServer(
    cpu,
    {
      program: ['mariadbd', ...flags, ...address],
      environment: { PATH: USER_PATH },
      logFile: join(folder, 'mariadb.log'),
      signal,
    },
    { port },
  )
  return {
    url: `mysql://root@127.0.0.1:${port}/${DATABASE}`,
    cpu,
    async stop() {
      await server.stop()
      await cpu.remove()
    },
  }
}
