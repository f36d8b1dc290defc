/** The database server goes away while requests come: 503 for as long, and then as before. */

import { t } from 'tap'
import { freshLocation, sharedMariadb } from '../helpers/databases.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

t.test('MariaDB is killed and comes back', async (t) => {
  const gatehouse = await startGatehouse(t, { location: await freshLocation(t, 'mysql') })
  const mariadb = await sharedMariadb()
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  const cwd = await temporaryFolder(t)
  const listRemote = () => tryGit(['ls-remote', ada.remote('ada/library.git')], { cwd })
  t.equal((await listRemote()).exitCode, 0)

  await mariadb.stop('SIGKILL')
  for (const path of ['/repos/ada/library', '/user', '/repos/ada/nothing', '/users/ada']) {
    const { status, headers, body } = await ada.api('GET', path)
    t.equal(status, 503, path)
    t.match(headers.get('retry-after'), /^\d+$/)
    t.match(Object.keys(body as object), ['message', 'url'])
  }
  t.equal((await ada.api('POST', '/user/repos', { name: 'another' })).status, 503)
  const refused = await listRemote()
  t.not(refused.exitCode, 0)
  t.match(refused.errorText, '503')
  t.equal((await fetch(`http://127.0.0.1:${gatehouse.port}/readyz`)).status, 503)
  t.equal((await fetch(`http://127.0.0.1:${gatehouse.port}/livez`)).status, 200)

  await mariadb.start()
  const { status } = await until(
    () => ada.api('GET', '/repos/ada/library'),
    (answer) => answer.status === 200,
    20_000,
  )
  t.equal(status, 200, 'it comes back by itself')
  t.equal((await listRemote()).exitCode, 0)
  t.equal((await ada.api('POST', '/user/repos', { name: 'another' })).status, 201)
  t.notMatch(gatehouse.log(), '"status":500')
})
