/** The OCI image, started by podman. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../helpers/free-port.js'
import { askApi } from '../helpers/gatehouse.js'
import { until } from '../helpers/server-processes.js'
import { testPodman } from '../helpers/test-podman.js'
import { cloneInto, newWorkingCopy } from '../helpers/working-copy.js'

const RELEASE = fileURLToPath(new URL('../../../dist/release', import.meta.url))
const STARTS_WITHIN_MS = 120_000
const PASSWORD = 'a long password'

t.test('a container serves a repository that outlives it, and stops without delay', async (t) => {
  const podman = await testPodman(t)
  const [archive = ''] = (await readdir(RELEASE)).filter((name) => name.endsWith('.oci.tar'))
  const loaded = await podman.run('load', '--quiet', '--input', join(RELEASE, archive))
  const image = /localhost\/gatehouse:\S+/.exec(loaded)?.[0] ?? ''
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const start = async (...command: readonly string[]) => {
    await podman.run(...command)
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    t.ok(await until(isReady, Boolean, STARTS_WITHIN_MS), 'the server is ready')
  }
  const inside = (...words: readonly string[]) => podman.run('exec', 'code', 'gatehouse', ...words)

  const variables = [
    `--env=GATEHOUSE_HTTP_LISTEN=127.0.0.1:${port}`,
    `--env=GATEHOUSE_HTTP_BASE_URL=${url}`,
  ]
  const volume = '--volume=code:/var/lib/gatehouse'
  await start('run', '--detach', '--name=code', '--network=host', volume, ...variables, image)
  t.match(await inside('--version'), /^gatehouse \d/)
  t.equal((await podman.run('exec', 'code', 'id', '--user', '--name')).trim(), 'git')
  await inside('user', 'create', 'ada', '--admin', '--password', PASSWORD)
  const token = (await inside('token', 'create', 'ada', '--name', 'x', '--scopes', 'all')).trim()
  const authorization = `token ${token}`
  const made = await askApi(port, {
    method: 'POST',
    path: '/user/repos',
    authorization,
    body: { name: 'library' },
  })
  t.equal(made.status, 201)
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('first')
  const remote = `http://ada:${token}@127.0.0.1:${port}/ada/library.git`
  await copy.git('push', '--quiet', remote, 'main')

  const stoppedAt = performance.now()
  await podman.run('stop', '--time=60', 'code')
  t.ok(performance.now() - stoppedAt < 30_000, 'SIGTERM reaches the server')
  await start('start', 'code')
  const cloned = await cloneInto(t, remote)
  t.equal(await cloned.git('rev-parse', 'HEAD'), commit, 'the volume has the data')
  await podman.run('stop', '--time=60', 'code')
})
