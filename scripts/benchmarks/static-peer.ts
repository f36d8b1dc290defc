/** Peer for responses that need no git: nginx, serving files with the same bytes. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TlsFiles } from '../../conf/settings.js'
import type { BenchmarkContext } from './benchmark.js'
import { startNginx } from './nginx.js'
import { createCpuGroup, freePort, type MeasuredServer } from './server.js'

export interface StaticPeer extends MeasuredServer {
  /** Folder whose files are served as `/NAME`. */
  readonly files: string
}

/** Starts nginx with its files in the benchmark's folder. */
export async function startStaticPeer(
  { folder, signal }: BenchmarkContext,
  tls?: TlsFiles,
): Promise<StaticPeer> {
  const files = join(folder, 'static', 'files')
  await mkdir(files, { recursive: true })
  const port = await freePort()
  const cpu = await createCpuGroup('static')
  const nginx = await startNginx(cpu, {
    folder: join(folder, 'static'),
    port,
    tls,
    location: [`root ${files}`, 'dav_methods PUT'],
    signal,
  })
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    cpu,
    files,
    async stop() {
      await nginx.stop()
      await cpu.remove()
    },
  }
}
