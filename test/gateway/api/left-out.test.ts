/** Each operation of Gitea is served, or the documentation says why it is not. */

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { GITEA_OPERATIONS } from '../../helpers/gitea-operations.js'

const HEADING = '## Which operations of Gitea are missing?'

t.test('docs/api.md names exactly the operations of Gitea that are not served', async (t) => {
  const text = await readFile('docs/api.md', 'utf8')
  const [, section = ''] = text.split(HEADING)
  const [table = ''] = section.split('\n## ')
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, id]) => id ?? ''))
  const served = new Set(OPERATIONS.map(({ id }) => id))
  const missing = GITEA_OPERATIONS.filter((id) => !served.has(id))
  t.strictSame([...named].sort(), [...missing].sort())
  for (const row of rows) t.match(row, /\| [A-Z].*\. \|$/, 'each row has a reason')
})
