/** Contents objects and their addresses. */

import t from 'tap'
import {
  CONTENTS_RESPONSE,
  contentsObject,
  escapePath,
} from '../../../../gateway/objects/code/contents-object.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { aRepository } from '../../../helpers/rows.js'

const ID = '1'.repeat(40)
const COMMIT_ID = '2'.repeat(40)
const ada = { name: 'Ada', email: 'ada@example.com', offsetMinutes: 60 }
const COMMIT = {
  id: COMMIT_ID,
  tree: ID,
  parents: [],
  author: { ...ada, atMs: 1_000 },
  committer: { ...ada, atMs: 2_000 },
  message: 'Why\n',
  signature: undefined,
}
const main = { kind: 'branch', shortName: 'a/ü', commitId: COMMIT_ID } as const

t.test('each kind of entry has the fields by which clients recognize it', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, ada.id, 'r')
  const show = (kind: 'file' | 'directory' | 'symlink' | 'submodule', extra = {}) =>
    contentsObject(context, repository, {
      revision: main,
      path: 'x y/é#',
      entry: { id: ID, kind },
      sizeBytes: 2,
      lastCommit: COMMIT,
      ...extra,
    })
  const api = `${BASE_URL}/api/v1/repos/ada/r`
  const file = show('file', { content: Buffer.from([0xff, 0x00]) })
  const {
    lfs_oid: _oid,
    lfs_size: _size,
    last_commit_message: _text,
    ...always
  } = CONTENTS_RESPONSE.properties
  t.strictSame(Object.keys(file).sort(), Object.keys(always).sort())
  const lfsPointer = { oid: ID.repeat(2).slice(0, 64), bytes: 7 }
  t.match(show('file', { hasMessage: true }), { last_commit_message: 'Why\n' })
  t.match(show('file', { lfsPointer }), { lfs_oid: lfsPointer.oid, lfs_size: 7 })
  t.match(file, {
    name: 'é#',
    path: 'x y/é#',
    sha: ID,
    type: 'file',
    size: 2,
    last_commit_sha: COMMIT_ID,
    last_committer_date: '1970-01-01T01:00:02+01:00',
    last_author_date: '1970-01-01T01:00:01+01:00',
    encoding: 'base64',
    content: '/wA=',
    target: null,
    submodule_git_url: null,
    url: `${api}/contents/x%20y/%C3%A9%23?ref=a%2F%C3%BC`,
    download_url: `${BASE_URL}/ada/r/raw/branch/a/%C3%BC/x%20y/%C3%A9%23`,
    git_url: `${api}/git/blobs/${ID}`,
    _links: { html: `${BASE_URL}/ada/r/src/branch/a/%C3%BC/x%20y/%C3%A9%23` },
  })
  t.match(show('file'), { encoding: null, content: null, size: 2 })
  t.match(show('directory'), {
    type: 'dir',
    size: 0,
    content: null,
    download_url: null,
    git_url: `${api}/git/trees/${ID}`,
  })
  t.match(show('symlink', { content: Buffer.from('../y') }), { type: 'symlink', target: '../y' })
  t.match(show('submodule', { submoduleUrl: 'https://x.test/y' }), {
    type: 'submodule',
    git_url: null,
    submodule_git_url: 'https://x.test/y',
    size: 0,
  })
  const other = { kind: 'other', shortName: 'HEAD', commitId: COMMIT_ID }
  t.match(show('file', { revision: other, lastCommit: undefined }), {
    last_commit_sha: null,
    download_url: new RegExp(`/raw/commit/${COMMIT_ID}/x%20y/`),
  })
  t.equal(escapePath('a b/../?'), 'a%20b/../%3F')
})
