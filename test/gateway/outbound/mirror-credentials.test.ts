/** Credentials of a mirror are sealed for that mirror only. */

import t from 'tap'
import { sealCredentials, unsealCredentials } from '../../../gateway/outbound/mirror-credentials.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('sealed credentials are unsealed for their own repository only', async (t) => {
  const place = { dataDir: await temporaryFolder(t), storage: 'a'.repeat(32) }
  const sealed = await sealCredentials(place, 'Basic secret')
  t.notMatch(sealed, 'secret')
  t.equal(await unsealCredentials(place, sealed), 'Basic secret')
  await t.rejects(unsealCredentials({ ...place, storage: 'b'.repeat(32) }, sealed))
  await t.rejects(unsealCredentials({ ...place, dataDir: await temporaryFolder(t) }, sealed))
})

t.test('a source without credentials has nothing to seal', async (t) => {
  const place = { dataDir: await temporaryFolder(t), storage: 'a'.repeat(32) }
  t.equal(await sealCredentials(place, undefined), undefined)
  t.equal(await unsealCredentials(place, undefined), undefined)
})
