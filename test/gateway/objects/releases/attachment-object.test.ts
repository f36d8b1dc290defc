/** Attachment objects, whose address does not depend on names. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { attachmentObject } from '../../../../gateway/objects/releases/attachment-object.js'
import { addAttachment } from '../../../../sql/releases/attachments.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { aBlobOf, aRelease } from '../../../helpers/release-rows.js'
import { aRepository } from '../../../helpers/rows.js'

t.test('an attachment has its own address and the size of its blob', async (t) => {
  const { context, fixture } = await openContext(t)
  const repository = await aRepository(fixture.db, (await fixture.addUser('ada')).id, 'engine')
  const { id: releaseId } = await aRelease(fixture.db, repository, 'v1')
  const uuid = randomUUID()
  const added = await addAttachment(fixture.db, { uuid, releaseId, name: 'ü' }, aBlobOf('ü'))
  const downloads = 7
  t.strictSame(attachmentObject(context, { ...added, downloads, createdAtMs: 1_790_000_000_999 }), {
    id: added.id,
    name: 'ü',
    size: 2,
    download_count: 7,
    uuid,
    created_at: '2026-09-21T14:13:20Z',
    browser_download_url: `${BASE_URL}/attachments/${uuid}`,
  })
})
