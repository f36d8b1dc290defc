/** Tags over the API: lightweight and annotated ones are created as by git. */

import t, { type Test } from 'tap'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'

async function scene(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  const path = await gateway.pathOf('ada', 'r')
  const inside = (...args: readonly string[]) => git(args, { cwd: path })
  const tags = (name: Name, method: string, rest = '', body?: unknown) =>
    gateway.as(name, method, `/repos/ada/r/tags${rest}`, body)
  return { ...gateway, inside, tags, tip: await inside('rev-parse', 'main') }
}

t.test('a tag without a message is lightweight and one with a message is annotated', async (t) => {
  const { tags, inside, tip } = await scene(t)
  const light = await tags('ada', 'POST', '', { tag_name: 'v1' })
  t.match(light, { status: 201, json: { name: 'v1', id: tip, commit: { sha: tip } } })
  t.equal(await inside('cat-file', '-t', 'v1'), 'commit')
  const message = 'Two\n\nmore'
  const full = await tags('ada', 'POST', '', { tag_name: 'r/v2', message, target: 'v1' })
  const id = await inside('rev-parse', 'refs/tags/r/v2')
  t.match(full, { status: 201, json: { name: 'r/v2', message, id, commit: { sha: tip } } })
  t.match(
    await inside('cat-file', 'tag', 'r/v2'),
    new RegExp(
      `^object ${tip}\ntype commit\ntag r/v2\ntagger ada <ada@example.com> \\d+ \\+0000\n\nTwo\n\nmore$`,
    ),
  )
  await inside('fsck', '--strict', '--full')
  t.match(await tags('ada', 'DELETE', '/r%2Fv2'), { status: 204, text: '' })
  t.match(await tags('ada', 'DELETE', '/v1'), { status: 204 })
  t.match(await tags('ada', 'DELETE', '/v1'), { status: 404 })
  t.match(await tags('ada', 'DELETE', '/-d'), { status: 404 })
  t.equal(await inside('tag'), '')
})

t.test('an invalid tag is refused with its reason', async (t) => {
  const { tags, inside, as } = await scene(t)
  await tags('ada', 'POST', '', { tag_name: 'v1' })
  const refused = async (body: unknown, status: number, message: string | RegExp) =>
    t.match(
      await tags('ada', 'POST', '', body),
      { status, json: { message } },
      JSON.stringify(body),
    )
  await refused({ tag_name: 'v1' }, 409, 'tag exist')
  await refused({ tag_name: 'v1/x', message: 'x' }, 409, 'tag exist')
  await refused({ tag_name: 'v2', target: 'absent' }, 404, 'target not found')
  await refused({ tag_name: 'v2', target: '--help' }, 404, 'target not found')
  await refused({}, 422, '[TagName]: Required')
  for (const tag_name of ['-d', '--help', '-F/etc/passwd', '../../x', 'a b', 'x'.repeat(201)]) {
    await refused({ tag_name }, 422, /tag name/)
  }
  t.match(await tags('bob', 'POST', '', { tag_name: 'v2' }), { status: 403 })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  await refused({ tag_name: 'v2' }, 423, 'repo is archived')
  t.match(await tags('ada', 'DELETE', '/v1'), { status: 423 })
  t.equal(await inside('tag'), 'v1')
})

t.test('the longest accepted tag name can be stored by git', async (t) => {
  const { tags } = await scene(t)
  const tag_name = 'x'.repeat(200)
  t.match(await tags('ada', 'POST', '', { tag_name }), { status: 201 })
  t.match(await tags('ada', 'DELETE', `/${tag_name}`), { status: 204 })
})
