/** A MySQL server of the same machine is reached over its socket. */

import { userInfo } from 'node:os'
import { type Test, t } from 'tap'
import { findUser } from '../../../sql/accounts/users.js'
import { closeDatabase, openDatabase, ping } from '../../../sql/database/database.js'
import { freshLocation, openForTest, sharedMariadb } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

/** Returns the URL of a new schema, over the server's socket. */
async function newSchema(t: Test) {
  const location = await freshLocation(t, 'mysql')
  if (location.kind !== 'mysql') throw new Error('not MySQL')
  const [row] = await (await sharedMariadb()).run('select @@socket as path')
  const url = new URL(location.url)
  url.host = 'localhost'
  url.searchParams.set('socket', String(row?.path))
  return { location, url, name: url.pathname.slice(1) }
}

await t.test('all connections are over the socket, and see the changes of others', async (t) => {
  const { location, url, name } = await newSchema(t)
  const db = await openForTest(t, { kind: 'mysql', url })
  t.equal(await findUser(db, 'ada'), undefined)
  const { run } = await sharedMariadb()
  const rows = await run(`select host from information_schema.processlist where db = '${name}'`)
  t.ok(rows.length >= 2, 'a connection for queries, and one for the counter of changes')
  for (const { host } of rows) t.equal(host, 'localhost')
  const other = await openForTest(t, location)
  await aUser(other, 'ada')
  t.match(await findUser(db, 'ada'), { name: 'ada' })
})

await t.test('the account of the operating system needs no password', async (t) => {
  const { url, name } = await newSchema(t)
  const { username } = userInfo()
  const { run } = await sharedMariadb()
  const account = `'${username}'@localhost`
  await run(
    `create or replace user ${account} identified via unix_socket`,
    `grant all on ${name}.* to ${account}`,
  )
  url.username = username
  url.password = ''
  await ping(await openForTest(t, { kind: 'mysql', url }))
})

await t.test('the error for a missing socket has its path', async (t) => {
  const { url, name } = await newSchema(t)
  url.searchParams.set('socket', '/nowhere/socket')
  const location = { kind: 'mysql', url } as const
  const opened = openDatabase({ location, connectionsMax: 2 }).then(closeDatabase)
  await t.rejects(opened, {
    message: new RegExp(
      `^The database ${name} at /nowhere/socket cannot be used: .*ENOENT.*; start `,
    ),
  })
})
