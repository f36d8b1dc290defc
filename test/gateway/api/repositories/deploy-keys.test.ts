/** Deploy keys over the API: for administrators of the repository. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { findRepository, type Repository } from '../../../../sql/repositories/repositories.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { refusal, startGatewayWithUsers, visible } from '../../../helpers/gateway-with-users.js'
import { aCollaborator, aTeam } from '../../../helpers/rows.js'
import { aKeyLine } from '../../../helpers/ssh-keys.js'

const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHEYJBn7ys3OvpQlW3Qrqv5RCMQ7ISG9WeOZKB1J3LFa ci@example'

const NOT_FOUND = refusal('not found')

interface Key {
  readonly id: number
  readonly key_id: number
  readonly key: string
  readonly fingerprint: string
  readonly read_only: boolean
  readonly title: string
}

/** Creates ada's repositories `engine` and `notes`; the latter is private. */
async function openGateway(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as, db } = gateway
  const make = async (path: string, owner: string, body: { name: string; private: boolean }) => {
    await as('ada', 'POST', path, body)
    const repository = await findRepository(db, owner, body.name)
    if (repository === undefined) throw new Error('the repository was not made')
    return repository
  }
  const engine = await make('/user/repos', 'ada', { name: 'engine', private: false })
  const notes = await make('/user/repos', 'ada', { name: 'notes', private: true })
  const add = async (repository: Repository, body: object) => {
    const full = { title: 'ci', key: aKeyLine(), ...body }
    return await as('ada', 'POST', keysOf(repository), full)
  }
  return { ...gateway, make, engine, notes, add }
}

function keysOf({ owner, name }: Repository): string {
  return `/repos/${owner.name}/${name}/keys`
}

await onOneDatabase(t, 'a deploy key is added, listed, read and deleted', async (t, location) => {
  const { as, add, engine } = await openGateway(t, location)
  const keys = keysOf(engine)
  const added = await add(engine, { title: 'ci', key: `${KEY}\n`, read_only: true })
  t.equal(added.status, 201)
  const { repository, ...key } = added.json as Key & { repository: object }
  isExpected(t, key, 'api/deploy-key-created')
  t.strictSame(repository, (await as('ada', 'GET', '/repos/ada/engine')).json)
  t.strictSame((await as('ada', 'GET', `${keys}/${key.id}`)).json, added.json)
  const list = await as('ada', 'GET', keys)
  t.match(list, { status: 200, headers: { 'x-total-count': '1' } })
  t.strictSame(list.json, [added.json])
  t.match(await as('ada', 'DELETE', `${keys}/${key.id}`), { status: 204, text: '' })
  t.strictSame((await as('ada', 'GET', keys)).json, [])
  for (const id of [key.id, 0, -1, 'x', '%00', '9'.repeat(20)]) {
    for (const method of ['GET', 'DELETE']) {
      t.match(await as('ada', method, `${keys}/${id}`), { status: 404, json: NOT_FOUND }, `${id}`)
    }
  }
})

await onOneDatabase(t, 'a deploy key may write unless read_only is given', async (t, location) => {
  const { add, engine } = await openGateway(t, location)
  for (const [title, read_only] of [
    ['a', undefined] as const,
    ['b', false] as const,
    ['c', true] as const,
  ]) {
    const { json } = await add(engine, { title, read_only })
    t.equal((json as Key).read_only, read_only === true)
  }
})

await onOneDatabase(
  t,
  'one key is added to several repositories separately',
  async (t, location) => {
    const { as, add, engine, notes } = await openGateway(t, location)
    const first = (await add(engine, { key: KEY, read_only: true })).json as Key
    const other = KEY.replace('ci@example', 'ci of notes')
    const second = (await add(notes, { key: other, title: 'robot' })).json as Key
    t.equal(second.key_id, first.key_id)
    t.not(second.id, first.id)
    t.strictSame([first.key, second.key], [KEY, other], 'with the comment given for each')
    t.strictSame([first.read_only, second.read_only], [true, false])
    for (const method of ['GET', 'DELETE']) {
      const answer = await as('ada', method, `${keysOf(notes)}/${first.id}`)
      t.match(answer, { status: 404, json: NOT_FOUND }, `${method} through the other repository`)
    }
    t.equal((await as('ada', 'DELETE', '/repos/ada/engine')).status, 204)
    t.match((await as('ada', 'GET', keysOf(notes))).json, [{ id: second.id }])
  },
)

await onOneDatabase(
  t,
  'deploy keys are listed by page, key and fingerprint',
  async (t, location) => {
    const { as, add, engine, notes } = await openGateway(t, location)
    const added: Key[] = []
    for (const title of ['a', 'b', 'c']) added.push((await add(engine, { title })).json as Key)
    await add(notes, { key: added[0]?.key })
    const titles = async (query: string) => {
      const { json, headers } = await as('ada', 'GET', `${keysOf(engine)}?${query}`)
      return [(json as Key[]).map(({ title }) => title).join(), headers['x-total-count']]
    }
    t.strictSame(await titles('limit=2'), ['a,b', '3'])
    t.strictSame(await titles('limit=2&page=2'), ['c', '3'])
    const fingerprint = encodeURIComponent(added[1]?.fingerprint ?? '')
    t.strictSame(await titles(`fingerprint=${fingerprint}`), ['b', '1'])
    t.strictSame(await titles(`key_id=${added[2]?.key_id}`), ['c', '1'])
    t.strictSame(await titles(`key_id=${added[2]?.key_id}&fingerprint=${fingerprint}`), ['', '0'])
    for (const none of ['key_id=', 'key_id=0', 'key_id=x', 'fingerprint=', '']) {
      t.strictSame(await titles(none), ['a,b,c', '3'], none)
    }
    t.strictSame(await titles('key_id=-1'), ['', '0'])
  },
)

await onOneDatabase(t, 'an invalid deploy key is refused with the reason', async (t, location) => {
  const { as, add, db, engine, notes } = await openGateway(t, location)
  await as('bob', 'POST', '/user/keys', { title: 'k', key: KEY })
  const refused = async (body: object, message: string | RegExp) =>
    t.match(await add(engine, body), { status: 422, json: { message } })
  await refused({ key: KEY }, 'Key content has been used as non-deploy key')
  const key = aKeyLine('shared')
  await add(engine, { title: 'shared', key })
  await refused({ title: 'x', key }, 'This key has already been added to this repository')
  await refused({ title: 'shared' }, 'A key with the same name already exists')
  await refused({ key: `command="id" ${key}` }, /without options/)
  await refused({ key: 'x' }, /^Invalid key content: /)
  await refused({ title: undefined }, '[Title]: Required')
  await refused({ title: '\u001b[2J' }, /^A title is not blank/)
  await refused({ read_only: 'yes' }, /^\[ReadOnly\]: /)
  const asUser = await as('ada', 'POST', '/user/keys', { title: 'x', key })
  const taken = refusal('Key content has been used as non-deploy key')
  t.match(asUser, { status: 422, json: taken }, "a deploy key cannot become a user's key")
  t.equal((await add(notes, { title: 'shared', key })).status, 201)
  t.equal((await db('ssh_keys')).length, 2)
})

await onOneDatabase(
  t,
  'deploy keys are accessible to administrators of the repository only',
  async (t, location) => {
    const { as, add, db, bob, engine, notes } = await openGateway(t, location)
    const { id } = (await add(engine, {})).json as Key
    const hidden = (await add(notes, {})).json as Key
    const body = { title: 'x', key: aKeyLine() }
    const asks = (repository: Repository, keyId: number) =>
      [
        ['GET', ''] as const,
        ['POST', ''] as const,
        ['GET', `/${keyId}`] as const,
        ['DELETE', `/${keyId}`] as const,
      ].map(([method, rest]) => ({ method, path: keysOf(repository) + rest }))
    const message = 'user should be an owner or a collaborator with admin write of a repository'
    const forbidden = { status: 403, json: refusal(message) }
    for (const mode of ['none', 'read', 'write']) {
      if (mode !== 'none') await aCollaborator(db, engine, bob, mode)
      for (const { method, path } of asks(engine, id)) {
        const sent = method === 'POST' ? body : undefined
        t.match(await as('bob', method, path, sent), forbidden, `${mode}: ${method}`)
        t.equal((await as('anyone', method, path, sent)).status, 401)
      }
      await db('collaborators').delete()
    }
    for (const { method, path } of asks(notes, hidden.id)) {
      const sent = method === 'POST' ? body : undefined
      const absent = await as('bob', method, path.replace('notes', 'absent'), sent)
      t.match(absent, { status: 404, json: NOT_FOUND })
      t.strictSame(
        visible(await as('bob', method, path, sent)),
        visible(absent),
        'reported as missing',
      )
    }
    await aCollaborator(db, engine, bob, 'admin')
    t.match(await as('bob', 'POST', keysOf(engine), body), { status: 201 })
    t.match(await as('bob', 'GET', keysOf(engine)), { headers: { 'x-total-count': '2' } })
    t.equal((await as('bob', 'DELETE', `${keysOf(engine)}/${id}`)).status, 204)
    t.equal((await as('root', 'GET', keysOf(notes))).status, 200)
  },
)

await onOneDatabase(
  t,
  "teams with admin permission manage an organization's deploy keys",
  async (t, location) => {
    const { as, db, ada, bob, make, addOrganization } = await openGateway(t, location)
    const club = await addOrganization('club', ada)
    const repository = await make('/orgs/club/repos', 'club', { name: 'gear', private: true })
    const keys = keysOf(repository)
    t.equal((await as('ada', 'GET', keys)).status, 200)
    t.match(await as('bob', 'GET', keys), { status: 404, json: NOT_FOUND })
    const inputs = { organizationId: club.id, includesAll: true, memberIds: [bob.id] }
    await aTeam(db, { ...inputs, permission: 'write' })
    t.equal((await as('bob', 'GET', keys)).status, 403)
    await aTeam(db, { ...inputs, permission: 'admin' })
    const added = await as('bob', 'POST', keys, { title: 'ci', key: KEY })
    t.match(added, { status: 201, json: { repository: { full_name: 'club/gear' } } })
  },
)
