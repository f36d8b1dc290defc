/** Wiki pages over the API: names, contents, revisions, permissions and events. */

import t, { type Test } from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { wikiOf } from '../../../../sql/repositories/wikis.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'

const base64 = (text: string) => Buffer.from(text).toString('base64')

async function scene(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const { as, db, settings } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'POST', '/user/repos', { name: 'hidden', private: true })
  const wiki = async (
    name: 'ada' | 'bob' | 'anyone',
    method: string,
    path: string,
    body?: unknown,
  ) => await as(name, method, `/repos/ada/r/wiki/${path}`, body)
  const add = (title: string, content = title, message?: string) =>
    wiki('ada', 'POST', 'new', { title, content_base64: base64(content), message })
  /** Runs git in the folder of the wiki. */
  const inside = async (args: readonly string[], input?: string) => {
    const repository = await findRepository(db, 'ada', 'r')
    if (repository === undefined) throw new Error('no repository')
    const cwd = repositoryPath(settings.data.dir, wikiOf(repository).storage)
    return await git(args, { cwd, ...(input === undefined ? {} : { input }) })
  }
  return { ...gateway, wiki, add, inside }
}

t.test('a page is created, read, edited, renamed and deleted by commits', async (t) => {
  const { wiki, add, inside } = await scene(t)
  t.equal((await wiki('anyone', 'GET', 'pages')).status, 404, 'nothing was written yet')
  t.equal((await wiki('ada', 'DELETE', 'page/Home')).status, 404)
  const made = await add('Home Page', 'first')
  t.match(made, {
    status: 201,
    json: {
      title: 'Home Page',
      html_url: 'http://code.example.com/ada/r/wiki/Home-Page',
      sub_url: 'Home-Page',
      content_base64: base64('first'),
      commit_count: 1,
      sidebar: '',
      footer: '',
      last_commit: {
        message: 'Add "Home Page"',
        author: { name: 'ada', date: /^\d{4}-.*Z$/ },
        commiter: { name: 'ada' },
      },
    },
  })
  t.equal(await inside(['show', 'main:Home-Page.md']), 'first')
  await add('_Sidebar', 'side')
  await add('_Footer', 'foot', 'Begin the footer')
  const edited = await wiki('ada', 'PATCH', 'page/Home-Page', { content_base64: base64('second') })
  t.match(edited, {
    status: 200,
    json: { commit_count: 2, sidebar: base64('side'), footer: base64('foot') },
  })
  const rename = { title: 'Start', content_base64: base64('third'), message: 'Move it' }
  t.match((await wiki('ada', 'PATCH', 'page/Home-Page', rename)).json, {
    title: 'Start',
    commit_count: 1,
    last_commit: { message: 'Move it' },
  })
  t.equal((await wiki('anyone', 'GET', 'page/Home-Page')).status, 404)
  t.match((await wiki('anyone', 'GET', 'page/Start')).json, { content_base64: base64('third') })
  t.equal((await wiki('ada', 'DELETE', 'page/Start')).status, 204)
  t.equal((await wiki('ada', 'DELETE', 'page/Start')).status, 404)
  t.equal(await inside(['log', '-1', '--format=%s', 'main']), 'Delete page "Start"')
  const upsert = await wiki('ada', 'PATCH', 'page/New-One', { content_base64: base64('x') })
  t.match(upsert, { status: 200, json: { title: 'New One' } }, 'as in Gitea')
})

t.test('a title that exists or is not permitted is refused without a commit', async (t) => {
  const { wiki, add, inside } = await scene(t)
  await add('Home')
  await add('Other')
  const before = await inside(['rev-parse', 'main'])
  const refused = async (title: unknown, message: RegExp) =>
    t.match(await wiki('ada', 'POST', 'new', { title }), { status: 400, json: { message } })
  await refused('Home', /^wiki page already exists \[title: Home\]$/)
  await refused('_pages', /^wiki title is reserved: _pages$/)
  await refused('a\nb', /no control characters/)
  await refused('..', /neither blank nor/)
  await refused(undefined, /neither blank/)
  await refused('ä'.repeat(100), /too long/)
  const taken = await wiki('ada', 'PATCH', 'page/Home', { title: 'Other', content_base64: '' })
  t.match(taken, { status: 400, json: { message: /already exists/ } })
  const malformed = await wiki('ada', 'POST', 'new', { title: 'x', content_base64: '!' })
  t.match(malformed, { status: 400, json: { message: 'content is not base64' } })
  t.equal(await inside(['rev-parse', 'main']), before)
})

t.test('names with slashes, dashes, plus signs and dots are read back by sub_url', async (t) => {
  const { wiki, add, inside } = await scene(t)
  const titles = [
    '../x',
    '.git',
    'a/b',
    'C++',
    '2000-01-02 meeting',
    '100% Free',
    '--all',
    ':(top)',
  ]
  for (const title of titles) {
    const { sub_url: segment } = (await add(title)).json as { sub_url: string }
    const { json } = await wiki('anyone', 'GET', `page/${segment}`)
    t.match(json, { title, sub_url: segment, content_base64: base64(title), commit_count: 1 })
  }
  const { json, headers } = await wiki('anyone', 'GET', 'pages?limit=3&page=2')
  t.equal((json as unknown[]).length, 3)
  t.equal(headers['x-total-count'], String(titles.length))
  t.match(headers.link, /rel="next"/)
  await inside(['fsck', '--strict'])
  const listed = (await wiki('anyone', 'GET', 'pages')).json as { title: string }[]
  t.strictSame(listed.map(({ title }) => title).sort(), titles.toSorted())
})

t.test('pages that were pushed are found by the names that their authors gave them', async (t) => {
  const { wiki, add, inside } = await scene(t)
  await add('Home')
  const files = ['Home Page.md', 'docs/Inner.md', 'picture.png', 'bad%zz.md', '.md']
  const parts = files.map((file) => `M 100644 inline ${JSON.stringify(file)}\ndata 1\nx\n`)
  const head = 'commit refs/heads/main\ncommitter a <a@b> 9999999999999 +0900\ndata 1\nx\n'
  await inside(
    ['fast-import', '--quiet', '--force', '--date-format=raw-permissive'],
    `${head}from refs/heads/main^0\n${parts.join('')}\n`,
  )
  t.match((await wiki('anyone', 'GET', 'page/Home-Page')).json, { title: 'Home Page' })
  t.match((await wiki('anyone', 'GET', 'page/docs%2FInner')).json, { title: 'docs/Inner' })
  t.equal((await wiki('anyone', 'GET', 'page/picture.png')).status, 404)
  const { json } = await wiki('anyone', 'GET', 'pages')
  t.strictSame(
    (json as { title: string }[]).map(({ title }) => title),
    ['Home Page', 'Home', 'bad%zz'],
  )
  const edit = { content_base64: base64('y') }
  t.equal((await wiki('ada', 'PATCH', 'page/Home-Page', edit)).status, 200)
  t.equal(await inside(['show', 'main:Home Page.md']), 'y', 'the file keeps its name')
})

t.test('revisions of a page are listed with their number', async (t) => {
  const { wiki, add } = await scene(t)
  await add('Home')
  await add('Other')
  for (const text of ['two', 'three']) {
    await wiki('ada', 'PATCH', 'page/Home', { content_base64: base64(text), message: text })
  }
  const { json, headers } = await wiki('anyone', 'GET', 'revisions/Home')
  const { commits, count } = json as { commits: { message: string }[]; count: number }
  t.strictSame([count, headers['x-total-count']], [3, '3'])
  t.strictSame(
    commits.map(({ message }) => message),
    ['three\n', 'two\n', 'Add "Home"\n'],
  )
  t.strictSame((await wiki('anyone', 'GET', 'revisions/Home?page=2')).json, {
    commits: [],
    count: 3,
  })
  t.equal((await wiki('anyone', 'GET', 'revisions/Absent')).status, 404)
})

t.test('a wiki without the file of HEAD is read from the branch master', async (t) => {
  const { wiki, add, inside } = await scene(t)
  await add('Home')
  await inside(['branch', '-m', 'main', 'master'])
  await inside(['symbolic-ref', 'HEAD', 'refs/heads/main'])
  t.equal((await wiki('anyone', 'GET', 'page/Home')).status, 200)
  t.equal((await add('Second')).status, 201)
  t.equal(await inside(['for-each-ref', '--format=%(refname)']), 'refs/heads/master')
})

t.test(
  'readers cannot write, and a hidden or disabled wiki looks like a missing one',
  async (t) => {
    const { as, wiki, add } = await scene(t)
    await add('Home')
    const body = { title: 'x', content_base64: '' }
    for (const [method, path] of [
      ['POST', 'new'],
      ['PATCH', 'page/Home'],
      ['DELETE', 'page/Home'],
    ] as const) {
      t.equal((await wiki('bob', method, path, body)).status, 403, method)
      t.equal((await wiki('anyone', method, path, body)).status, 401, method)
    }
    await as('ada', 'POST', '/repos/ada/hidden/wiki/new', body)
    for (const path of ['page/x', 'pages', 'revisions/x']) {
      const answers = await Promise.all(
        ['hidden', 'absent'].map((name) => as('bob', 'GET', `/repos/ada/${name}/wiki/${path}`)),
      )
      t.strictSame(
        answers.map(({ status, json }) => [status, json]),
        [
          [404, answers[0]?.json],
          [404, answers[0]?.json],
        ],
      )
    }
    await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
    t.equal((await add('y')).status, 423)
    await as('ada', 'PATCH', '/repos/ada/r', { archived: false, has_wiki: false })
    t.equal((await wiki('ada', 'GET', 'page/Home')).status, 404)
    t.equal((await add('y')).status, 404)
    t.match((await as('ada', 'PATCH', '/repos/ada/r', { has_wiki: true })).json, { has_wiki: true })
    t.equal((await wiki('ada', 'GET', 'page/Home')).status, 200)
  },
)

t.test('a changed page of a wiki sends the event wiki and no push', async (t) => {
  const { as, wiki, add, db } = await scene(t)
  const config = { url: 'http://x.example', content_type: 'json' }
  const hook = { type: 'gitea', active: true, config, events: ['wiki', 'push', 'create'] }
  await as('ada', 'POST', '/repos/ada/r/hooks', hook)
  await add('Home Page')
  await wiki('ada', 'PATCH', 'page/Home-Page', { content_base64: base64('x'), message: 'Why' })
  await wiki('ada', 'DELETE', 'page/Home-Page')
  const rows: { event: string; payload: string }[] = await db('webhook_deliveries')
    .orderBy('id')
    .select('event', 'payload')
  t.match(
    rows.map(({ event, payload }) => [event, JSON.parse(payload)]),
    [
      ['created', 'Add "Home Page"'],
      ['edited', 'Why'],
      ['deleted', 'Delete page "Home-Page"'],
    ].map(([action, comment]) => [
      'wiki',
      {
        action,
        page: 'Home-Page',
        comment,
        repository: { full_name: 'ada/r' },
        sender: { login: 'ada' },
      },
    ]),
  )
  t.equal(rows.length, 3)
})
