/** Link headers, which Swift's client splits at commas, semicolons and equals signs. */

import t from 'tap'
import { linkHeaders } from '../../../registry/swift/links.js'

t.test('links are in one header, with their parameters', async (t) => {
  const headers = linkHeaders([
    { url: 'https://a.test/1', rel: 'latest-version' },
    { url: 'https://a.test/2', rel: 'alternate', parameters: { filename: 'P', x: '5.6' } },
  ])
  t.strictSame(headers, [
    [
      'Link',
      '<https://a.test/1>; rel="latest-version", ' +
        '<https://a.test/2>; rel="alternate"; filename="P"; x="5.6"',
    ],
  ])
})

t.test('no links give no header, and an address that would break it is left out', async (t) => {
  t.strictSame(linkHeaders([]), [])
  for (const url of ['a>b', 'a,b', 'a;b', 'a b', 'a"b', 'a\r\nSet-Cookie: b', 'é', '', '<']) {
    t.strictSame(linkHeaders([{ url, rel: 'canonical' }]), [], url)
  }
})
