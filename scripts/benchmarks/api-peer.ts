/** Peer for the API: a fastify server with knex on the product's SQLite file. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchmarkContext } from './benchmark.js'
import { type Gatehouse, WORKERS } from './gatehouse.js'
import { createCpuGroup, freePort, type MeasuredServer, startServer, USER_PATH } from './server.js'

const PROGRAM = fileURLToPath(new URL('./fastify-server.js', import.meta.url))

/** Starts the peer with as many processes as the product. */
export async function startApiPeer(
  { folder, signal }: BenchmarkContext,
  gatehouse: Gatehouse,
): Promise<MeasuredServer> {
  const port = await freePort()
  const cpu = await createCpuGroup('fastify')
  const words = [String(port), String(WORKERS), gatehouse.databaseFile, gatehouse.url]
  const server = await startServer(
    cpu,
    {
      program: [process.execPath, PROGRAM, ...words],
      environment: { PATH: USER_PATH, NODE_ENV: 'production' },
      logFile: join(folder, 'fastify.log'),
      signal,
    },
    { port },
  )
  return {
    url: `http://127.0.0.1:${port}`,
    cpu,
    async stop() {
      await server.stop()
      await cpu.remove()
    },
  }
}
