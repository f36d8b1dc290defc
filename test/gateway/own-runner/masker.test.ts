/** Masking of secrets: whole texts, lines, and base64 at each offset. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { Masker } from '../../../gateway/own-runner/masker.js'

t.test('a secret is masked wherever it is, also the longer of two that overlap', async (t) => {
  const masker = new Masker(['s3cret', 's3cret-longer', '', ' '])
  t.equal(masker.mask('a s3cret-longer b s3cret'), 'a *** b ***')
  t.equal(masker.mask('a secret'), 'a secret')
})

t.test('each line of a secret is masked, but not a short one', async (t) => {
  const masker = new Masker(['{\n  "key": "value"\r\n}'])
  t.equal(masker.mask('got "key": "value"'), 'got ***')
  t.equal(masker.mask('{ }'), '{ }')
})

t.test('a secret in base64 is masked after a text of any length', async (t) => {
  const secret = 'correct horse battery'
  const masker = new Masker([secret])
  for (const before of ['', 'x', 'xy', 'xyz', 'x-access-token:']) {
    for (const after of ['', 'a', 'ab', 'abc']) {
      const encoded = Buffer.from(`${before}${secret}${after}`).toString('base64')
      const masked = masker.mask(encoded)
      t.match(masked, '***', encoded)
      const shown = Buffer.from(masked.replace('***', ''), 'base64').toString()
      t.notMatch(shown, /orrect|horse|batter/, `${encoded} ${masked}`)
    }
  }
})

t.test('with too many masks, rows are hidden completely', async (t) => {
  const masker = new Masker([])
  const secretOf = (at: number) => createHash('sha256').update(`${at}`).digest('hex')
  // Each secret has a form in base64 for each of the three offsets.
  for (let at = 0; at < 500; at += 1) masker.add(secretOf(at))
  t.equal(masker.mask(`a ${secretOf(499)} b`), 'a *** b')
  t.equal(masker.mask('other'), 'other')
  masker.add(secretOf(500))
  t.equal(masker.mask(`a ${secretOf(500)} b`), '***')
  t.equal(masker.mask('other'), '***')
})
