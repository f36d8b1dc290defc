/** Each architecture has an index of its own and of the noarch packages. */

import t, { type Test } from 'tap'
import { INDEX_MAKER } from '../../../registry/alpine/indexes.js'
import type { IndexEntry } from '../../../registry/index-maker.js'
import { alpineKey } from '../../helpers/alpine-key.js'
import { readIndex } from '../../helpers/apks.js'
import { buildIndex } from '../../helpers/index-builds.js'
import { indexEntry } from '../../helpers/index-entries.js'

const ALPINE = [
  'aarch64',
  'armhf',
  'armv7',
  'loongarch64',
  'ppc64le',
  'riscv64',
  's390x',
  'x86',
  'x86_64',
]

/** Returns `package architecture` of each record by index. */
async function build(t: Test, entries: readonly IndexEntry[]) {
  const signingKeys = async () => [await alpineKey()]
  const keyOf = ({ packageName, version }: IndexEntry) => `${packageName} ${version}`
  const files = await buildIndex(t, INDEX_MAKER, entries, { signingKeys, keyOf })
  const indexes: Record<string, readonly string[]> = {}
  for (const [path, bytes] of files) {
    const { text } = await readIndex(t, bytes)
    indexes[path] = text.split('\n').flatMap((line) => (/^[PACV]:/.test(line) ? [line] : []))
  }
  return indexes
}

t.test('an architecture has its own packages, ordered by name', async (t) => {
  const entries = [
    indexEntry({ packageName: 'b' }),
    indexEntry({ packageName: 'c', part: 'armv7' }),
    indexEntry({ packageName: 'a' }),
  ]
  t.strictSame(await build(t, entries), {
    'armv7/APKINDEX.tar.gz': ['C:Q1x=', 'P:c', 'V:1.0-r0', 'A:armv7'],
    'x86_64/APKINDEX.tar.gz': [
      'C:Q1x=',
      'P:a',
      'V:1.0-r0',
      'A:x86_64',
      'C:Q1x=',
      'P:b',
      'V:1.0-r0',
      'A:x86_64',
    ],
  })
})

t.test('a noarch package is in every index with the architecture of the index', async (t) => {
  const entries = [
    indexEntry({ packageName: 'all', part: 'noarch' }),
    indexEntry({ packageName: 'own', part: 'my_arch' }),
  ]
  const indexes = await build(t, entries)
  const paths = [...ALPINE, 'my_arch', 'noarch'].sort().map((arch) => `${arch}/APKINDEX.tar.gz`)
  t.strictSame(Object.keys(indexes), paths)
  for (const arch of [...ALPINE, 'noarch']) {
    const wanted = ['C:Q1x=', 'P:all', 'V:1.0-r0', `A:${arch}`]
    t.strictSame(indexes[`${arch}/APKINDEX.tar.gz`], wanted, arch)
  }
  t.strictSame(indexes['my_arch/APKINDEX.tar.gz'], [
    'C:Q1x=',
    'P:all',
    'V:1.0-r0',
    'A:my_arch',
    'C:Q1x=',
    'P:own',
    'V:1.0-r0',
    'A:my_arch',
  ])
})

t.test('of two files with one name the index lists the one that is served', async (t) => {
  const both = { packageName: 'both', version: '1.0' }
  const entries = [
    indexEntry({ ...both, part: 'noarch', metadata: { C: 'Q1all=' } }),
    indexEntry({ ...both, part: 'x86', metadata: { C: 'Q1own=' } }),
    indexEntry({ ...both, version: '1.1', part: 'noarch', metadata: { C: 'Q1new=' } }),
  ]
  const indexes = await build(t, entries)
  t.strictSame(indexes['x86/APKINDEX.tar.gz'], [
    'C:Q1own=',
    'P:both',
    'V:1.0',
    'A:x86',
    'C:Q1new=',
    'P:both',
    'V:1.1',
    'A:x86',
  ])
  t.strictSame(indexes['noarch/APKINDEX.tar.gz'], [
    'C:Q1all=',
    'P:both',
    'V:1.0',
    'A:noarch',
    'C:Q1new=',
    'P:both',
    'V:1.1',
    'A:noarch',
  ])
})

t.test('without packages there is no index, and no key is needed', async (t) => {
  t.equal((await buildIndex(t, INDEX_MAKER, [])).size, 0)
})
