/** Addresses of one repository are equal after normalization, and others differ. */

import t from 'tap'
import { normaliseRepositoryUrl } from '../../../registry/swift/repository-url.js'

t.test('all addresses of one repository are normalized to the same text', async (t) => {
  const ways = [
    'https://github.com/mona/LinkedList',
    'https://github.com/mona/LinkedList.git',
    'http://github.com/mona/LinkedList/',
    'HTTPS://GitHub.COM//mona/LinkedList.git/',
    'git@github.com:mona/LinkedList.git',
    'git@github.com:/mona/LinkedList',
    'ssh://git@github.com/mona/LinkedList.git',
    'ssh://git@github.com:22/mona/LinkedList',
    'ssh://git@github.com:mona/LinkedList.git',
    'git://github.com/mona/LinkedList.git',
    'https://user:secret@github.com/mona/LinkedList',
    'github.com/mona/LinkedList',
    ' https://github.com:443/mona/LinkedList\n',
  ]
  for (const way of ways) {
    t.equal(normaliseRepositoryUrl(way), 'github.com/mona/LinkedList', way)
  }
})

t.test('different repositories stay different, and an invalid address is unchanged', async (t) => {
  const others = {
    'https://github.com/mona/linkedlist': 'github.com/mona/linkedlist',
    'https://github.com/mona/LinkedList.github': 'github.com/mona/LinkedList.github',
    'https://gitlab.com/mona/LinkedList': 'gitlab.com/mona/LinkedList',
    'https://host/a/b/../c': 'host/a/b/../c',
    '': '',
    '/srv/git/a': '/srv/git/a',
    __proto__: '__proto__',
  }
  for (const [given, told] of Object.entries(others)) t.equal(normaliseRepositoryUrl(given), told)
  for (const text of ['@'.repeat(50_000), 'a:'.repeat(50_000), '/'.repeat(50_000)]) {
    normaliseRepositoryUrl(text)
  }
})
