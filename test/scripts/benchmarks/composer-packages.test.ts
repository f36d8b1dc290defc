/** The Composer packages of the benchmarks are valid. */

import t from 'tap'
import { publishVersions } from '../../../scripts/benchmarks/composer-packages.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'

t.test('the requested number of versions is published completely', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { plain: token } = await gateway.addToken(gateway.ada, 'all')
  const gatehouse = { url: `http://127.0.0.1:${gateway.port}`, token }
  const versions = await publishVersions(gatehouse, 'bench/library', 6)
  t.strictSame(versions, ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'])
  const { json } = await gateway.ask({ path: '/api/packages/ada/composer/p2/bench/library.json' })
  const { packages } = json as { packages: Record<string, Record<string, unknown>[]> }
  const listed = packages['bench/library'] ?? []
  t.strictSame(listed.map(({ version }) => version).toSorted(), versions)
  for (const version of listed) {
    t.match(version, { name: 'bench/library', require: { php: '>=8.1' }, dist: { type: 'zip' } })
  }
  await t.rejects(publishVersions(gatehouse, 'bench/library', 1), /already exists/)
  await t.rejects(publishVersions({ ...gatehouse, token: 'x' }, 'bench/other', 1), /no version/)
})
