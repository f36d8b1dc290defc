/** The peer of the Git door: nginx, fcgiwrap and git http-backend, on the same repositories. */

import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findGit, gitEnvironment } from '../../cgi/git.js'
import type { Stage } from './benchmark.js'
import { WORKERS } from './gatehouse.js'
import { type CpuGroup, createCpuGroup, freePort, startServer, USER_PATH } from './server.js'

/** As many clones as run at once. */
const BACKENDS = 4

export interface GitPeer {
  readonly url: string
  readonly cpu: CpuGroup
  /** Serves a bare repository as `/NAME.git`. */
  addRepository(name: string, path: string): Promise<void>
  stop(): Promise<void>
}

/** Starts the two servers below the folder of the benchmark. */
export async function startGitPeer({ folder, signal }: Stage): Promise<GitPeer> {
  const root = join(folder, 'nginx')
  await mkdir(join(root, 'repositories'), { recursive: true })
  const port = await freePort()
  const socket = join(root, 'fcgiwrap.sock')
  const configFile = join(root, 'nginx.conf')
  await writeFile(configFile, await nginxConfig({ root, port, socket }))
  const cpu = await createCpuGroup('nginx')
  const environment = { PATH: USER_PATH }
  const common = { environment, signal }
  const fcgiwrap = await startServer(
    cpu,
    {
      ...common,
      program: ['fcgiwrap', '-c', String(BACKENDS), '-s', `unix:${socket}`],
      logFile: join(root, 'fcgiwrap.log'),
    },
    { path: socket },
  )
  const nginx = await startServer(
    cpu,
    {
      ...common,
      program: ['nginx', '-p', root, '-c', configFile, '-e', join(root, 'error.log')],
      logFile: join(root, 'nginx.log'),
    },
    { port },
  )
  return {
    url: `http://127.0.0.1:${port}`,
    cpu,
    addRepository: (name, path) => symlink(path, join(root, 'repositories', `${name}.git`)),
    async stop() {
      await nginx.stop()
      await fcgiwrap.stop()
      await cpu.remove()
    },
  }
}

interface Places {
  readonly root: string
  readonly port: number
  readonly socket: string
}

/** As git-http-backend(1) shows it, with the same configuration of git as the product's. */
async function nginxConfig({ root, port, socket }: Places): Promise<string> {
  const git = await findGit()
  const parameters = {
    ...gitEnvironment(git, { config: [] }),
    SCRIPT_FILENAME: git.backend,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROJECT_ROOT: join(root, 'repositories'),
    GIT_PROTOCOL: '$http_git_protocol',
    PATH_INFO: '$uri',
    QUERY_STRING: '$args',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    REMOTE_ADDR: '$remote_addr',
  }
  const lines = Object.entries(parameters).map(
    ([name, value]) => `      fastcgi_param ${name} "${value}";`,
  )
  return `daemon off;
worker_processes ${WORKERS};
pid ${root}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log ${root}/access.log;
  client_max_body_size 0;
  client_body_temp_path ${root}/body;
  fastcgi_temp_path ${root}/fastcgi;
  proxy_temp_path ${root}/proxy;
  scgi_temp_path ${root}/scgi;
  uwsgi_temp_path ${root}/uwsgi;
  server {
    listen 127.0.0.1:${port};
    location / {
${lines.join('\n')}
      fastcgi_pass unix:${socket};
    }
  }
}
`
}
