/** Settings of the user over the API. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

await onOneDatabase(t, 'settings are stored, and only given fields change', async (t, location) => {
  const { as, ask, addToken, ada } = await startGatewayWithUsers(t, { location })
  const read = async (name: 'ada' | 'bob' = 'ada') => (await as(name, 'GET', '/user/settings')).json
  const before = {
    full_name: '',
    website: '',
    description: '',
    location: '',
    language: '',
    theme: 'gitea-auto',
    diff_view_style: '',
    hide_email: false,
    hide_activity: false,
  }
  t.strictSame(await read(), before)
  const edit = (body: object) => as('ada', 'PATCH', '/user/settings', body)
  const first = { full_name: 'Ada L', language: 'de', theme: 'dark', hide_activity: true }
  const changed = await edit(first)
  t.strictSame([changed.status, changed.json], [200, { ...before, ...first }])
  const second = { location: 'London', diff_view_style: 'split' }
  await edit(second)
  t.strictSame(await read(), { ...before, ...first, ...second })
  t.strictSame((await edit({})).json, { ...before, ...first, ...second })
  t.strictSame(await read('bob'), before)
  t.match((await as('ada', 'GET', '/user')).json, { full_name: 'Ada L', location: 'London' })
  t.equal((await edit({ hide_email: 'yes' })).status, 422)
  t.equal((await edit({ theme: 'x'.repeat(256) })).status, 422)
  const { plain } = await addToken(ada, 'public-only', 'all')
  const limited = { path: '/api/v1/user/settings', authorization: withToken(plain) }
  t.equal((await ask({ ...limited, method: 'PATCH', body: {} })).status, 403)
})
