/** The hourly job deletes signing keys whose overlap has ended, and logs it. */

import t from 'tap'
import { RETIRE_SIGNING_KEYS } from '../../../gateway/jobs/retire-signing-keys.js'
import { openContext } from '../../helpers/gateway.js'
import { namespaceOf } from '../../helpers/package-rows.js'

const { signal } = new AbortController()

t.test('an expired signing key is deleted with a line in the log', async (t) => {
  const { context, fixture } = await openContext(t)
  const { signingKeys, db } = context.registry
  const namespace = namespaceOf((await fixture.addUser('ada')).id, 'debian')
  const make = async () => ({ privateKey: 'a private key', publicKey: 'a public key' })
  await signingKeys.of(namespace, make)
  await signingKeys.rotate(namespace, make, { signsUntilMs: Date.now() + 3_600_000 })
  const run = () => RETIRE_SIGNING_KEYS.run(context, 'all', signal)
  await run()
  t.equal((await signingKeys.of(namespace, make)).length, 2)
  t.strictSame(fixture.lines, [], 'nothing to do and nothing logged')
  await db('former_signing_keys').update({ signs_until: Date.now() })
  await run()
  t.equal((await signingKeys.of(namespace, make)).length, 1)
  t.match(fixture.lines, [{ msg: 'signing keys were retired', retired: 1 }])
})
