/** Conditional requests (RFC 9110 §13). */

import t from 'tap'
import { conditionStatus, entityTag } from '../../registry/conditions.js'

const CHANGED_AT_MS = Date.parse('2025-06-15T12:00:00.750Z')
const SAME_SECOND = 'Sun, 15 Jun 2025 12:00:00 GMT'
const BEFORE = 'Sun, 15 Jun 2025 11:59:59 GMT'
const LATER = 'Sun, 15 Jun 2025 12:00:01 GMT'

const tag = entityTag('abc')

function statusOf(headers: Readonly<Record<string, string>>, changedAtMs?: number) {
  const known = new Map(Object.entries(headers))
  return conditionStatus(known, { tag, ...(changedAtMs === undefined ? {} : { changedAtMs }) })
}

t.test('an ETag is the text in quotes', async (t) => {
  t.equal(tag, '"abc"')
})

t.test('a request without conditions is answered', async (t) => {
  t.equal(statusOf({}, CHANGED_AT_MS), undefined)
})

t.test(
  'If-None-Match is compared weakly, in lists, and takes precedence over a date',
  async (t) => {
    for (const known of ['"abc"', 'W/"abc"', '"x", "abc"', '"x","abc" , "y"', '*', ' "abc" ']) {
      t.equal(statusOf({ 'if-none-match': known }), 304, known)
    }
    for (const other of ['"ABC"', 'abc', '"x"', '', 'w/"abc"', '"abcd"', '"x, abc"']) {
      const headers = { 'if-none-match': other, 'if-modified-since': LATER }
      t.equal(statusOf(headers, CHANGED_AT_MS), undefined, other)
    }
  },
)

t.test('If-Modified-Since is compared in whole seconds', async (t) => {
  t.equal(statusOf({ 'if-modified-since': SAME_SECOND }, CHANGED_AT_MS), 304)
  t.equal(statusOf({ 'if-modified-since': LATER }, CHANGED_AT_MS), 304)
  t.equal(statusOf({ 'if-modified-since': BEFORE }, CHANGED_AT_MS), undefined)
  for (const nonsense of ['', 'yesterday', '-1', 'Sun, 15 Jun 2025 99:00:00 GMT']) {
    t.equal(statusOf({ 'if-modified-since': nonsense }, CHANGED_AT_MS), undefined, nonsense)
  }
  t.equal(statusOf({ 'if-modified-since': LATER }), undefined, 'without a date it is ignored')
})

t.test('If-Match is compared strongly and takes precedence over all others', async (t) => {
  for (const meant of ['"abc"', '"x", "abc"', '*']) {
    t.equal(statusOf({ 'if-match': meant }), undefined, meant)
    t.equal(statusOf({ 'if-match': meant, 'if-none-match': '"abc"' }), 304, meant)
    t.equal(
      statusOf({ 'if-match': meant, 'if-unmodified-since': BEFORE }, CHANGED_AT_MS),
      undefined,
    )
  }
  for (const other of ['W/"abc"', '"x"', '']) {
    t.equal(statusOf({ 'if-match': other, 'if-none-match': '"abc"' }), 412, other)
  }
})

t.test('If-Unmodified-Since refuses a later change with 412', async (t) => {
  t.equal(statusOf({ 'if-unmodified-since': SAME_SECOND }, CHANGED_AT_MS), undefined)
  t.equal(statusOf({ 'if-unmodified-since': BEFORE }, CHANGED_AT_MS), 412)
  t.equal(statusOf({ 'if-unmodified-since': 'nonsense' }, CHANGED_AT_MS), undefined)
  t.equal(statusOf({ 'if-unmodified-since': BEFORE }), undefined, 'without a date it is ignored')
})
