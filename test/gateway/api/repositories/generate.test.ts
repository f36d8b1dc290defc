/** Repositories from templates over the API. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'

await onOneDatabase(
  t,
  'a repository from a template has the requested contents of it',
  async (t, location) => {
    const { as, pathOf, addOrganization, settings, ada, db } = await startGatewayWithUsers(t, {
      location,
    })
    await addOrganization('club', ada)
    await as('ada', 'POST', '/user/repos', { name: 't', auto_init: true, template: true })
    for (const name of ['link/deep', 'other']) {
      const file = { content: Buffer.from(name).toString('base64'), message: 'More' }
      await as('ada', 'POST', `/repos/ada/t/contents/${name}`, file)
    }
    await as('ada', 'PATCH', '/repos/ada/t', { has_actions: true })
    await as('ada', 'PUT', '/repos/ada/t/topics', { topics: ['wheels', 'engines'] })
    await as('ada', 'POST', '/repos/ada/t/labels', { name: 'bug', color: '#ee0701' })
    await as('ada', 'POST', '/repos/ada/t/issues', { title: 'of the template alone' })
    t.match((await as('bob', 'GET', '/repos/ada/t')).json, { template: true })

    const generate = (name: 'ada' | 'bob' | 'anyone', body: object, from = 'ada/t') =>
      as(name, 'POST', `/repos/${from}/generate`, { owner: 'bob', name: 'mine', ...body })
    const all = { git_content: true, topics: true, labels: true }
    t.equal((await generate('anyone', all)).status, 401)
    t.match(await generate('bob', {}), { status: 422, json: { message: /at least one/ } })
    for (const name of ['webhooks', 'protected_branch']) {
      const refused = await generate('bob', { ...all, [name]: true })
      t.match(refused, { status: 422, json: { message: /does not copy/ } }, name)
    }
    t.equal((await generate('bob', { ...all, name: 'a/b' })).status, 422)
    t.equal((await generate('bob', { ...all, default_branch: 'a..b' })).status, 422)
    t.equal((await generate('bob', { ...all, owner: 'club' })).status, 403)
    t.equal((await generate('bob', { ...all, owner: 'absent' })).status, 404)

    const made = await generate('bob', { ...all, description: 'new', default_branch: 'trunk' })
    t.match(made, {
      status: 201,
      json: {
        full_name: 'bob/mine',
        description: 'new',
        default_branch: 'trunk',
        empty: false,
        fork: false,
        template: false,
        has_actions: false,
        private: false,
        topics: ['engines', 'wheels'],
        open_issues_count: 0,
        watchers_count: 1,
        permissions: { admin: true },
      },
    })
    t.match((await as('bob', 'GET', '/repos/bob/mine/labels')).json, [{ name: 'bug' }])
    const [old, path] = [await pathOf('ada', 't'), await pathOf('bob', 'mine')]
    const tree = (cwd: string, branch: string) => git(['rev-parse', `${branch}^{tree}`], { cwd })
    t.equal(await tree(path, 'trunk'), await tree(old, 'main'))
    const log = await git(['log', '--format=%an <%ae> %s', '--all'], { cwd: path })
    t.equal(log.trim(), 'bob <bob@example.com> Initial commit')
    const before = (await git(['rev-parse', 'main'], { cwd: old })).trim()
    await t.rejects(
      git(['cat-file', '-e', before], { cwd: path }),
      "the template's history is not copied",
    )
    t.notOk(existsSync(`${path}/objects/info/alternates`))
    await git(['fsck', '--strict'], { cwd: path })

    t.equal((await generate('bob', all)).status, 409)
    const bare = await generate('bob', { name: 'bare', labels: true, private: true })
    t.match(bare, { status: 201, json: { empty: true, private: true, topics: [] } })
    const input = { ...all, owner: 'club', git_hooks: true, avatar: true }
    t.equal(
      (await generate('ada', input)).status,
      201,
      'requested contents that the template lacks are ignored',
    )
    await as('ada', 'PATCH', '/repos/ada/t', { private: true })
    t.equal((await generate('bob', { ...all, name: 'second' })).status, 404)
    const kept = await generate('ada', { owner: 'ada', name: 'kept', git_content: true })
    t.match(kept.json, { private: true }, 'the repository is private by default if its template is')
    await as('ada', 'PATCH', '/repos/ada/t', { template: false })
    t.match(await generate('ada', { ...all, owner: 'ada' }), {
      status: 422,
      json: { message: 'this is not a template repo' },
    })
    const folders = dirname(dirname(path))
    const names = (
      await Promise.all((await readdir(folders)).map((name) => readdir(join(folders, name))))
    ).flat()
    t.equal(names.length, (await db('repositories').select('id')).length, 'no folder is left')
    t.ok(folders.startsWith(settings.data.dir))
  },
)
