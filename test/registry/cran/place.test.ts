/** Locations of binaries in addresses and indexes. */

import t from 'tap'
import { binaryPlace, SOURCE } from '../../../registry/cran/place.js'

t.test('each platform and R version has a separate location', async (t) => {
  t.strictSame(binaryPlace('windows', '4.2'), {
    subject: 'bin/windows/4.2',
    compositeKey: 'windows|4.2',
    tarSuffix: '.tar.gz',
    usualSuffix: '.zip',
  })
  t.strictSame(binaryPlace('macosx/big-sur-arm64', '4.2'), {
    subject: 'bin/macosx/big-sur-arm64/4.2',
    compositeKey: 'macosx/big-sur-arm64|4.2',
    tarSuffix: '.tgz',
    usualSuffix: '.tgz',
  })
  t.match(binaryPlace('macosx', '4.2'), { tarSuffix: '.tgz', usualSuffix: '.tgz' })
  const linux = binaryPlace('linux_x86+64', '4.2-devel')
  t.match(linux, { tarSuffix: '.tar.gz', usualSuffix: '.tar.gz' })
  t.match(SOURCE, { subject: 'src', compositeKey: '', usualSuffix: '.tar.gz' })
})

t.test('a platform or R version that is not a path segment is refused', async (t) => {
  const platforms = ['', '..', '.', 'win dows', 'windows/', '/windows', 'a//b', 'a/../b', 'a\\b']
  const wrong = [
    ...[...platforms, 'wind|ows', 'windows\n', 'w\u00efn'].map((platform) => [platform, '4.2']),
    ...['', '..', '.', '4/2', '4|2', '4 2', '4.2\0'].map((rversion) => ['windows', rversion]),
    ['x'.repeat(198), '4.2'],
  ]
  for (const [platform = '', rversion = ''] of wrong) {
    t.equal(binaryPlace(platform, rversion), undefined, JSON.stringify([platform, rversion]))
  }
  t.not(binaryPlace('x'.repeat(197), '4.2'), undefined)
})
