/** Pages of a wiki: contents, list, revisions, forms and permissions. */

import t, { type Test } from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { postForm, seeRendered, signIn } from '../../../helpers/web-forms.js'

async function scene(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const cookies = { ada: await signIn(gateway, 'ada'), bob: await signIn(gateway, 'bob') }
  const see = (path: string, name?: 'ada' | 'bob') =>
    ask({ path: `/ada/r${path}`, headers: name === undefined ? {} : { cookie: cookies[name] } })
  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    name: 'ada' | 'bob' = 'ada',
  ) =>
    postForm(gateway, `/ada/r/wiki${path}`, fields, {
      cookie: cookies[name],
      origin: 'http://code.example.com',
    })
  const add = (title: string, content: string) => post('/_new', { title, content, message: '' })
  return { ...gateway, see, post, add }
}

t.test('a page is written, shown with its parts, renamed and deleted by forms', async (t) => {
  const { see, post, add } = await scene(t)
  t.match((await see('/wiki')).text, 'There is no page Home yet.')
  t.match((await see('/wiki/_pages')).text, 'There are no pages yet.')
  const made = await add('Home', '# Hello\n\n[[Second Page]] ![p](p.png)')
  t.match(made, { status: 303, headers: { location: '/ada/r/wiki/Home' } })
  await add('_Sidebar', 'the *side*')
  await add('_Footer', 'the *foot*')
  await add('Second Page', 'two')
  const { text } = await seeRendered(() => see('/wiki'))
  t.match(text, /<h2>Home<\/h2>.*<h3>Hello<\/h3>.*the <em>side<\/em>.*the <em>foot<\/em>/s)
  t.match(text, 'href="/ada/r/wiki/Second-Page"')
  t.match(text, 'src="/ada/r/wiki/raw/p.png"')
  t.notMatch(text, /New page|_edit/, 'for a visitor who cannot write')
  t.match((await see('/wiki/Home', 'ada')).text, /New page.*\/wiki\/Home\/_edit/s)
  t.match((await see('/wiki/_pages')).text, /_Footer.*_Sidebar|_Sidebar.*_Footer/s)

  t.match((await see('/wiki/Second-Page/_edit', 'ada')).text, /value="Second Page".*two/s)
  const fields = { title: 'Third', content: 'three', message: 'Because <b>' }
  t.match(await post('/Second-Page/_edit', fields), {
    status: 303,
    headers: { location: /Third$/ },
  })
  t.equal((await see('/wiki/Second-Page')).status, 404)
  t.match((await see('/wiki/Third/_history')).text, 'Because &lt;b>')
  await post('/Third/_edit', { ...fields, content: 'three\n<b>four' })
  const revisions = (await see('/wiki/Third/_history')).text
  const [to, from] = [...revisions.matchAll(/name="from" value="(\w+)"/g)].map(([, id]) => id)
  const diff = (await see(`/wiki/Third/_diff?from=${from}&to=${to}`)).text
  t.match(diff, /1 file changed.*removed">-three.*added">\+&lt;b>four/s)
  for (const query of [
    '',
    `?from=${from}`,
    `?from=HEAD&to=${to}`,
    `?from=${'0'.repeat(40)}&to=${to}`,
  ]) {
    t.equal((await see(`/wiki/Third/_diff${query}`)).status, 404, query)
  }
  t.match((await see(`/wiki/Home/_diff?from=${from}&to=${to}`)).text, '0 files changed')
  t.equal((await see(`/wiki/None/_diff?from=${from}&to=${to}`)).status, 404)
  t.match(await post('/Third/_edit', { ...fields, title: 'Home' }), {
    status: 400,
    text: /wiki page already exists.*three/s,
  })
  t.match(await post('/Third/_delete', { confirm: 'x' }), { status: 422, text: /Not confirmed/ })
  t.equal((await post('/Third/_delete', { confirm: 'Third' })).status, 303)
  t.equal((await see('/wiki/Third')).status, 404)
  const again = await post('/_new', { title: 'Home', content: 'kept', message: '' })
  t.match(again, { status: 400, text: /already exists.*kept/s })
})

t.test('a file of the wiki is sent with headers that keep it from running', async (t) => {
  const { see, add } = await scene(t)
  await add('Home', '<script>')
  const raw = await see('/wiki/raw/Home.md')
  t.match(raw, { status: 200, text: '<script>' })
  t.match(raw.headers['content-security-policy'], /sandbox/)
  t.equal((await see('/wiki/raw/absent.png')).status, 404)
  t.equal((await see('/wiki/raw/..%2f..%2fHEAD')).status, 404)
})

t.test('pages of a wiki are refused to users without permission, or if it is off', async (t) => {
  const { as, see, post, add } = await scene(t)
  await add('Home', 'text')
  t.equal((await see('/wiki/_new', 'bob')).status, 403)
  t.equal((await post('/_new', { title: 'x', content: '' }, 'bob')).status, 403)
  t.equal((await post('/Home/_edit', { title: 'x', content: '' }, 'bob')).status, 403)
  t.equal((await post('/Home/_delete', { confirm: 'Home' }, 'bob')).status, 403)
  t.match((await see('/wiki')).text, /aria-current="page"[^>]*>Wiki|>Wiki<\/a>/)
  await as('ada', 'PATCH', '/repos/ada/r', { has_wiki: false })
  for (const path of ['/wiki', '/wiki/Home', '/wiki/_pages', '/wiki/raw/Home.md']) {
    t.equal((await see(path, 'ada')).status, 404, path)
  }
  t.notMatch((await see('', 'ada')).text, '/ada/r/wiki')
  await as('ada', 'PATCH', '/repos/ada/r', { has_wiki: true, private: true })
  const missing = await see('/../absent/wiki', 'bob')
  t.equal((await see('/wiki/Home', 'bob')).status, missing.status)
})

t.test('a page that is too large for a form names the limit', async (t) => {
  const { as, see } = await scene(t)
  const content_base64 = Buffer.alloc(524_289, 'x').toString('base64')
  await as('ada', 'POST', '/repos/ada/r/wiki/new', { title: 'Home', content_base64 })
  for (const path of ['/wiki/Home', '/wiki/Home/_edit']) {
    t.match(await see(path, 'ada'), { status: 413, text: /larger than 524288 bytes/ }, path)
  }
})
