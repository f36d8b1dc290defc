/** A data folder or a pack cache on the wrong kind of file system is a fault. */

import t from 'tap'
import { checkFileSystem } from '../../../gateway/doctor/file-system.js'
import { deviceNameOf, replaceMounts } from '../../helpers/mounts.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** A line of the table of mounts, for the file system that has the folder. */
const mountOf = (folder: string, options: string) =>
  `36 35 ${deviceNameOf(folder)} / /srv rw - nfs4 host:/srv rw,${options}`

// Each test has folders of another file system, because a device is looked up once.
t.test('nfs without noac is a fault with its remedy', async (t) => {
  const dir = '/sys'
  t.teardown(replaceMounts(mountOf(dir, 'hard')))
  await t.rejects(checkFileSystem({ data: { dir }, cache: { dir } }), {
    message: /\/sys is on nfs4, whose cached attributes .* mount it with noac,lookupcache=none/,
  })
})

t.test('a pack cache on a network file system is a fault, also before it exists', async (t) => {
  const data = { dir: await temporaryFolder(t) }
  t.teardown(replaceMounts(mountOf('/proc', 'noac')))
  await t.rejects(checkFileSystem({ data, cache: { dir: '/proc/absent/cache' } }), {
    message: /the pack cache in \/proc\/absent\/cache is on nfs4, .*: set cache\.dir to a folder/,
  })
})
