/** Headers of a request, with the interface of a Map. */

import t from 'tap'
import { SentHeaders } from '../../../gateway/http/sent-headers.js'

t.test('headers are found by name, and repeated ones are joined', async (t) => {
  const headers = new SentHeaders()
  headers.add('host', 'code.example.com')
  headers.add('accept', 'text/html')
  headers.add('accept', '*/*')
  headers.add('empty', '')
  t.equal(headers.get('host'), 'code.example.com')
  t.equal(headers.get('accept'), 'text/html, */*')
  t.equal(headers.get('empty'), '')
  t.equal(headers.get('cookie'), undefined)
  t.same([headers.has('empty'), headers.has('cookie')], [true, false])
  const all = { host: 'code.example.com', accept: 'text/html, */*', empty: '' }
  t.strictSame(Object.fromEntries(headers), all)
  t.strictSame([...headers.values()], Object.values(all))
})
