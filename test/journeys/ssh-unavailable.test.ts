/** SSH clients while the gateway is stopped, killed, restarted, or started twice. */

import { once } from 'node:events'
import { chmod, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { startCommand } from '../helpers/command-line.js'
import { freePort } from '../helpers/free-port.js'
import { git, tryGit } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'

const BACK_WITHIN_MS = 120_000

t.test('SSH clients get an error while the gateway is unavailable', async (t) => {
  const fixture = await startSshGatehouse(t)
  const { gatehouse } = fixture
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work', { auto_init: true })
  const fetch = () => git(['ls-remote', fixture.remote('ada/work')], { cwd: '/', ...ada })
  await fetch()

  await t.test(
    'a killed gateway is replaced by the next start without a restart of sshd',
    async (t) => {
      await gatehouse.stop('SIGKILL')
      t.ok(await stat(join(gatehouse.dataDir, 'run', 'ssh.sock')))
      t.match((await ada.call()).errorText, 'Gatehouse does not answer')
      await gatehouse.start()
      await fetch()
      const unknown = await fixture.newCaller('unknown')
      t.match((await unknown.call()).errorText, /Permission denied/)
    },
  )

  await t.test('clients are served after a worker is killed', async (t) => {
    // If a worker dies before all of them serve, the start fails; so all must serve first.
    await until(
      async () => gatehouse.log().split('"msg":"serving"').length - 1,
      (starts) => starts === 2,
      BACK_WITHIN_MS,
    )
    const [first = -1] = await workersOf(gatehouse.pid)
    process.kill(first, 'SIGKILL')
    const answer = await until(
      () => ada.call(),
      ({ exitCode }) => exitCode === 0,
      BACK_WITHIN_MS,
    )
    t.match(answer.errorText, /Hello ada!/)
  })

  await t.test('a second gateway on the same data does not take over the socket', async (t) => {
    const environment = {
      GATEHOUSE_DATA_DIR: gatehouse.dataDir,
      GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${await freePort()}`,
      GATEHOUSE_HTTP_WORKERS: '1',
    }
    const second = await startCommand(t, ['serve'], { environment })
    t.ok(await second.says(/"msg":"serving"/))
    t.ok(await second.says(/another gateway has the socket for SSH/))
    await second.end('SIGTERM')
    t.match(
      (await ada.call()).errorText,
      /Hello ada!/,
      'the socket remains after the second gateway has ended',
    )
  })

  await t.test(
    'a helper of another version is refused with a hint to install it again',
    async (t) => {
      const socket = connect(join(gatehouse.dataDir, 'run', 'ssh.sock'))
      const body = Buffer.from(['0', 'serve', ada.fingerprint, '', '', ''].join('\0'))
      const head = Buffer.alloc(4)
      head.writeUInt32BE(body.length)
      socket.write(Buffer.concat([head, body]))
      const [answer] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      t.match(answer.toString(), /say\x001\x00The SSH helper of Gatehouse has another version/)
    },
  )

  await t.test('all clients get the reason while the gateway is stopped', async (t) => {
    await gatehouse.stop()
    const { exitCode, output, errorText } = await ada.call("git-upload-pack 'ada/work'")
    t.equal(exitCode, 1)
    t.equal(output, '')
    t.equal(errorText, 'Gatehouse does not answer at this moment. Try again in a minute.\n')
    const words = ['ls-remote', fixture.remote('ada/work')]
    t.match((await tryGit(words, { cwd: '/', ...ada })).errorText, 'Gatehouse does not answer')
    const unknown = await fixture.newCaller('unknown-again')
    t.match((await unknown.call()).errorText, 'Gatehouse does not answer', 'an unknown key')
  })

  await t.test("the start fails if other accounts can open the socket's folder", async (t) => {
    await chmod(join(gatehouse.dataDir, 'run'), 0o755)
    const environment = {
      GATEHOUSE_DATA_DIR: gatehouse.dataDir,
      GATEHOUSE_HTTP_LISTEN: '127.0.0.1:0',
    }
    const start = await startCommand(t, ['serve'], { environment })
    const isRefused = await start.says(
      /run holds the socket for SSH and must be private: run chmod 0700 on it/,
    )
    t.ok(isRefused, start.errorText())
    if (isRefused) t.equal((await start.end()).exitCode, 1)
  })
})
