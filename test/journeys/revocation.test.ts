/**
 * Revocation of access takes effect at the next request, in all workers of two gateways with one
 * database, and on open connections.
 */

import { Agent } from 'node:http'
import t, { type Test } from 'tap'
import { onOneDatabase } from '../helpers/databases.js'
import { askApi, type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { askRaw, basic } from '../helpers/literal-http.js'
import { changeRepository, makeRepository } from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

/** Connections to the first gateway: its two workers get some in all but one of 2^22 runs. */
const CONNECTIONS = isFullSize ? 40 : 24

const REFS = '/ada/secret.git/info/refs?service=git-upload-pack'

/** A gateway with two workers, through which changes are made, and one with one worker. */
type Both = readonly [Gatehouse, Gatehouse]

interface Watch {
  /** Sends the request once on every connection; returns the distinct statuses. */
  statuses(path: string, headers: Readonly<Record<string, string>>): Promise<readonly number[]>
}

/** Opens connections to all workers of the gateways that stay open between requests. */
async function keptConnections(t: Test, gatehouses: readonly Gatehouse[]): Promise<Watch> {
  const connections = gatehouses.flatMap(({ port }, at) =>
    Array.from({ length: at === 0 ? CONNECTIONS : 1 }, () => ({
      port,
      agent: new Agent({ keepAlive: true, maxSockets: 1, timeout: 60_000 }),
    })),
  )
  t.teardown(() => {
    for (const { agent } of connections) agent.destroy()
  })
  const workers = new Set<string>()
  const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
    const answers = await Promise.all(
      connections.map(({ port, agent }) => askRaw(port, { path, headers, agent })),
    )
    for (const { headers } of answers) {
      workers.add(String(headers['x-request-id']).replace(/-.*/, ''))
    }
    return [...new Set(answers.map(({ status }) => status))]
  }
  await ask('/livez', {})
  t.equal(workers.size, 3, 'all workers have connections')
  return { statuses: ask }
}

// No worker caches credentials, and each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'revoked access is refused', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location })
  const second = await startGatehouse(t, {
    location,
    workers: 1,
    environment: { GATEHOUSE_DATA_DIR: gatehouse.dataDir },
  })
  const both = [gatehouse, second] as const
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'secret', { private: true })
  const copy = await newWorkingCopy(t)
  await copy.commit('file')
  await copy.git('push', '--quiet', ada.remote('ada/secret.git'), 'main')

  await tokens(t, both, ada)
  await accounts(t, both)
  await visibility(t, both, ada)
})

async function tokens(t: Test, gatehouses: Both, ada: Person): Promise<void> {
  const [gatehouse] = gatehouses
  const signedIn = basic('ada', ada.password).authorization
  const makeToken = async (name: string) => {
    const body = { name, scopes: ['all'] }
    const path = '/users/ada/tokens'
    const request = { method: 'POST', path, body, authorization: signedIn }
    const made = await askApi(gatehouse.port, request)
    return (made.body as { sha1: string }).sha1
  }
  const revokers: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    'over the API': (name) =>
      askApi(gatehouse.port, {
        method: 'DELETE',
        path: `/users/ada/tokens/${name}`,
        authorization: signedIn,
      }),
    'on the command line': (name) => gatehouse.run('token', 'revoke', 'ada', '--name', name),
  }
  for (const [how, revoke] of Object.entries(revokers)) {
    await t.test(`a token that is revoked ${how} is refused`, async (t) => {
      const token = await makeToken('short-lived')
      const watch = await keptConnections(t, gatehouses)
      const asBasic = basic('ada', token)
      const asHeader = { authorization: `token ${token}` }
      t.same(await watch.statuses(REFS, asBasic), [200])
      t.same(await watch.statuses('/api/v1/user', asHeader), [200])
      await revoke('short-lived')
      t.same(await watch.statuses(REFS, asBasic), [401])
      t.same(await watch.statuses('/api/v1/user', asHeader), [401])
      const copy = await newWorkingCopy(t)
      await copy.commit('late')
      const address = `http://ada:${token}@127.0.0.1:${gatehouse.port}/ada/secret.git`
      const { exitCode, errorText } = await copy.try(['push', address, 'main:refs/heads/late'])
      t.not(exitCode, 0)
      t.match(errorText, /Authentication failed/)
    })
  }
}

async function accounts(t: Test, gatehouses: Both): Promise<void> {
  const [gatehouse] = gatehouses
  await t.test('the token of a deleted user is refused immediately', async (t) => {
    const eve = await gatehouse.addUser('eve')
    const watch = await keptConnections(t, gatehouses)
    const headers = { authorization: `token ${eve.token}` }
    t.same(await watch.statuses('/api/v1/user', headers), [200])
    t.equal((await gatehouse.run('user', 'delete', 'eve')).exitCode, 0)
    t.same(await watch.statuses('/api/v1/user', headers), [401])
  })
}

async function visibility(t: Test, gatehouses: Both, ada: Person): Promise<void> {
  await t.test('a repository that becomes private is hidden from others immediately', async (t) => {
    const watch = await keptConnections(t, gatehouses)
    await changeRepository(ada, 'ada/secret', { private: false })
    t.same(await watch.statuses(REFS, {}), [200])
    t.same(await watch.statuses('/api/v1/repos/ada/secret', {}), [200])
    await changeRepository(ada, 'ada/secret', { private: true })
    t.same(await watch.statuses(REFS, {}), [401])
    t.same(await watch.statuses('/api/v1/repos/ada/secret', {}), [404])
  })

  await t.test('a deleted repository is not found immediately', async (t) => {
    const watch = await keptConnections(t, gatehouses)
    const headers = basic('ada', ada.token)
    t.same(await watch.statuses(REFS, headers), [200])
    t.equal((await ada.api('DELETE', '/repos/ada/secret')).status, 204)
    t.same(await watch.statuses(REFS, headers), [404])
  })
}
