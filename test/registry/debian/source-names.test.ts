/** Names of source files have a package, a version and a known kind. */

import t from 'tap'
import { parseSourceFileName } from '../../../registry/debian/source-names.js'

t.test('files of source packages are recognized', async (t) => {
  const versions = {
    'hello_1.0-1.dsc': '1.0-1',
    'hello_1.0.orig.tar.gz': '1.0',
    'hello_1.0.orig.tar.xz.asc': '1.0',
    'hello_1.0.orig-docs.tar.bz2': '1.0',
    'hello_1.0~rc1+dfsg-1+b1.debian.tar.xz': '1.0~rc1+dfsg-1+b1',
    'hello_1.0-1.diff.gz': '1.0-1',
    'hello_1.0.tar.xz': '1.0',
  }
  for (const [fileName, version] of Object.entries(versions)) {
    t.strictSame(parseSourceFileName(fileName), { packageName: 'hello', version, fileName })
  }
  for (const name of ['hello_1.0_all.deb', 'hello_1.0.txt', 'hello.dsc', 'upload', 'a_b_1.dsc']) {
    t.equal(parseSourceFileName(name), undefined, name)
  }
  for (const name of ['../hello_1.0.dsc', 'Hello_1.0.dsc', 'hello_1/0.dsc', 'hello_1 0.dsc']) {
    t.throws(() => parseSourceFileName(name), { failure: 'bad_request', message: /invalid/ }, name)
  }
})
