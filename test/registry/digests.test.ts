/** Digests do not depend on the chunks of the data. */

import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { startDigests } from '../../registry/digests.js'

const digestsOf = (bytes: Buffer) => {
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex')
  return {
    md5: digest('md5'),
    sha1: digest('sha1'),
    sha256: digest('sha256'),
    sha512: digest('sha512'),
  }
}

t.test('a copied digest state is independent of the original', async (t) => {
  const [start, one, other] = [randomBytes(1_000), randomBytes(70_000), randomBytes(3)]
  const digests = startDigests()
  digests.update(start)
  const copy = digests.copy()
  digests.update(one)
  copy.update(other)
  t.strictSame(digests.finish(), digestsOf(Buffer.concat([start, one])))
  t.strictSame(copy.finish(), digestsOf(Buffer.concat([start, other])))
  t.strictSame(startDigests().finish(), digestsOf(Buffer.alloc(0)))
})
