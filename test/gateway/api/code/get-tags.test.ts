/** Tags over the API: newest first, lightweight and annotated, and as objects. */

import t from 'tap'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

t.test('tags are listed and read', async (t) => {
  const { get, copy, commits, push } = await startGatewayWithRepository(t)
  const [first, second] = commits
  const old = { GIT_COMMITTER_DATE: '1000000000 +0000', GIT_AUTHOR_DATE: '1000000000 +0000' }
  await copy.try(['tag', '-m', 'Old', 'old/one', second], { environment: old })
  await push('refs/tags/*')
  const v1 = await copy.git('rev-parse', 'refs/tags/v1')
  const { json, headers } = await get('tags')
  const names = (json as { name: string }[]).map(({ name }) => name)
  t.strictSame([...names].sort(), ['light', 'old/one', 'v1'])
  t.equal(names.at(-1), 'old/one', 'the oldest is last')
  t.equal(headers['x-total-count'], '3')
  t.match(await get('tags/v1'), {
    status: 200,
    json: {
      name: 'v1',
      id: v1,
      message: 'The first',
      commit: { sha: first, url: `${BASE_URL}/api/v1/repos/ada/r/git/commits/${first}` },
      zipball_url: `${BASE_URL}/ada/r/archive/v1.zip`,
    },
  })
  t.match((await get('tags/light')).json, { id: second, message: /^Fill/, commit: { sha: second } })
  t.match((await get('tags/old%2Fone')).json, {
    commit: { created: '2001-09-09T01:46:40Z' },
    tarball_url: `${BASE_URL}/ada/r/archive/old/one.tar.gz`,
  })
  for (const name of ['main', 'old', '-d', '--help', 'v1%5E%7B%7D', '']) {
    t.equal((await get(`tags/${name}`)).status, 404, name)
  }
  for (const sha of [v1, 'v1', v1.slice(0, 9)]) {
    t.match((await get(`git/tags/${sha}`)).json, {
      tag: 'v1',
      sha: v1,
      message: 'The first\n',
      tagger: { name: 'Ada' },
      object: { type: 'commit', sha: first },
    })
  }
  t.equal((await get(`git/tags/${first}`)).status, 400)
  t.equal((await get(`git/tags/${'0'.repeat(40)}`)).status, 404)
})

t.test('tags of blobs and trees are listed too', async (t) => {
  const { get, copy, push } = await startGatewayWithRepository(t)
  const blob = await copy.git('rev-parse', 'main:README.md')
  await copy.git('tag', 'file', blob)
  await copy.git('tag', 'folder', 'main^{tree}')
  await push('refs/tags/*')
  t.match(await get('tags/file'), { status: 200, json: { id: blob, message: '' } })
  t.equal((await get('tags')).status, 200)
})
