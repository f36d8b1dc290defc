/** nginx with the example configuration of conf/: clones, pushes, slow clients, a base path. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { freePort } from '../helpers/free-port.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { type ReverseProxy, startReverseProxy } from '../helpers/reverse-proxy.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import {
  cloneInto,
  incompressible,
  newWorkingCopy,
  type WorkingCopy,
  writeHistory,
} from '../helpers/working-copy.js'

const LOG_MS = 10_000

const LARGE_MB = isFullSize ? 20 : 6
/** Size of a slow push that takes longer than the idle timeout of connections. */
const SLOW_BYTES = isFullSize ? 160_000 : 104_000
const SLOW_BYTES_A_SECOND = 8_000

interface Site {
  /** Port of nginx, which base URLs have. */
  readonly port: number
  readonly gatehouse: Gatehouse
  readonly ada: Person
  /** Base URL with ada's credentials. */
  readonly signedIn: string
  /** Base URL without credentials. */
  readonly anonymous: string
}

interface Fixture extends Site {
  readonly nginx: ReverseProxy
}

/** Starts a server whose base URL is that of an nginx, which may serve it below a path. */
async function startSite(t: Test, basePath = ''): Promise<Site> {
  const port = await freePort()
  const anonymous = `https://127.0.0.1:${port}${basePath}`
  const gatehouse = await startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_HTTP_BASE_URL: anonymous },
  })
  const ada = await gatehouse.addUser('ada')
  const signedIn = anonymous.replace('//', `//ada:${ada.token}@`)
  return { port, gatehouse, ada, signedIn, anonymous }
}

/** Starts the nginx of a site for the test. */
async function startNginxOf(
  t: Test,
  site: Site,
  edit = (example: string) => example,
): Promise<Fixture> {
  const plainPort = await freePort()
  const gatewayPort = site.gatehouse.port
  const nginx = await startReverseProxy(t, 'nginx', {
    port: site.port,
    plainPort,
    gatewayPort,
    edit,
  })
  return { ...site, nginx }
}

/** Returns the options with which git trusts nginx's certificate. */
function trusting({ nginx }: Fixture): readonly string[] {
  return [`--config=http.sslCAInfo=${nginx.certificate}`]
}

async function sourceFor(t: Test, fixture: Fixture, repository: string): Promise<WorkingCopy> {
  const source = await newWorkingCopy(t)
  await writeHistory(source, { commits: 20, branches: 10 })
  await source.git('config', 'http.sslCAInfo', fixture.nginx.certificate)
  await source.git('remote', 'add', 'origin', `${fixture.signedIn}/${repository}.git`)
  return source
}

async function curl(fixture: Fixture, ...args: readonly string[]): Promise<string> {
  const { output } = await runToEnd(
    'curl',
    ['--silent', '--show-error', '--cacert', fixture.nginx.certificate, ...args],
    {
      environment: { PATH: process.env['PATH'] ?? '' },
      timeoutMs: 120_000,
      outputBytesMax: 1 << 20,
    },
  )
  return output.toString()
}

/** Writes the body of a push of one new branch to a file; returns its path. */
async function pushFile(t: Test, source: WorkingCopy, branch: string): Promise<string> {
  const commit = await source.git('rev-parse', 'HEAD')
  const command = `${'0'.repeat(40)} ${commit} refs/heads/${branch}\0 report-status`
  const length = (command.length + 4).toString(16).padStart(4, '0')
  const { output } = await runToEnd('git', ['pack-objects', '--stdout', '--revs', '--quiet'], {
    cwd: source.path,
    environment: { PATH: process.env['PATH'] ?? '', HOME: '/dev/null' },
    input: `${commit}\n`,
    timeoutMs: 30_000,
    outputBytesMax: 1 << 20,
  })
  const file = join(await temporaryFolder(t), 'push')
  await writeFile(file, Buffer.concat([Buffer.from(`${length}${command}0000`), output]))
  return file
}

t.test('requests through nginx succeed', async (t) => {
  const fixture = await startNginxOf(t, await startSite(t))
  const { gatehouse, ada, anonymous, signedIn } = fixture
  await makeRepository(ada, 'work')
  await makeRepository(ada, 'slow')
  const slowSource = await newWorkingCopy(t)
  await slowSource.commit('file', incompressible(SLOW_BYTES))
  const slowPush = pushSlowly(t, fixture, slowSource)
  const source = await sourceFor(t, fixture, 'ada/work')

  await t.test('a push and a clone succeed', async (t) => {
    await source.git('push', '--quiet', '--mirror', 'origin')
    for (const version of ['0', '2']) {
      const options = [...trusting(fixture), `--config=protocol.version=${version}`, '--mirror']
      const copy = await cloneInto(t, `${anonymous}/ada/work.git`, options)
      t.equal(await copy.git('for-each-ref'), await source.git('for-each-ref', 'refs/heads'))
    }
  })

  await t.test(`a chunked push of ${LARGE_MB} MB and its clone succeed`, async (t) => {
    const commit = await source.commit('large', incompressible(LARGE_MB * 1_000_000))
    const { exitCode, errorText } = await source.try(['push', 'origin', 'main'], {
      environment: { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' },
    })
    t.equal(exitCode, 0)
    t.ok(/=> Send header: Transfer-Encoding: chunked/i.test(errorText))
    const copy = await cloneInto(t, `${anonymous}/ada/work.git`, trusting(fixture))
    t.equal(await copy.git('rev-parse', 'HEAD'), commit)
    t.same(await faultsOnDisk(gatehouse), [])
  })

  await t.test(
    'a private repository is answered with 401 without credentials, else 200',
    async (t) => {
      await makeRepository(ada, 'secret', { private: true })
      const path = 'ada/secret.git/info/refs?service=git-upload-pack'
      const code = ['--output', '/dev/null', '--write-out', '%{http_code}']
      t.equal(await curl(fixture, ...code, `${anonymous}/${path}`), '401')
      t.equal(await curl(fixture, ...code, `${signedIn}/${path}`), '200')
    },
  )

  await t.test("the log has the client's address", async (t) => {
    const path = '/api/v1/repos/ada/no-such-repository'
    await curl(fixture, '--interface', '127.0.0.2', `${anonymous}${path}`)
    // The log line of another process may arrive later than the reply.
    const findLine = async () =>
      gatehouse
        .log()
        .split('\n')
        .find((line) => line.includes(path))
    const line = await until(findLine, (line) => line !== undefined, LOG_MS)
    t.match(JSON.parse(line ?? '{}'), { address: '127.0.0.2', status: 404 })
  })

  await t.test('the URLs of the API start with the public base URL', async (t) => {
    const text = await curl(fixture, `${anonymous}/api/v1/repos/ada/work`)
    t.match(JSON.parse(text), {
      clone_url: `${anonymous}/ada/work.git`,
      html_url: `${anonymous}/ada/work`,
    })
  })

  await t.test(`a push of ${SLOW_BYTES / 1_000} KB at 8 KB/s succeeds`, async (t) => {
    t.match(await slowPush, /ok refs\/heads\/slow/)
    const listed = await slowSource.git('ls-remote', ada.remote('ada/slow.git'), 'slow')
    t.match(listed, await slowSource.git('rev-parse', 'HEAD'))
    t.same(await faultsOnDisk(gatehouse), [])
  })
})

/** Pushes with a limited speed for 13 to 20 seconds, during which the other tests run. */
async function pushSlowly(t: Test, fixture: Fixture, source: WorkingCopy): Promise<string> {
  const file = await pushFile(t, source, 'slow')
  return curl(
    fixture,
    '--limit-rate',
    String(SLOW_BYTES_A_SECOND),
    '--data-binary',
    `@${file}`,
    '--header',
    'Content-Type: application/x-git-receive-pack-request',
    `${fixture.signedIn}/ada/slow.git/git-receive-pack`,
  )
}

/** Directives with which nginx keeps or strips the base path; the server accepts both. */
const SUB_PATHS: Readonly<Record<string, string>> = {
  keeps: 'proxy_pass http://gatehouse;',
  strips: 'proxy_pass http://gatehouse/;',
}

t.test('requests through nginx succeed below a base path', async (t) => {
  const site = await startSite(t, '/git')
  for (const [how, proxyPass] of Object.entries(SUB_PATHS)) {
    await t.test(`clones and API URLs work below a base path that nginx ${how}`, async (t) => {
      const fixture = await startNginxOf(t, site, (example) =>
        example
          .replace('location / {', 'location /git/ {')
          .replace('proxy_pass http://gatehouse;', proxyPass),
      )
      const { ada, anonymous } = fixture
      await makeRepository(ada, how)
      const source = await sourceFor(t, fixture, `ada/${how}`)
      await source.git('push', '--quiet', '--mirror', 'origin')

      await t.test('a clone succeeds, also with a path in another letter case', async (t) => {
        for (const path of [`ada/${how}.git`, `ADA/${how.toUpperCase()}`]) {
          const copy = await cloneInto(t, `${anonymous}/${path}`, trusting(fixture))
          t.equal(await copy.git('rev-parse', 'HEAD'), await source.git('rev-parse', 'main'))
        }
      })

      await t.test('the URLs of the API have the base path', async (t) => {
        const url = `${anonymous}/api/v1/repos/ada/${how}`
        t.match(JSON.parse(await curl(fixture, url)), {
          clone_url: `${anonymous}/ada/${how}.git`,
          html_url: `${anonymous}/ada/${how}`,
          url,
        })
        const authorization = `Authorization: token ${ada.token}`
        await makeRepository(ada, `another-${how}`)
        const list = `${anonymous}/api/v1/user/repos?limit=1`
        const head = await curl(fixture, '--head', '--header', authorization, list)
        t.match(head, `<${anonymous}/api/v1/user/repos?limit=1&page=2>`)
        const missing = await curl(fixture, `${anonymous}/api/v1/repos/ada/nothing`)
        t.match(JSON.parse(missing), { url: `${anonymous}/api/swagger` })
        const swagger = await curl(fixture, `${anonymous}/swagger.v1.json`)
        t.match(JSON.parse(swagger), { basePath: '/git/api/v1' })
      })
    })
  }
})
