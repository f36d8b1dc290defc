/** Inputs of file changes: parsed, or refused. */

import t from 'tap'
import { readContent, readFileChange } from '../../../../gateway/api/code/file-options.js'

t.test('base64 is decoded with or without line breaks, and other text is refused', async (t) => {
  t.strictSame(readContent('AP/+'), Buffer.from([0, 255, 254]))
  t.strictSame(readContent('YWJj\r\nZA==\n'), Buffer.from('abcd'))
  t.strictSame(readContent(''), Buffer.alloc(0))
  for (const text of [
    'a',
    'YQ',
    'YQ=',
    'Y===',
    'YQ==YQ==',
    'a-_a',
    ' YQ==',
    'YQ= =',
    '=',
    'YWJ\u00e4',
  ]) {
    t.throws(() => readContent(text), { failure: 'invalid', message: /base64/ }, text)
  }
})

t.test('a change without a required field is refused', async (t) => {
  const path = 'a/b'
  t.match(readFileChange({ operation: 'create', path, content: 'YQ==' }), {
    operation: 'create',
    names: ['a', 'b'],
    content: Buffer.from('a'),
  })
  t.match(readFileChange({ operation: 'update', path, sha: '1', from_path: 'c' }), {
    fromNames: ['c'],
    sha: '1',
    content: undefined,
  })
  t.match(readFileChange({ operation: 'update', path, sha: '1' }), { content: Buffer.alloc(0) })
  for (const operation of ['update', 'delete'] as const) {
    t.throws(() => readFileChange({ operation, path, sha: '' }), {
      message: /SHA must be provided/,
    })
  }
  const wrong = { operation: 'update', path, sha: '1', from_path: '../c' } as const
  t.throws(() => readFileChange(wrong), { message: /malformed/ })
})
