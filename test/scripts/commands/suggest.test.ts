/** Suggestions for misspelt words. */

import t from 'tap'
import { suggest } from '../../../scripts/commands/suggest.js'

const COMMANDS = ['user create', 'user list', 'token create', 'db status', 'serve']

t.test('a word with one letter added, missing, replaced or swapped is suggested', async (t) => {
  for (const given of ['usr create', 'user craete', 'user create', 'usser creat', 'uzer create']) {
    t.equal(suggest(given, COMMANDS), 'user create', given)
  }
  t.equal(suggest('srve', COMMANDS), 'serve')
  t.equal(suggest('sevre', COMMANDS), 'serve', 'a swap counts once')
  t.equal(suggest('db state', COMMANDS), 'db status')
})

t.test('the first of several equally close words is suggested', async (t) => {
  t.equal(suggest('ab', ['aa', 'bb']), 'aa')
  t.equal(suggest('bb', ['ab', 'bb']), 'bb', 'a closer word takes precedence')
})

t.test('nothing is suggested for a word that is far from all words', async (t) => {
  for (const given of ['', 'nonsense', 'user', 'user remove', 'srev']) {
    t.equal(suggest(given, COMMANDS), undefined, given)
  }
  t.equal(suggest('user', []), undefined)
})
