/** Two gateways on one port are restarted in turn, and no client sees a failure. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { formatMessage, HELPER_VERSION, takeMessage } from '../../gateway/ssh/message.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { askRaw } from '../helpers/literal-http.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const RESTARTS = isFullSize ? 50 : 2
const ENDS_WITHIN_MS = 60_000
const UPLOAD_BYTES = 2_000_000
const PAUSE_MS = isFullSize ? 20 : 100

/** Replies of the kernel for connections that a closing listener has not accepted. */
const RESET = /Connection reset by peer|ECONNRESET|unexpected disconnect/

const drained = { GATEHOUSE_HTTP_DRAIN: '2s' }
const fixture = await startSshGatehouse(t, { workers: 1, environment: drained })
const { gatehouse: first, account } = fixture
const second = await startGatehouse(t, {
  account,
  workers: 1,
  location: { kind: 'sqlite', file: join(first.dataDir, 'gatehouse.db') },
  environment: {
    ...drained,
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${first.port}`,
    GATEHOUSE_HTTP_BASE_URL: first.url,
    GATEHOUSE_DATA_DIR: first.dataDir,
  },
})
const ada = await fixture.addPerson('ada')

t.test('a busy worker answers SSH connections that it had not accepted', async (t) => {
  const [worker = -1] = await workersOf(first.pid)
  process.kill(worker, 'SIGSTOP')
  const answers = Array.from({ length: 3 }, () => askForKey(first.dataDir))
  process.kill(first.pid, 'SIGTERM')
  const isHandedOver = () => first.log().includes('another gateway has the socket for SSH now')
  t.ok(await until(async () => isHandedOver(), Boolean, ENDS_WITHIN_MS))
  // Time in which the supervisor must not stop the worker.
  await sleep(200)
  process.kill(worker, 'SIGCONT')
  t.strictSame(await Promise.all(answers), Array(3).fill('unknown'))
  await first.start()
})

/** Asks the gateway that has the common path for a key, as sshd does; returns its answer. */
async function askForKey(dataDir: string): Promise<string> {
  const socket = connect(join(dataDir, 'run', 'ssh.sock'))
  socket.write(formatMessage([HELPER_VERSION, 'keys', 'ssh-ed25519', 'AAAA']))
  return takeMessage(await buffer(socket))?.message.toString() ?? 'nothing'
}

/** Ends a gateway as an administrator does, and starts it again. */
async function restart(gateway: Gatehouse): Promise<void> {
  const { pid } = gateway
  process.kill(pid, 'SIGTERM')
  const hasEnded = async () => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  }
  if (!(await until(hasEnded, Boolean, ENDS_WITHIN_MS))) throw new Error(`${pid} does not end`)
  await gateway.start()
}

interface Work {
  readonly name: string
  /** Throws an Error with the client's message if the work for this number fails. */
  readonly once: (number: number) => Promise<void>
}

t.test('no clone, push, upload or request fails while gateways are restarted', async (t) => {
  const folder = await temporaryFolder(t)
  for (const name of ['https', 'ssh']) await makeRepository(ada, name)
  const [https, ssh] = [ada.remote('ada/https.git'), fixture.remote('ada/ssh')]
  const copy = await newWorkingCopy(t)
  await copy.commit('first')
  await copy.git('push', '--quiet', https, 'main')
  const git = async (...args: readonly string[]) => {
    const { exitCode, errorText } = await tryGit(args, {
      cwd: copy.path,
      environment: ada.environment,
    })
    if (exitCode !== 0) throw new Error(errorText)
  }
  const headers = { authorization: `token ${ada.token}` }
  const uploads = new Map<number, string>()
  const works: readonly Work[] = [
    {
      name: 'push over HTTPS',
      once: (number) => git('push', '--quiet', https, `main:refs/heads/branch-${number}`),
    },
    {
      name: 'push over SSH',
      once: (number) => git('push', '--quiet', ssh, `main:refs/heads/branch-${number}`),
    },
    {
      name: 'clone',
      once: (number) => git('clone', '--quiet', '--bare', https, join(folder, `${number}`)),
    },
    {
      name: 'ls-remote over SSH',
      once: (number) => git('ls-remote', ssh, `refs/heads/${number}`),
    },
    {
      name: 'upload',
      async once(number) {
        const content = randomBytes(UPLOAD_BYTES)
        const { status, body } = await askRaw(first.port, {
          method: 'PUT',
          path: `/api/packages/ada/generic/tool/${number}/file`,
          headers,
          body: content,
        })
        if (status !== 201) throw new Error(`${status} ${body}`)
        uploads.set(number, content.toString('base64'))
      },
    },
    {
      name: 'read over the API',
      async once() {
        const { status, body } = await askRaw(first.port, {
          path: '/api/v1/repos/ada/https',
          headers,
        })
        if (status !== 200) throw new Error(`${status} ${body}`)
      },
    },
  ]
  const failures: string[] = []
  const done = new Map<string, number>()
  let isOver = false
  const repeat = async ({ name, once }: Work) => {
    for (let number = 1; !isOver; number += 1) {
      await once(number).catch((error: Error) =>
        failures.push(`${name} ${number}: ${error.message}`),
      )
      done.set(name, number)
      await sleep(PAUSE_MS)
    }
  }
  const restartAll = async () => {
    for (let at = 0; at < RESTARTS; at += 1) await restart(at % 2 === 0 ? first : second)
    isOver = true
  }
  await Promise.all([restartAll(), ...works.map(repeat)])
  t.comment([...done].map(([name, count]) => `${count} × ${name}`).join(', '))
  const resets = failures.filter((failure) => RESET.test(failure))
  t.strictSame(
    failures.filter((failure) => !RESET.test(failure)),
    [],
  )
  t.ok(resets.length <= (await resetsMax()), resets.join('\n'))

  for (const repository of ['https', 'ssh']) {
    const { output } = await tryGit(['ls-remote', ada.remote(`ada/${repository}.git`)], {
      cwd: folder,
    })
    const pushed = done.get(repository === 'ssh' ? 'push over SSH' : 'push over HTTPS') ?? 0
    const count = output.split('\n').filter((line) => line.includes('/branch-')).length
    t.ok(count >= pushed - resets.length, `${count} of ${pushed} branches of ${repository}`)
  }
  for (const [number, content] of uploads) {
    const path = `/api/packages/ada/generic/tool/${number}/file`
    const { body } = await askRaw(first.port, { path, headers })
    if (body.toString('base64') !== content) t.fail(`upload ${number} differs`)
  }
  t.same(await faultsOnDisk(first), [], 'git fsck finds nothing')
})

/** Returns how many connections the kernel may reset: see docs/operate.md. */
async function resetsMax(): Promise<number> {
  const setting = await readFile('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').catch(() => '0')
  return setting.trim() === '1' ? 0 : RESTARTS
}
