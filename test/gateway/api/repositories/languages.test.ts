/** Bytes per language of a repository, without vendored files. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

t.test('languages are ordered by bytes', async (t) => {
  const { get, as, copy, push } = await startGatewayWithRepository(t)
  await mkdir(join(copy.path, 'vendor'))
  await copy.commit('vendor/x.c', 'x'.repeat(1_000))
  await copy.commit('a.py', 'x'.repeat(30))
  await push('main')
  const { json } = await get('languages')
  t.strictSame(Object.entries(json as object), [
    ['Python', 30],
    ['HTML', 25],
    ['TypeScript', 10],
  ])
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  t.match(await as('bob', 'GET', '/repos/ada/empty/languages'), { status: 200, json: {} })
})
