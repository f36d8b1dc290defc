/** Threads of a server whose own priority is low. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import t from 'tap'

const DIGESTS = new URL('../../../gateway/pool/digests.js', import.meta.url)

t.test('a server with a lower priority than its threads computes digests', async (t) => {
  const program = `
    import { createDigestThread } from '${DIGESTS}'
    const thread = createDigestThread()
    console.log((await thread.start().finish()).sha256)
    await thread.stop()`
  // The tests may run as root, which may raise priorities; the child may not.
  const start = ['setpriv', '--bounding-set', '-sys_nice', 'nice', '-n', '15', process.execPath]
  const words = process.getuid?.() === 0 ? start : start.slice(3)
  const [command = '', ...args] = [...words, '--input-type=module', '--eval', program]
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  t.equal(stdout.trim(), createHash('sha256').digest('hex'), stderr)
})
