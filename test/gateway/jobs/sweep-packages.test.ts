/** The daily job removes unused blobs and logs it. */

import t from 'tap'
import { SWEEP_PACKAGES } from '../../../gateway/jobs/sweep-packages.js'
import { openContext } from '../../helpers/gateway.js'
import { aPublishedFile } from '../../helpers/published-files.js'

const { signal } = new AbortController()

t.test('the blob of a deleted file is removed with a line in the log', async (t) => {
  const { context, fixture } = await openContext(t)
  const user = await fixture.addUser('ada')
  const publish = (name: string) => aPublishedFile(context.registry, { user, name, text: name })
  await publish('kept')
  const store = await publish('gone')
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.strictSame(fixture.lines, [], 'nothing to do and nothing logged')
  await store.removeVersion('gone', '1.0')
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.match(fixture.lines, [
    { msg: 'unused package files were removed', swept: { unused: 1, left: 0 } },
  ])
})
