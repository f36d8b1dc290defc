/** Clones, pushes and the API through Apache, Caddy and HAProxy with the examples of conf/. */

import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { freePort } from '../helpers/free-port.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  REVERSE_PROXIES,
  type ReverseProxyName,
  startReverseProxy,
} from '../helpers/reverse-proxy.js'
import { cloneInto, incompressible, newWorkingCopy } from '../helpers/working-copy.js'

/** Size of a pushed file: more than git sends in one request with a length. */
const LARGE_BYTES = 3_000_000

const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')

// journeys/nginx has more cases for nginx.
for (const name of REVERSE_PROXIES.filter((each) => each !== 'nginx')) {
  t.test(`git and the API work through ${name}`, (t) => conforms(t, name, { gatehouse, ada }))
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
}

async function conforms(t: Test, name: ReverseProxyName, { gatehouse, ada }: Scene): Promise<void> {
  const [port, plainPort] = [await freePort(), await freePort()]
  const gatewayPort = gatehouse.port
  const { certificate } = await startReverseProxy(t, name, { port, plainPort, gatewayPort })
  const trusting = ['-c', `http.sslCAInfo=${certificate}`]
  const curl = async (...args: readonly string[]) => {
    const all = ['--silent', '--show-error', '--cacert', certificate, ...args]
    const environment = { PATH: process.env['PATH'] ?? '' }
    const limits = { timeoutMs: 120_000, outputBytesMax: 1 << 20 }
    return (await runToEnd('curl', all, { environment, ...limits })).output.toString()
  }
  await makeRepository(ada, name)
  const remote = `https://ada:${ada.token}@127.0.0.1:${port}/ada/${name}.git`

  await t.test('a push in chunks arrives, and a clone returns it', async (t) => {
    const source = await newWorkingCopy(t)
    await source.commit('large.bin', incompressible(LARGE_BYTES))
    await source.git(...trusting, 'push', '--quiet', remote, 'main', 'main:feature/x')
    const clone = await cloneInto(t, remote, trusting)
    t.equal(await clone.git('rev-parse', 'HEAD'), await source.git('rev-parse', 'HEAD'))
  })

  await t.test('the API receives an encoded slash as it was sent', async (t) => {
    const path = `/api/v1/repos/ada/${name}/branches/feature%2Fx`
    const header = `Authorization: token ${ada.token}`
    const text = await curl('--header', header, `https://127.0.0.1:${port}${path}`)
    t.match(JSON.parse(text), { name: 'feature/x' })
  })

  await t.test("the log has the client's address, and not the one that it claims", async (t) => {
    const path = `/api/v1/repos/ada/missing-${name}`
    const claim = ['--header', 'X-Forwarded-For: 192.0.2.7']
    await curl('--interface', '127.0.0.2', ...claim, `https://127.0.0.1:${port}${path}`)
    const log = await gatehouse.logMatching(new RegExp(`"path":"${path}"`))
    const line = log.split('\n').find((each) => each.includes(path))
    t.match(JSON.parse(line ?? '{}'), { address: '127.0.0.2', status: 404 })
  })
}
