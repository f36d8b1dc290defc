/** Tag objects with and without a signature. */

import t from 'tap'
import { parseTag } from '../../../../cgi/objects/commit-object.js'
import { annotatedTagObject, tagObject } from '../../../../gateway/objects/code/tag-object.js'
import { openContext } from '../../../helpers/gateway.js'
import { aRepository } from '../../../helpers/rows.js'

const ID = '1'.repeat(40)
const armored = '-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n'
const head = `object ${'2'.repeat(40)}\ntype commit\ntag v1\ntagger Ada <a@b> 1700000000 +0000\n`

t.test('the signature is separated from the message', async (t) => {
  const { context, fixture } = await openContext(t)
  const repository = await aRepository(fixture.db, (await fixture.addUser('ada')).id, 'r')
  const view = { repository, user: undefined }
  const content = Buffer.from(`${head}\nText\n${armored}`)
  t.match(await annotatedTagObject(context, view, parseTag(ID, content)), {
    tag: 'v1',
    sha: ID,
    message: 'Text\n',
    object: { type: 'commit' },
    tagger: { name: 'Ada', date: '2023-11-14T22:13:20Z' },
    verification: { verified: false, signature: armored, payload: `${head}\nText\n` },
  })
  const object = { id: ID, type: 'tag', sizeBytes: content.length, content } as const
  t.match(tagObject(context, repository, { name: 'a/v1', object }), {
    name: 'a/v1',
    id: ID,
    message: 'Text',
    commit: { sha: '2'.repeat(40) },
    zipball_url: /\/ada\/r\/archive\/a\/v1\.zip$/,
  })
  const old = parseTag(ID, Buffer.from('object x\ntype tree\ntag t\n\nm'))
  t.match(await annotatedTagObject(context, view, old), { tagger: { name: '' } })
  const blob = { id: ID, type: 'blob', sizeBytes: 1, content: undefined } as const
  t.match(tagObject(context, repository, { name: 'f', object: blob }), {
    commit: { sha: ID, created: '0001-01-01T00:00:00Z' },
  })
})
