/** Imports end completely or not at all, and are aborted with their request. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Importer, importRepository } from '../../../gateway/imports/import-repository.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import { giveUpImport, listImports } from '../../../sql/repositories/repository-imports.js'
import { openContext } from '../../helpers/gateway.js'
import { aSource, FETCH_POST_NUMBER, serveSlowly } from '../../helpers/sources.js'

async function anImporter(t: Test) {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const aborting = new AbortController()
  const importer: Importer = { signal: aborting.signal, address: '192.0.2.1', client: 'ada' }
  const take = (url: string) =>
    importRepository(context, importer, {
      owner: ada,
      name: 'r',
      description: '',
      isPrivate: false,
      url: new URL(url),
      authorization: undefined,
      mirror: undefined,
      hasWiki: false,
      lfs: undefined,
      contents: undefined,
    })
  const folders = async () => {
    const top = join(fixture.settings.data.dir, 'repositories')
    if (!existsSync(top)) return []
    const shards = await readdir(top)
    return (await Promise.all(shards.map((shard) => readdir(join(top, shard))))).flat()
  }
  return { ...fixture, context, aborting, take, folders }
}

t.test('a running import reserves its name and is aborted if the client disconnects', async (t) => {
  const { db, take, aborting, folders } = await anImporter(t)
  const source = await serveSlowly(t, (await aSource(t)).url, FETCH_POST_NUMBER)
  const taking = take(source.url)
  await source.isReached()
  t.equal((await listImports(db)).length, 1)
  t.match(await folders(), [/\.git\.new-/])
  t.equal(
    await findRepository(db, 'ada', 'r'),
    undefined,
    'the repository does not exist before it is complete',
  )
  await t.rejects(take(source.url), { failure: 'conflict', message: /same name/ })
  aborting.abort()
  await t.rejects(taking)
  t.strictSame(await listImports(db), [])
  t.strictSame(await folders(), [])
})

t.test('an import that was given up by another process is not completed', async (t) => {
  const { db, take, folders } = await anImporter(t)
  const source = await serveSlowly(t, (await aSource(t)).url, FETCH_POST_NUMBER)
  const taking = take(source.url)
  await source.isReached()
  for (const found of await listImports(db)) await giveUpImport(db, found)
  source.goOn()
  await t.rejects(taking, { failure: 'unavailable', message: /was interrupted/ })
  t.equal(await findRepository(db, 'ada', 'r'), undefined)
  t.strictSame(await folders(), [])
})
