/** Pages of lists. */

import t from 'tap'
import { offsetOf, pagesOf, type RowPage } from '../../../sql/database/page.js'

t.test('the first page has offset zero', async (t) => {
  t.equal(offsetOf({ page: 1, limit: 30 }), 0)
  t.equal(offsetOf({ page: 3, limit: 30 }), 60)
})

t.test('all rows are read in pages, also if they are deleted meanwhile', async (t) => {
  for (const count of [0, 1, 199, 200, 201, 400, 401]) {
    // Ids with gaps, as after deletions.
    const rows = new Set(Array.from({ length: count }, (_, at) => 3 * at + 1))
    const read = async ({ afterId, limit }: RowPage) =>
      [...rows]
        .filter((id) => id > afterId)
        .slice(0, limit)
        .map((id) => ({ id }))
    const seen: number[] = []
    for await (const page of pagesOf(read)) {
      t.ok(page.length <= 200)
      for (const { id } of page) {
        seen.push(id)
        rows.delete(id)
      }
    }
    t.strictSame(
      seen,
      Array.from({ length: count }, (_, at) => 3 * at + 1),
      `${count} rows`,
    )
  }
})
