/** Masking of secrets: lines, base64 at each offset, and limits of the work for a row. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { Masker } from '../../../gateway/runner-protocol/masker.js'

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

t.test('a secret of less than three characters is not masked', async (t) => {
  const masker = new Masker(['ab', 'ok\nabc\nx'])
  t.equal(masker.mask('ab ok abc x'), 'ab ok *** x')
})

t.test(
  'the first characters of a row are returned, without a secret that ends later',
  async (t) => {
    const masker = new Masker(['secret'])
    t.equal(masker.mask('a secret and more', 20), 'a *** and more')
    t.equal(masker.mask('a secret and more', 12), 'a *** and')
    t.equal(masker.mask('a secret and more', 5), 'a ***')
    t.equal(masker.mask('a secret and more', 2), 'a ')
  },
)

t.test('a row that would need too many comparisons is hidden completely', async (t) => {
  const secrets = Array.from({ length: 300 }, (_, at) => `${'a'.repeat(1_000)}${at}`)
  const masker = new Masker(secrets)
  t.equal(masker.mask(`x ${secrets[7]} y`), 'x *** y')
  t.equal(masker.mask('a'.repeat(65_536)), '***')
})

t.test('with too many masks, rows are hidden completely', async (t) => {
  const masker = new Masker([])
  const secretOf = (at: number) => createHash('sha256').update(`${at}`).digest('hex')
  // Each secret has a form in base64 for each of the three offsets.
  for (let at = 0; at < 5_000; at += 1) masker.add(secretOf(at))
  t.equal(masker.mask(`a ${secretOf(4_999)} b`), 'a *** b')
  t.equal(masker.mask('other'), 'other')
  masker.add(secretOf(5_000))
  t.equal(masker.mask(`a ${secretOf(5_000)} b`), '***')
  t.equal(masker.mask('other'), '***')
})
