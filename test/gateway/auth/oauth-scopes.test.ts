/** Scopes that OAuth applications request, in the forms that clients use. */

import t from 'tap'
import { readOauthScopes, sentenceOfScope } from '../../../gateway/auth/oauth-scopes.js'

t.test("scopes are read in the forms of Gitea's clients", async (t) => {
  for (const [text, scopes, openidScopes] of [
    ['', ['all'], []],
    ['openid email profile', ['read:user'], ['openid', 'profile', 'email']],
    ['openid read:repository', ['read:repository'], ['openid']],
    ['write:repository,read:repository', ['write:repository'], []],
    ['user issue repository', ['write:issue', 'write:repository', 'write:user'], []],
    ['public-only read:issue', ['public-only', 'read:issue'], []],
  ] as const) {
    t.strictSame(readOauthScopes(text), { scopes, openidScopes }, text)
  }
  for (const text of ['repo', 'sudo openid', 'public-only', 'read:everything', 'constructor']) {
    t.throws(() => readOauthScopes(text), { message: /access token/ }, text)
  }
})

t.test('each scope has a description', async (t) => {
  t.equal(sentenceOfScope('all'), 'Everything that you may do here')
  t.equal(sentenceOfScope('public-only'), 'Only public data')
  t.equal(sentenceOfScope('read:package'), 'Read packages')
  t.match(sentenceOfScope('write:repository'), /^Read and change repositories/)
})
