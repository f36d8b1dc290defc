/** Scopes of tokens: canonical form and implications. */

import t from 'tap'
import { isPublicOnly, normaliseScopes, scopeAllows } from '../../../gateway/auth/scopes.js'

const WORDS = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
]

t.test('a list of scopes has one canonical form', async (t) => {
  const same = (given: readonly string[], wanted: readonly string[]) =>
    t.strictSame(normaliseScopes(given), wanted, given.join())
  same(['read:user', 'write:repository'], ['write:repository', 'read:user'])
  same(['read:user', 'read:user'], ['read:user'])
  same(['read:user', 'write:user'], ['write:user'])
  same(['package'], ['write:package'])
  same(['package', 'read:package'], ['write:package'])
  same(['write:repository', 'package'], ['write:package', 'write:repository'])
  same(['all'], ['all'])
  same(['all', 'read:user'], ['all'])
  same(['user', 'all'].slice(1), ['all'])
  same(['read:user', 'public-only'], ['public-only', 'read:user'])
  same(['all', 'public-only'], ['public-only', 'all'])
  same(
    [...WORDS].reverse().map((word) => `write:${word}`),
    ['all'],
  )
  same(
    WORDS.map((word) => `read:${word}`).reverse(),
    WORDS.map((word) => `read:${word}`),
  )
  const eight = WORDS.slice(1).map((word) => `write:${word}`)
  same(eight, eight)
})

t.test('an unknown scope and an empty list are refused', async (t) => {
  for (const name of ['', 'repo', 'delete:user', 'write:', 'write:x', 'ALL', ' all', 'x:user']) {
    t.throws(() => normaliseScopes(['read:user', name]), {
      message: `invalid access token scope provided: ${name}`,
    })
  }
  for (const name of ['write:constructor', 'read:read:user', 'xread:user', 'write:user:user']) {
    t.throws(() => normaliseScopes([name]), { message: /^invalid access token scope/ })
  }
  const empty = { message: 'access token must have a scope' }
  t.throws(() => normaliseScopes([]), empty)
  t.throws(() => normaliseScopes(['public-only']), empty)
})

t.test('write implies read of the same category only', async (t) => {
  t.equal(scopeAllows(['read:user'], 'read:user'), true)
  t.equal(scopeAllows(['write:user'], 'read:user'), true)
  t.equal(scopeAllows(['all'], 'write:admin'), true)
  t.equal(scopeAllows(['public-only', 'all'], 'write:admin'), true)
  t.equal(scopeAllows(['read:user'], 'write:user'), false)
  t.equal(scopeAllows(['write:user'], 'read:repository'), false)
  t.equal(scopeAllows(['write:admin'], 'read:user'), false)
  t.equal(scopeAllows([], 'read:user'), false)
  t.equal(scopeAllows(['public-only'], 'read:user'), false)
})

t.test('public-only is recognized by its name', async (t) => {
  t.equal(isPublicOnly(['public-only', 'all']), true)
  t.equal(isPublicOnly(['all']), false)
})
