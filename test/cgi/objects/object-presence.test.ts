/** An object is found in the places where git finds it, loose or packed. */

import { join } from 'node:path'
import t from 'tap'
import { hasOwnObject } from '../../../cgi/objects/object-presence.js'
import { git } from '../../helpers/git-client.js'
import { newWorkingCopy, writeHistory } from '../../helpers/working-copy.js'

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(
    `${objectFormat}: existing objects are found, loose and packed, and missing ones are not`,
    async (t) => {
      const copy = await newWorkingCopy(t, objectFormat)
      await writeHistory(copy, { commits: 120 })
      const folder = join(copy.path, '.git')
      const oids = (
        await git(['rev-list', '--objects', '--all', '--no-object-names'], { cwd: folder })
      )
        .split('\n')
        .filter((oid) => oid !== '')
      t.ok(oids.length > 300)
      const absent = oids.map((oid) => `${oid.slice(0, -1)}${oid.endsWith('0') ? '1' : '0'}`)
      const missing = () => oids.filter((oid) => !hasOwnObject(folder, oid))
      t.strictSame(missing(), [])
      await copy.git('repack', '-adq')
      t.strictSame(missing(), [])
      await copy.commit('later')
      await copy.git('repack', '-dq')
      t.ok(
        hasOwnObject(folder, await copy.git('rev-parse', 'HEAD')),
        'found in one of several packs',
      )
      t.strictSame(
        absent.filter((oid) => hasOwnObject(folder, oid)),
        [],
      )
    },
  )
}
