/** Pages of a list: numbered from 1, limited, with links in the order that clients expect. */

import t from 'tap'
import { pageHeaders, pageOf, pageReply } from '../../../gateway/api/paging.js'
import { BASE_URL, openContext } from '../../helpers/gateway.js'

t.test('a page is at least 1, and its limit is 30 by default and at most 50', async (t) => {
  t.strictSame(pageOf({}), { page: 1, limit: 30 })
  t.strictSame(pageOf({ page: 0, limit: 0 }), { page: 1, limit: 30 })
  t.strictSame(pageOf({ page: -3, limit: -1 }), { page: 1, limit: 30 })
  t.strictSame(pageOf({ page: 7, limit: 50 }), { page: 7, limit: 50 })
  t.strictSame(pageOf({ limit: 51 }), { page: 1, limit: 50 })
})

t.test('a list of commits has headers for its page', async (t) => {
  const said = (page: number, total: number) =>
    pageHeaders({ page, limit: 10 }, total).map(([name, value]) => `${name} ${value}`)
  const names = ['X-Page 2', 'X-PerPage 10', 'X-Total 21', 'X-PageCount 3', 'X-HasMore true']
  t.strictSame(said(2, 21), names)
  t.equal(said(3, 21).at(-1), 'X-HasMore false')
  t.equal(said(1, 0).at(-1), 'X-HasMore false')
})

t.test('links are next, last, first and prev, and only to existing pages', async (t) => {
  const { context } = await openContext(t)
  const links = (page: number, total: number) => {
    const options = { path: '/x', page: { page, limit: 10 }, total }
    const headers = new Map(pageReply(context, [], options).headers)
    t.equal(headers.get('X-Total-Count'), String(total))
    return headers
      .get('Link')
      ?.replaceAll(`<${BASE_URL}/api/v1/x?limit=10&page=`, '')
      .replaceAll('>; rel=', ' ')
  }
  t.equal(links(1, 0), undefined)
  t.equal(links(1, 10), undefined)
  t.equal(links(1, 11), '2 "next",2 "last"')
  t.equal(links(2, 35), '3 "next",4 "last",1 "first",1 "prev"')
  t.equal(links(4, 35), '1 "first",3 "prev"')
  t.equal(links(9, 35), '1 "first",4 "prev"')
  t.equal(links(9, 5), undefined)
})

t.test('links keep the other query parameters', async (t) => {
  const { context } = await openContext(t)
  const query = { q: 'a&b=c ü', type: undefined, sort: '' }
  const options = { path: '/x', query, page: { page: 1, limit: 10 }, total: 11 }
  const headers = new Map(pageReply(context, [], options).headers)
  const next = `${BASE_URL}/api/v1/x?q=a%26b%3Dc%20%C3%BC&limit=10&page=2`
  t.equal(headers.get('Link'), `<${next}>; rel="next",<${next}>; rel="last"`)
})
