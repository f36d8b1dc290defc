/** Downloads of a package by day over the API. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aPublication } from '../../../helpers/package-rows.js'

t.test('the downloads of the last days are listed for readers of the owner', async (t) => {
  const { ada, as, db } = await startGatewayWithUsers(t)
  await aPublication(db, { ownerId: ada.id })
  const today = Math.floor(Date.now() / 86_400_000)
  const { id } = await db('package_versions').first('id')
  for (const day of [today - 6, today - 7, today]) {
    await db('package_downloads').insert({ version_id: id, day, downloads: 4 })
  }
  const path = '/packages/ada/generic/tool/-/downloads'
  const dates = async (query: string) => {
    const { json } = await as('bob', 'GET', `${path}${query}`)
    return (json as { date: string; downloads: number }[]).map(({ date }) => date)
  }
  const date = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
  t.strictSame(await dates('?days=7'), [date(today - 6), date(today)])
  t.equal((await dates('')).length, 3)
  t.equal((await dates('?days=1000')).length, 3)
  t.equal((await as('bob', 'GET', '/packages/ada/go/tool/-/downloads')).status, 404)
  t.equal((await as('bob', 'GET', '/packages/ada/none/tool/-/downloads')).status, 404)
})
