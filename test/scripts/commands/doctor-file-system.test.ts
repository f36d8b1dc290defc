/** A data folder on which changes by other machines are seen late is a fault. */

import t from 'tap'
import { checkFileSystem } from '../../../scripts/commands/doctor-file-system.js'
import { deviceNameOf, replaceMounts } from '../../helpers/mounts.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('nfs without noac is a fault with its remedy', async (t) => {
  const dir = await temporaryFolder(t)
  const device = deviceNameOf(dir)
  t.teardown(replaceMounts(`36 35 ${device} / /srv rw - nfs4 host:/srv rw,hard`))
  await t.rejects(checkFileSystem({ data: { dir } }), {
    message: /is on nfs4, whose cached attributes .* mount it with noac,lookupcache=none/,
  })
})
