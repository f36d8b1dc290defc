/** Records of the index have the package's fields in the lines that apk reads. */

import t from 'tap'
import { indexRecord } from '../../../registry/alpine/index-record.js'
import { indexEntry } from '../../helpers/index-entries.js'

t.test('a record has all lines in their order', async (t) => {
  const metadata = {
    r: 'old-hello',
    k: '10',
    i: 'a b',
    p: 'cmd:hello=2.1.0-r4',
    D: 'so:libc.musl-x86_64.so.1',
    c: 'c0ffee',
    t: '1750000000',
    m: 'Ada Example <ada@example.test>',
    o: 'hello-tool',
    I: '8192',
    L: 'MIT',
    U: 'https://example.test/hello',
    T: 'Says hello',
    C: 'Q1dshGevL97XR1HEEr8nO6Y2G9z0A=',
  }
  const entry = indexEntry({ packageName: 'hello-tool', version: '2.1.0-r4', bytes: 475, metadata })
  t.equal(
    indexRecord(entry, 'x86_64'),
    `C:Q1dshGevL97XR1HEEr8nO6Y2G9z0A=
P:hello-tool
V:2.1.0-r4
A:x86_64
T:Says hello
U:https://example.test/hello
L:MIT
S:475
I:8192
o:hello-tool
m:Ada Example <ada@example.test>
t:1750000000
c:c0ffee
D:so:libc.musl-x86_64.so.1
p:cmd:hello=2.1.0-r4
i:a b
k:10
r:old-hello

`,
  )
})

t.test('required fields are always there, and the architecture is that of the index', async (t) => {
  const metadata = { C: 'Q1x=', A: 'noarch', P: 'other', V: '9', S: '9', constructor: 'x' }
  const entry = indexEntry({ packageName: 'hello', version: '1.0', bytes: 7, metadata })
  const lines = ['C:Q1x=', 'P:hello', 'V:1.0', 'A:armv7', 'S:7', 'I:0', 'o:', 'm:', 't:0', '', '']
  t.strictSame(indexRecord(entry, 'armv7').split('\n'), lines)
})
