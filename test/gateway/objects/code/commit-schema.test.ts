/** Schema of a commit. */

import t from 'tap'
import { Compile } from 'typebox/schema'
import {
  COMMIT,
  FILE_COMMIT_RESPONSE,
  PAYLOAD_COMMIT,
} from '../../../../gateway/objects/code/commit-schema.js'

t.test('the fields of the schema are those of Gitea', async (t) => {
  const fields = (schema: { readonly properties: object }) => Object.keys(schema.properties).sort()
  t.strictSame(fields(COMMIT), [
    'author',
    'commit',
    'committer',
    'created',
    'files',
    'html_url',
    'parents',
    'sha',
    'stats',
    'url',
  ])
  t.strictSame(fields(PAYLOAD_COMMIT), [
    'added',
    'author',
    'committer',
    'id',
    'message',
    'modified',
    'removed',
    'timestamp',
    'url',
    'verification',
  ])
  t.strictSame(fields(FILE_COMMIT_RESPONSE), [
    'author',
    'committer',
    'created',
    'html_url',
    'message',
    'parents',
    'sha',
    'tree',
    'url',
  ])
  t.notOk(Compile(JSON.parse(JSON.stringify(COMMIT))).Check({ id: 'x' }))
})
