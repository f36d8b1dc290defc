/** Markers in the folders of repositories follow the names of owners and repositories. */

import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MARK_REPOSITORIES } from '../../../gateway/jobs/mark-repositories.js'
import { remarkRepository } from '../../../gateway/request/repository-markers.js'
import { onOneDatabase } from '../../helpers/databases.js'
import { openContext } from '../../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { aRepository } from '../../helpers/rows.js'

const { signal } = new AbortController()

/** Returns the markers of all folders, sorted, by the command in docs/operate.md. */
async function markersIn({ settings }: Pick<GatewayWithUsers, 'settings'>) {
  const page = await readFile(new URL('../../../../docs/operate.md', import.meta.url), 'utf8')
  const command = /^find .*description.*$/m.exec(page)?.[0] ?? 'false'
  const here = command.replace('/var/lib/gatehouse', settings.data.dir)
  const { stdout } = await promisify(execFile)('sh', ['-c', here])
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => line.replace(/^.*\.git\/description:/, '')).sort()
}

async function createAll({ as }: GatewayWithUsers) {
  const create = async (name: 'ada' | 'bob', path: string, body: object) => {
    const { status, text } = await as(name, 'POST', path, body)
    if (status >= 300) throw new Error(`${status} ${text}`)
  }
  await create('ada', '/user/repos', { name: 'first', auto_init: true, template: true })
  const content_base64 = Buffer.from('Text').toString('base64')
  await create('ada', '/repos/ada/first/wiki/new', { title: 'Home', content_base64 })
  await create('bob', '/repos/ada/first/forks', { name: 'fork' })
  const generate = '/repos/ada/first/generate'
  await create('bob', generate, { owner: 'bob', name: 'copy', git_content: true })
  await create('bob', generate, { owner: 'bob', name: 'empty', topics: true })
}

await onOneDatabase(
  t,
  'each new repository has a marker, which is renewed when it is renamed or transferred',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as, db, log, settings, addOrganization, ada } = gateway
    await createAll(gateway)
    const bobs = ['bob/copy', 'bob/empty', 'bob/fork']
    t.strictSame(await markersIn(gateway), ['ada/first', 'ada/first.wiki', ...bobs])

    t.equal((await as('ada', 'PATCH', '/repos/ada/first', { name: 'Second' })).status, 200)
    t.strictSame(await markersIn(gateway), ['ada/Second', 'ada/Second.wiki', ...bobs])

    await addOrganization('club', ada)
    const move = (new_owner: string) =>
      as('ada', 'POST', '/repos/ada/Second/transfer', { new_owner })
    t.equal((await move('club')).status, 202)
    t.strictSame(await markersIn(gateway), [...bobs, 'club/Second', 'club/Second.wiki'])

    t.equal(
      (await as('root', 'POST', '/admin/users/bob/rename', { new_username: 'rob' })).status,
      204,
    )
    const job = await db('jobs').where({ kind: MARK_REPOSITORIES.kind }).first('subject')
    t.equal(job?.subject, String(gateway.bob.id), 'the request leaves the folders to a job')
    const context = { db, log, settings } as Parameters<typeof MARK_REPOSITORIES.run>[0]
    await writeFile(join(await gateway.pathOf('club', 'Second'), 'description'), '')
    await MARK_REPOSITORIES.run(context, job?.subject, signal)
    const robs = ['rob/copy', 'rob/empty', 'rob/fork']
    t.strictSame(await markersIn(gateway), ['club/Second.wiki', ...robs], 'of the owner only')

    await rm(join(await gateway.pathOf('rob', 'copy'), 'description'))
    await MARK_REPOSITORIES.run(context, 'all', signal)
    t.strictSame(await markersIn(gateway), ['club/Second', 'club/Second.wiki', ...robs])
  },
)

t.test('a marker that cannot be written is logged, and a missing folder is not', async (t) => {
  const { context, fixture } = await openContext(t)
  const { id } = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, id, 'one')
  await remarkRepository(context, repository)
  t.strictSame(fixture.lines, [])
  await remarkRepository(context, { ...repository, storage: 'not a key' })
  t.match(fixture.lines, [{ level: 40, msg: 'the marker of a repository was not written' }])
})
