/** A repository whose folder is missing is unavailable on every surface; others are served. */

import { rename } from 'node:fs/promises'
import { basename } from 'node:path'
import t from 'tap'
import { openStorage } from '../../../registry/storage/open.js'
import { tryGit } from '../../helpers/git-client.js'
import { startGatewayWithPull } from '../../helpers/pulls.js'

const gateway = await startGatewayWithPull(t)
const { as, ask, bare, of, db, lines, port, authorizationOf } = gateway
await gateway.write('one', 'one')
await gateway.open('one')
await as('ada', 'POST', '/user/repos', { name: 'other', auto_init: true })
await as('bob', 'POST', '/repos/ada/other/forks', {})
const fork = await as('bob', 'POST', '/repos/bob/other/contents/new', {
  content: 'YQ==',
  message: 'change',
  new_branch: 'topic',
})
await as('bob', 'POST', '/repos/ada/other/pulls', { title: 'x', head: 'bob:topic', base: 'main' })
await rename(bare, `${bare}.away`)

const MESSAGE =
  /^The stored data of this repository is missing on the server\. Ask an administrator/

t.test('API requests for its Git data are 503 with a sentence', async (t) => {
  for (const path of [
    '/branches',
    '/contents/root',
    '/raw/root',
    '/commits',
    '/git/trees/main',
    '/archive/main.zip',
    '/pulls/1',
    '/languages',
    '/compare/main...one',
  ]) {
    const { status, json, headers } = await of('ada', 'GET', path)
    t.match({ status, json, retry: headers['retry-after'] }, { status: 503, retry: '60' }, path)
    t.match(json, { message: MESSAGE }, path)
  }
  const merge = await of('ada', 'POST', '/pulls/1/merge', { Do: 'merge' })
  const file = await of('ada', 'POST', '/contents/new', { content: 'YQ==', message: 'x' })
  t.strictSame([merge.status, file.status], [503, 503])
  t.equal((await of('ada', 'GET', '')).status, 200, 'its row is served')
  t.equal((await of('ada', 'GET', '/issues')).status, 200)
  const logged = lines.filter(({ level, msg }) => level === 50 && MESSAGE.test(String(msg)))
  t.match(logged[0], { error: { message: `the folder ${bare} does not exist` } })
  t.notMatch(JSON.stringify((await of('ada', 'GET', '/branches')).json), new RegExp(basename(bare)))
})

t.test('pages of its Git data are 503 with the sentence', async (t) => {
  for (const path of ['', '/commits/branch/main', '/branches', '/pulls/1']) {
    const { status, text } = await ask({ path: `/ada/r${path}` })
    t.match(
      { status, text },
      { status: 503, text: /The stored data of this repository is missing/ },
    )
  }
  t.equal((await ask({ path: '/ada/r/issues' })).status, 200)
})

t.test('git clone and push over HTTPS report that the server is unavailable', async (t) => {
  const address = `http://127.0.0.1:${port}/ada/r.git`
  const authorization = ['-c', `http.extraHeader=Authorization: ${authorizationOf('ada')}`]
  for (const version of ['0', '2']) {
    const options = ['-c', `protocol.version=${version}`]
    const { exitCode, errorText } = await tryGit([...options, 'ls-remote', address], { cwd: '/' })
    t.match({ exitCode, errorText }, { exitCode: 128, errorText: /503/ }, `version ${version}`)
    t.notMatch(errorText, /not found/)
  }
  const pushed = await gateway.copy.try([...authorization, 'push', address, 'main:new'])
  t.match(pushed.errorText, /503/)
})

t.test('other repositories, and those who may not see it, see no difference', async (t) => {
  const other = `http://127.0.0.1:${port}/ada/other.git`
  t.equal((await tryGit(['ls-remote', other], { cwd: '/' })).exitCode, 0)
  t.equal((await as('anyone', 'GET', '/repos/ada/other/branches')).status, 200)
  await db('repositories').where({ name: 'r' }).update({ is_private: true })
  const hidden = await as('bob', 'GET', '/repos/ada/r/branches')
  const absent = await as('bob', 'GET', '/repos/ada/absent/branches')
  t.strictSame([hidden.status, hidden.text], [404, absent.text])
})

t.test('a pull request whose head repository has no folder is served', async (t) => {
  t.equal(fork.status, 201)
  const path = await gateway.pathOf('bob', 'other')
  await rename(path, `${path}.away`)
  const { status, json } = await as('ada', 'GET', '/repos/ada/other/pulls/1')
  t.match({ status, json }, { status: 200, json: { state: 'open' } })
  t.equal((await as('ada', 'GET', '/repos/bob/other/branches')).status, 503)
})

t.test('a file whose bytes are lost is 503 with a sentence', async (t) => {
  const path = '/api/packages/ada/generic/tool/1.0/tool.bin'
  const authorization = authorizationOf('ada')
  const body = Buffer.from('bytes')
  t.equal((await ask({ method: 'PUT', path, body, authorization })).status, 201)
  const { storage_key: key } = await db('blobs').where({ bytes: body.length }).first('storage_key')
  await (await openStorage(gateway.settings)).remove(key)
  const { status, text } = await ask({ path })
  t.match({ status, text }, { status: 503, text: /stored content of tool\.bin is missing/ })
})
