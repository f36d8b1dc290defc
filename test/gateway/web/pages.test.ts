/** Pages in the browser: visibility, effects of forms, and redirects. */

import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import { highlightedRows } from '../../../gateway/rendering/highlight.js'
import { renderMarkdown } from '../../../gateway/rendering/markdown.js'
import { ownPath } from '../../../gateway/web/accounts/sign-in.js'
import { STYLESHEET } from '../../../gateway/web/asset-files.js'
import { parseDiff } from '../../../gateway/web/code/diff-lines.js'
import { knownDiff, readShownDiff } from '../../../gateway/web/code/shown-diff.js'
import { agoOf } from '../../../gateway/web/kit/times.js'
import { openContext, startGateway } from '../../helpers/gateway.js'
import { git as runGit } from '../../helpers/git-client.js'
import { withToken } from '../../helpers/requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const FORM = 'application/x-www-form-urlencoded'

/** Creates a gateway with a user and her password, and functions of her browser. */
async function openFixture(t: Test) {
  const gateway = await startGateway(t)
  const ada = await gateway.addUser('ada')
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
    gateway.ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': FORM, ...headers },
    })
  const signIn = async (fields: Record<string, string> = {}) => {
    const given = { user_name: 'ada', password: 'password of ada', ...fields }
    const answer = await post('/user/login', given, {})
    return { ...answer, cookie: String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? '' }
  }
  return { ...gateway, ada, post, signIn }
}

t.test(
  'a session grants access to pages of its user and to neither API, git nor tokens',
  async (t) => {
    const { ask, ada, addToken, signIn } = await openFixture(t)
    const settings = { path: '/user/settings/applications' }
    const led = await ask(settings)
    t.equal(led.status, 303)
    t.equal(led.headers.location, '/user/login?redirect_to=%2Fuser%2Fsettings%2Fapplications')
    const { status, cookie, headers } = await signIn({ redirect_to: '/user/settings/applications' })
    t.equal(status, 303)
    t.equal(headers.location, '/user/settings/applications')
    t.match((await ask({ ...settings, headers: { cookie } })).text, /<h2>Applications<\/h2>/)
    t.equal((await ask({ path: '/api/v1/user', headers: { cookie } })).status, 401)
    const { plain } = await addToken(ada, 'all')
    const authorization = withToken(plain)
    t.equal(
      (await ask({ ...settings, authorization })).status,
      303,
      'a token cannot create another',
    )
  },
)

t.test('for a missing path a browser gets a page and a program plain text', async (t) => {
  const { ask } = await openFixture(t)
  const headers = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }
  const page = await ask({ path: '/ada/tool/no/such/place', headers })
  t.match(page, { status: 404, text: /<h1>Page not found<\/h1>/ })
  for (const input of [{ path: '/ada/tool/no/such/place' }, { path: '/api/v1/none', headers }]) {
    const answer = await ask(input)
    t.match(answer, { status: 404, json: { message: String } }, input.path)
  }
})

t.test('a form of another site has no effect, and a wrong password is reported', async (t) => {
  const { ask, post, signIn } = await openFixture(t)
  const { cookie } = await signIn()
  const input = { name: 'one', scope: 'all' }
  const path = '/user/settings/applications'
  const foreign = await post(path, input, { cookie, origin: 'http://evil.example' })
  t.equal(foreign.status, 403)
  t.match(foreign.text, /Another site \(http:\/\/evil\.example\)/)
  t.notMatch((await ask({ path, headers: { cookie } })).text, /Revoke one/)
  const wrong = await signIn({ password: 'wrong <b>' })
  t.equal(wrong.status, 401)
  t.equal(wrong.cookie, '')
  t.match(wrong.text, /role="alert"/)
  const json = await ask({
    method: 'POST',
    path: '/user/login',
    body: { user_name: 'ada' },
    headers: { 'content-type': 'application/json' },
  })
  t.equal(json.status, 415)
})

t.test('a token is created once, refused with a message, and revoked', async (t) => {
  const { ask, post, signIn } = await openFixture(t)
  const { cookie } = await signIn()
  const path = '/user/settings/applications'
  const made = await post(path, { name: 'laptop', scope: 'read:user' }, { cookie })
  const [, plain = ''] = /value="([0-9a-f]{40})"/.exec(made.text) ?? []
  const user = { path: '/api/v1/user', authorization: withToken(plain) }
  t.equal((await ask(user)).status, 200)
  t.equal(made.headers['cache-control']?.includes('no-store'), true)
  for (const [fields, sentence] of [
    [{ name: 'laptop', scope: 'all' }, /used already/],
    [{ name: '', scope: 'all' }, /a name/],
    [{ name: 'x' }, /must have a scope/],
    [{ name: 'x', scope: 'sudo' }, /invalid access token scope/],
    [{ name: 'x', scope: 'all', expires: '2020-01-01' }, /not in the future/],
    [{ name: 'x', scope: 'all', expires: 'soon' }, /not a date/],
  ] as const) {
    const { status, text } = await post(path, fields, { cookie })
    t.ok(status >= 400 && status < 500, String(status))
    t.match(text, sentence)
  }
  const [, id = ''] = /name="id" value="(\d+)"/.exec(made.text) ?? []
  t.equal((await post(`${path}/delete`, { id }, { cookie })).status, 303)
  t.equal((await ask(user)).status, 401)
  t.equal((await post('/user/logout', {}, { cookie })).status, 303)
  t.equal((await ask({ path, headers: { cookie } })).status, 303, 'the session has ended')
})

t.test(
  'private repositories are 404 for others, and owners have the visibility of their setting',
  async (t) => {
    const { ask, post, signIn, addUser, addOrganization, ada } = await openFixture(t)
    await addUser('bob')
    await addOrganization('hidden', ada, 'private')
    const { cookie } = await signIn()
    const other = (await signIn({ user_name: 'bob', password: 'password of bob' })).cookie
    const made = await post(
      '/repo/create',
      { name: 'secret', private: 'on', readme: 'on' },
      { cookie },
    )
    t.equal(made.headers.location, '/ada/secret')
    const again = await post('/repo/create', { name: 'secret' }, { cookie })
    t.equal(again.status, 409)
    t.match(again.text, /same name already exists/)
    for (const path of ['/ada/secret', '/ada/secret/commits', '/ada/secret/src/branch/main']) {
      t.equal((await ask({ path, headers: { cookie } })).status, 200, path)
      const { status, text } = await ask({ path, headers: { cookie: other } })
      const missing = await ask({
        path: path.replace('secret', 'none'),
        headers: { cookie: other },
      })
      t.equal(status, 404)
      t.equal(text, missing.text)
      t.equal((await ask({ path })).status, 404, 'an anonymous visitor')
    }
    t.match((await ask({ path: '/', headers: { cookie } })).text, /ada\/secret/)
    t.notMatch((await ask({ path: '/', headers: { cookie: other } })).text, /secret/)
    t.equal((await ask({ path: '/hidden', headers: { cookie } })).status, 200)
    for (const path of ['/hidden', '/nobody']) {
      t.equal((await ask({ path, headers: { cookie: other } })).status, 404, path)
    }
    const raw = { path: '/ada/secret/raw/branch/main/README.md' }
    t.equal((await ask({ ...raw, headers: { cookie } })).status, 200, 'raw files with the session')
    t.equal((await ask({ ...raw, headers: { cookie: other } })).status, 404)
  },
)

t.test('pages are small and obey their policy, and the stylesheet is cached', async (t) => {
  const { ask } = await openFixture(t)
  const home = await ask({ path: '/user/login', headers: { 'accept-encoding': 'gzip' } })
  t.equal(home.headers['content-encoding'], 'gzip')
  t.match(gunzipSync(home.bytes).toString(), /<!doctype html>.*<h1>Sign in<\/h1>/s)
  t.match(home.headers['content-security-policy'], /default-src 'none'/)
  t.notMatch(home.headers['content-security-policy'], /unsafe|script-src/)
  const style = await ask({ path: STYLESHEET.path, headers: { 'accept-encoding': 'gzip' } })
  t.match(style.headers['cache-control'], /immutable/)
  t.ok(home.bytes.length + style.bytes.length < 50_000)
  t.equal((await ask({ path: STYLESHEET.path })).headers['content-encoding'], undefined)
})

t.test('a sign-in redirects to a path of this site only', async (t) => {
  const { context } = await openContext(t, {
    environment: { GATEHOUSE_HTTP_BASE_URL: 'http://example.com/code' },
  })
  for (const [text, path] of [
    ['/ada/r?x=1', '/ada/r?x=1'],
    ['/code/ada', '/ada'],
    ['', '/'],
    ['//google.com', '/'],
    ['/\\evil', '/'],
    ['/a/../\\example.com', '/'],
    ['https:evil', '/'],
    ['https://evil.example/', '/'],
    ['\t//evil', '/'],
    ['/a\r\nSet-Cookie: x', '/'],
    ['/user/login', '/'],
    ['/user/logout', '/'],
  ] as const) {
    t.equal(ownPath(context, text), path, text)
  }
})

t.test('a diff is parsed line by line, with names of any kind', async (t) => {
  const diff = [
    'diff --git a/a b b/a b',
    'index 1..2 100644',
    '--- a/a b',
    '+++ b/a b',
    '@@ -1,2 +1,2 @@ x',
    ' same',
    '--- removed',
    '+++ added',
    '\\ No newline at end of file',
    'diff --git a/old b/new',
    'rename from old',
    'rename to new',
    'diff --git "a/\\303\\274\\t\\".js" "b/\\303\\274\\t\\".js"',
    'new file mode 100644',
    'diff --git a/pic b/pic',
    'Binary files a/pic and b/pic differ',
    '',
  ].join('\n')
  const { files, isCut } = parseDiff(diff, 100)
  t.equal(isCut, false)
  t.strictSame(
    files.map(({ name, lines }) => [name, lines.map(({ kind }) => kind)]),
    [
      ['a b', ['hunk', 'same', 'removed', 'added', 'note']],
      ['new', ['note', 'note']],
      ['ü\t".js', ['note']],
      ['pic', ['note']],
    ],
  )
  t.match(parseDiff(diff, 2), { isCut: true, files: [{ lines: { length: 2 } }] })
  t.strictSame(parseDiff('', 2).files, [])
})

t.test('a diff that was shown is shown again without git', async (t) => {
  const { git } = (await openContext(t)).context
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const commit = async (content: string) => {
    const files = [{ name: 'a', content }]
    const author = { name: 'Ada', email: 'ada@example.com' }
    const first = { files, message: 'Begin', when: new Date(), branch: content, author }
    await commitFirstFiles(git, path, first)
    return await runGit(['rev-parse', content], { cwd: path })
  }
  const range = { from: await commit('one'), to: await commit('two') }
  t.equal(knownDiff({ path }, range), undefined)
  const { signal } = new AbortController()
  const shown = await readShownDiff({ git, path }, { ...range, signal })
  t.match(shown, {
    files: [{ name: 'a', lines: [{}, { text: '-one' }, {}, { text: '+two' }, {}] }],
  })
  t.equal(knownDiff({ path }, range), shown)
  t.equal(knownDiff({ path }, { from: range.to, to: range.from }), undefined)
  t.equal(knownDiff({ path: `${path}x` }, range), undefined)
})

t.test('each line of a file is closed HTML, and bidirectional controls are marked', async (t) => {
  const rows = highlightedRows('/* a\n   <b> */\nlet c = "\u202e"\n', 'x.ts')
  const lines = rows.split('<tr').slice(1)
  t.equal(lines.length, 3)
  for (const line of lines) {
    t.equal(line.split('<span').length, line.split('</span>').length, line)
  }
  t.match(lines[1], /hljs-comment.*&lt;b&gt;/)
  t.match(lines[2], /U\+202E/)
  t.match(highlightedRows('<b>\n', 'unknown.zzz'), /<code>&#60;b&#62;<\/code><\/td><\/tr>$/)
})

t.test('links of a README point into its repository, also with dots in the path', async (t) => {
  const revision = { commitId: '1'.repeat(40), name: undefined, objectId: '' } as never
  const place = { kind: 'branch', name: 'a/b', path: ['docs'], revision } as const
  const address = 'http://x/ada/r'
  const linkOf = (markdown: string) =>
    /(?:href|src)="([^"]*)"/.exec(renderMarkdown(markdown, { address, place }))?.[1] ?? ''
  for (const [target, href] of [
    ['x.md', `${address}/src/branch/a/b/docs/x.md`],
    ['../y', `${address}/src/branch/a/b/y`],
    ['/z', `${address}/src/branch/a/b/z`],
    ['../../../../..', `${address}/src/branch/a/b/`],
    ['#part', '#part'],
    ['https://e.example/', 'https://e.example/'],
  ] as const) {
    t.equal(linkOf(`[l](${target})`), href, target)
  }
  t.equal(linkOf('![i](i.png)'), `${address}/media/branch/a/b/docs/i.png`)
})

t.test('relative links and images of a README of a package are text', async (t) => {
  const htmlOf = (markdown: string) =>
    renderMarkdown(markdown, { address: '', place: { kind: 'package' } }).trim()
  for (const target of ['x.md', '/ada/settings', '../y', '?q', './javascript:alert(1)']) {
    t.equal(htmlOf(`[the *link*](${target})`), '<p><span>the <em>link</em></span></p>', target)
    t.equal(htmlOf(`![a<b](${target})`), '<p><span>a&lt;b</span></p>', target)
  }
  const out = 'href="https://e.example/x" rel="nofollow noopener"'
  t.equal(htmlOf('[l](https://e.example/x)'), `<p><a ${out}>l</a></p>`)
  t.match(htmlOf('![i](https://e.example/i.png)'), 'src="https://e.example/i.png"')
  t.equal(htmlOf('<img src="//e.example/i" alt="i">'), '<img alt="i" />')
})

t.test('times are shown in the largest unit', async (t) => {
  const day = 86_400_000
  for (const [agoMs, text] of [
    [0, 'just now'],
    [60_000, '1 minute ago'],
    [2 * day, '2 days ago'],
    [800 * day, '2 years ago'],
    [-3 * day, 'in 3 days'],
  ] as const) {
    t.equal(agoOf(10 * 365 * day - agoMs, 10 * 365 * day), text)
  }
})
