/** Nginx server under measurement, with Debian's default settings. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TlsFiles } from '../../conf/settings.js'
import { WORKERS } from './gatehouse.js'
import { type CpuGroup, type RunningServer, startServer, USER_PATH } from './server.js'

export interface NginxOptions {
  /** Folder for its configuration, logs and temporary files. */
  readonly folder: string
  readonly port: number
  /** Directives of the location `/`. */
  readonly location: readonly string[]
  /** Directives beside the servers, and beside its location `/`. */
  readonly more?: { readonly http: string; readonly server: string }
  /** Certificate and key; without them it serves HTTP. */
  readonly tls?: TlsFiles | undefined
  readonly signal: AbortSignal
}

/** Starts nginx in a CPU group, with as many processes as the product. */
export async function startNginx(cpu: CpuGroup, options: NginxOptions): Promise<RunningServer> {
  const { folder, port, signal } = options
  await mkdir(folder, { recursive: true })
  const configFile = join(folder, 'nginx.conf')
  await writeFile(configFile, configOf(options))
  return startServer(
    cpu,
    {
      program: ['nginx', '-p', folder, '-c', configFile, '-e', join(folder, 'error.log')],
      environment: { PATH: USER_PATH },
      logFile: join(folder, 'nginx.log'),
      signal,
    },
    { port },
  )
}

/** Returns the number of requests that nginx has answered, which its access log lists. */
export async function countRequests(folder: string): Promise<number> {
  const log = await readFile(join(folder, ACCESS_LOG), 'utf8')
  return log.split('\n').length - 1
}

const ACCESS_LOG = 'access.log'

function configOf({ folder, port, location, more, tls }: NginxOptions): string {
  return `daemon off;
worker_processes ${WORKERS};
pid ${folder}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  sendfile on;
  tcp_nopush on;
  access_log ${folder}/${ACCESS_LOG};
  client_max_body_size 0;
  client_body_temp_path ${folder}/body;
  fastcgi_temp_path ${folder}/fastcgi;
  proxy_temp_path ${folder}/proxy;
  scgi_temp_path ${folder}/scgi;
  uwsgi_temp_path ${folder}/uwsgi;
  server {
    listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'};
    ${tls === undefined ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`}
    location / {
${location.map((line) => `      ${line};`).join('\n')}
    }
    ${more?.server ?? ''}
  }
  ${more?.http ?? ''}
}
`
}
