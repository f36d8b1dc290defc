/** Release objects: addresses, author and attachments. */

import t, { type Test } from 'tap'
import { releaseOfTag } from '../../../../gateway/actions/releases/visible-releases.js'
import {
  releaseObject,
  releaseObjects,
} from '../../../../gateway/objects/releases/release-object.js'
import { addAttachment } from '../../../../sql/releases/attachments.js'
import type { AccessMode } from '../../../../sql/repositories/access.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { aBlobOf, aRelease } from '../../../helpers/release-rows.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aRepository } from '../../../helpers/rows.js'

async function openFixture(t: Test) {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('Ada')
  const repository = await aRepository(fixture.db, ada.id, 'engine')
  const grantOf = (mode: AccessMode) => ({
    who: { kind: 'anonymous' } as const,
    user: undefined,
    repository,
    ...withAccess(mode),
  })
  return { context, db: fixture.db, repository, grantOf }
}

t.test('addresses of a release encode every character of its tag', async (t) => {
  const { context, db, repository, grantOf } = await openFixture(t)
  const release = await aRelease(db, repository, 'lib/v1#ß%')
  const full = `${BASE_URL}/Ada/engine`
  t.match(await releaseObject(context, grantOf('read'), release), {
    tag_name: 'lib/v1#ß%',
    html_url: `${full}/releases/tag/lib/v1%23%C3%9F%25`,
    tarball_url: `${full}/archive/lib/v1%23%C3%9F%25.tar.gz`,
    zipball_url: `${full}/archive/lib/v1%23%C3%9F%25.zip`,
    url: `${BASE_URL}/api/v1/repos/Ada/engine/releases/${release.id}`,
    author: { login: 'Ada' },
  })
  const orphan = await releaseObject(context, grantOf('read'), { ...release, author: undefined })
  t.match(orphan, { author: { id: -1, login: 'Ghost' } })
})

t.test('each release has its own attachments', async (t) => {
  const { context, db, repository, grantOf } = await openFixture(t)
  const [one, two] = [await aRelease(db, repository, 'v1'), await aRelease(db, repository, 'v2')]
  for (const [uuid, releaseId] of [['a', one.id] as const, ['b', two.id] as const]) {
    await addAttachment(db, { uuid, releaseId, name: uuid }, aBlobOf(uuid))
  }
  const objects = await releaseObjects(context, grantOf('read'), [two, one])
  const files = objects.map(({ assets }) => assets.map((asset) => asset.browser_download_url))
  t.strictSame(files, [[`${BASE_URL}/attachments/b`], [`${BASE_URL}/attachments/a`]])
  t.strictSame(await releaseObjects(context, grantOf('read'), []), [])
})

t.test('a draft is found by users with write permission only', async (t) => {
  const { context, db, repository, grantOf } = await openFixture(t)
  const draft = await aRelease(db, repository, 'v1', { isDraft: true })
  t.strictSame(await releaseOfTag(context, grantOf('write'), 'v1'), draft)
  const hidden = releaseOfTag(context, grantOf('read'), 'v1')
  await t.rejects(hidden, { failure: 'not_found', message: 'not found' })
})
