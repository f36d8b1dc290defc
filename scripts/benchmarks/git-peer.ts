/** Peer for Git over HTTP: nginx, fcgiwrap and git http-backend, on the same repositories. */

import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { findGit } from '../../cgi/process/git.js'
import type { BenchmarkContext } from './benchmark.js'
import { countRequests, startNginx } from './nginx.js'
import { createCpuGroup, freePort, type MeasuredServer, startServer, USER_PATH } from './server.js'

/** Number of fcgiwrap processes by default; equals the number of concurrent clones. */
const BACKENDS = 4

export interface GitPeer extends MeasuredServer {
  /** Serves a bare repository as `/NAME.git`. */
  addRepository(name: string, path: string): Promise<void>
  /** Returns the number of requests so far, each of which has started git http-backend. */
  countRequests(): Promise<number>
}

export interface GitPeerOptions {
  /** Number of fcgiwrap processes, each of which serves one request at a time. */
  readonly backends?: number
}

/** Starts nginx and fcgiwrap with their files in the benchmark's folder. */
export async function startGitPeer(
  { folder, signal }: BenchmarkContext,
  { backends = BACKENDS }: GitPeerOptions = {},
): Promise<GitPeer> {
  const root = join(folder, 'nginx')
  const repositories = join(root, 'repositories')
  await mkdir(repositories, { recursive: true })
  const port = await freePort()
  const socket = join(root, 'fcgiwrap.sock')
  const cpu = await createCpuGroup('nginx')
  const fcgiwrap = await startServer(
    cpu,
    {
      program: ['fcgiwrap', '-c', String(backends), '-s', `unix:${socket}`],
      environment: { PATH: USER_PATH },
      logFile: join(root, 'fcgiwrap.log'),
      signal,
    },
    { path: socket },
  )
  const location = await backendLocation(repositories, socket)
  const nginx = await startNginx(cpu, { folder: root, port, location, signal })
  return {
    url: `http://127.0.0.1:${port}`,
    cpu,
    addRepository: (name, path) => symlink(path, join(repositories, `${name}.git`)),
    countRequests: () => countRequests(root),
    async stop() {
      await nginx.stop()
      await fcgiwrap.stop()
      await cpu.remove()
    },
  }
}

/** Returns the configuration of git-http-backend(1), with partial clones enabled. */
async function backendLocation(repositories: string, socket: string): Promise<readonly string[]> {
  const git = await findGit()
  const parameters = {
    PATH: USER_PATH,
    HOME: '/dev/null',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'uploadpack.allowFilter',
    GIT_CONFIG_VALUE_0: 'true',
    SCRIPT_FILENAME: git.backend,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROJECT_ROOT: repositories,
    GIT_PROTOCOL: '$http_git_protocol',
    PATH_INFO: '$uri',
    QUERY_STRING: '$args',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    REMOTE_ADDR: '$remote_addr',
  }
  const lines = Object.entries(parameters).map(
    ([name, value]) => `fastcgi_param ${name} "${value}"`,
  )
  return [...lines, `fastcgi_pass unix:${socket}`]
}
