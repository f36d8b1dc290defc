/** Pointers of Git LFS: only files in the form of the specification are pointers. */

import t from 'tap'
import { parseLfsPointer } from '../../../../gateway/actions/code/lfs-pointer.js'

const oid = 'a1'.repeat(32)
const first = 'version https://git-lfs.github.com/spec/v1\n'

t.test('a pointer names the digest and the size of its object', async (t) => {
  const wanted = { oid, bytes: 12 }
  t.strictSame(parseLfsPointer(`${first}oid sha256:${oid}\nsize 12\n`), wanted)
  const extended = `${first}ext-0-x sha256:${oid}\noid sha256:${oid}\nsize 12\n`
  t.strictSame(parseLfsPointer(extended), wanted)
})

t.test('other files are no pointers', async (t) => {
  for (const text of [
    '',
    first,
    `oid sha256:${oid}\nsize 12\n`,
    `${first}oid sha256:${oid}\n`,
    `${first}oid sha256:${oid}0\nsize 12\n`,
    `${first}oid sha256:${oid.toUpperCase()}\nsize 12\n`,
    `${first}oid sha256:${oid}\nsize -1\n`,
    `${first}oid md5:${oid}\nsize 12\n`,
    `x${first}oid sha256:${oid}\nsize 12\n`,
    `${first}oid sha256:${oid}\nsize 12\n${'x'.repeat(1_024)}`,
  ]) {
    t.equal(parseLfsPointer(text), undefined, text.slice(0, 60))
  }
})
