/** Threat: script, markup and text direction characters in user content, on every page. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  accessibilityFaults,
  addVirtualKey,
  openBrowser,
  takePictures,
} from '../helpers/browser.js'
import { packageZip } from '../helpers/composer-packages.js'
import { freePort } from '../helpers/free-port.js'
import { startGateway } from '../helpers/gateway.js'
import { git } from '../helpers/git-client.js'
import { addHostileRuns } from '../helpers/hostile-runs.js'
import { fillSettings } from '../helpers/hostile-settings.js'
import { addPerson } from '../helpers/person.js'
import { startReceiver } from '../helpers/receiver.js'
import { appOf } from '../helpers/second-factor.js'
import { aKeyLine } from '../helpers/ssh-keys.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

/** Markup that opens a dialog if a browser runs it. */
const PAYLOADS = [
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "'><img src=x onerror=alert(1)>",
  '<a href="javascript:alert(1)">x</a>',
  '</title></style></textarea><script>alert(1)</script>',
]

const README = [
  '# Hostile',
  ...PAYLOADS,
  '[x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>) [z](vbscript:x)',
  '<a href="&#106;avascript:alert(1)">entity</a>',
  '<img src="x" onerror="alert(1)"><iframe src="javascript:alert(1)"></iframe>',
  '<form action="https://evil.example"><input name="q"></form><style>*{display:none}</style>',
  '<svg><animate onbegin=alert(1) attributeName=x></svg><math><mtext><script>alert(1)</script>',
  '![out](//evil.example/x.png) [up](../../../../elsewhere) [up](/%2e%2e/%2e%2e/elsewhere)',
  '```js\n</code></pre><script>alert(1)</script>\n```',
  'turned \u202egnp.exe\u202c round',
].join('\n\n')

/** Pages with the markup of another page, which are parsed but not shown, except at full size. */
const LIKE_OTHERS = new Set([
  'branch',
  'history',
  'tags',
  'release',
  'pulls',
  'compare',
  'packagesFound',
  'ofRepository',
  'wiki page',
  'wiki pages',
  'wiki new',
  'wiki diff',
  'wiki edit',
  'missing',
  'oauth2',
  'blocked users',
  'blocked by an organization',
  'sessions',
  'organizations',
  'members',
  'teams',
  'team',
  'new team',
  'team settings',
  'new organization',
  'organization audit',
  'site hook',
  'organization values',
  'user values',
  'site values',
  'jobs',
  'site audit',
])

/** Script that returns the elements of a document that could run content of users. */
const FIND_RUNNABLE = `(html) => {
  const page = new DOMParser().parseFromString(html, 'text/html')
  const elements = 'script, iframe, object, embed, base, style, main form[action*=evil]'
  const isRunnable = ({ name, value }) => /^on/i.test(name) || /^\\s*javascript:/i.test(value)
  return [...page.querySelectorAll('*')]
    .filter((one) => one.matches(elements) || [...one.attributes].some(isRunnable))
    .map(({ outerHTML }) => outerHTML)
}`

/** Limit of a page's compressed body; together with the stylesheet it is below 50 KB. */
const PAGE_BYTES_MAX = 40_000

const HEADERS = {
  'content-security-policy': /default-src 'none'/,
  'x-content-type-options': 'nosniff',
}

t.test('no page runs user content, and all pages pass the accessibility checks', async (t) => {
  const url = `http://localhost:${await freePort()}`
  const gateway = await startGateway(t, {
    environment: {
      GATEHOUSE_HTTP_BASE_URL: url,
      GATEHOUSE_HTTP_LISTEN: url.replace('http://localhost', '127.0.0.1'),
    },
  })
  const { page, context, faults } = await (await openBrowser(t))()
  const inspect = async (name: string) => {
    t.strictSame(await accessibilityFaults(page), [], name)
    await takePictures(page, name)
  }
  await page.goto(`${url}/setup`)
  t.equal(await page.locator('h1').innerText(), 'Set up')
  await inspect('set-up')
  const ada = await addPerson(gateway, 'ada', { isAdmin: true })
  await ada.api('PATCH', '/user/settings', { full_name: PAYLOADS[1] })
  const made = { name: 'hostile', description: PAYLOADS.join(' ') }
  await ada.api('POST', '/user/repos', made)
  await ada.api('POST', '/user/repos', { name: 'empty' })
  await ada.api('PATCH', '/user/settings', { full_name: PAYLOADS[1], description: PAYLOADS[2] })
  await ada.api('POST', '/user/keys', { title: PAYLOADS[0], key: aKeyLine(PAYLOADS[1]) })
  const club = { username: 'club', full_name: PAYLOADS[0], website: PAYLOADS[2] }
  await ada.api('POST', '/orgs', { ...club, description: PAYLOADS[1] })
  await ada.api('POST', '/orgs/club/repos', made)
  await ada.api('POST', '/orgs/club/teams', { name: 'crew', description: PAYLOADS[1] })
  const copy = await newWorkingCopy(t)
  const file = '"><img src=x onerror=alert(1)>.js'
  await writeFile(join(copy.path, 'README.md'), README)
  await writeFile(join(copy.path, file), `${PAYLOADS.join('\n')}\nlet a = '\u202e' // \u2066\n`)
  await writeFile(join(copy.path, 'page.html'), '<script>alert(1)</script>')
  await writeFile(
    join(copy.path, 'picture.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
  )
  await mkdir(join(copy.path, 'deep'))
  await writeFile(join(copy.path, 'deep', 'README'), PAYLOADS.join('\n'))
  await copy.git('add', '.')
  const name = '<script>alert(1)</script>'
  await git(['commit', '-q', '-m', PAYLOADS.join('\n')], {
    cwd: copy.path,
    environment: { GIT_AUTHOR_NAME: '"onclick=alert(1)' },
  })
  const branch = '"><svg/onload=alert(1)>'
  await copy.git('branch', branch)
  await copy.git('tag', branch)
  const remote = `${url}/ada/hostile.git`.replace('://', `://ada:${ada.token}@`)
  await copy.git('push', '--quiet', remote, 'main', `refs/heads/${branch}`, `refs/tags/${branch}`)
  const head = await copy.git('rev-parse', 'HEAD')
  const topic = "'><img/src=x/onerror=alert(2)>"
  await writeFile(join(copy.path, file), PAYLOADS.toReversed().join('\n'))
  await git(['commit', '-q', '-a', '-m', PAYLOADS[0] ?? ''], { cwd: copy.path })
  const heads = [topic, `${topic}2`].map((name) => `HEAD:refs/heads/${name}`)
  await copy.git('push', '--quiet', remote, ...heads)
  const whole = `${url}/api/packages/ada/generic/tool/1.0/tool.txt`
  const headers = { Authorization: `token ${ada.token}` }
  t.equal((await fetch(whole, { method: 'PUT', body: 'x', headers })).status, 201)
  const hostileVersion = whole.replace('1.0', encodeURIComponent(branch))
  t.equal((await fetch(hostileVersion, { method: 'PUT', body: 'x', headers })).status, 201)
  const rule = { keep_pattern: topic }
  t.equal((await ada.api('PUT', '/packages/ada/-/cleanup-rules/generic', rule)).status, 200)
  const pattern = { type: 'cran', pattern: branch }
  t.equal((await ada.api('POST', '/packages/ada/-/protections', pattern)).status, 201)

  const hostile = {
    name: 'acme/hostile',
    version: '1.0.0',
    description: PAYLOADS.join(' '),
    homepage: 'javascript:alert(1)',
    license: PAYLOADS[0],
    authors: [{ name: PAYLOADS[2] }],
    suggest: { 'acme/base': PAYLOADS[1] },
  }
  const registry = `${url}/api/packages/ada/composer`
  const zipped = new Uint8Array(packageZip(hostile, { files: { 'README.md': README } }))
  t.equal((await fetch(registry, { method: 'PUT', body: zipped, headers })).status, 201)

  const { body: application } = await ada.api('POST', '/user/applications/oauth2', {
    name: PAYLOADS.join(' ').slice(0, 255),
    redirect_uris: ['https://ci.example/cb?"><svg>'],
    confidential_client: true,
  })
  const clientId = (application as { client_id: string }).client_id

  const receiver = await startReceiver(t, {
    answer: (response) => response.writeHead(200, { 'X-Hostile': name }).end(PAYLOADS.join('\n')),
  })
  const guest = await addPerson(gateway, 'guest')
  await guest.api('POST', '/user/repos', { name: 'given', description: PAYLOADS.join(' ') })
  await guest.api('POST', '/repos/guest/given/transfer', { new_owner: 'club' })
  const settings = await fillSettings({ owner: ada, guest, receiver, payloads: PAYLOADS })
  const api = `/repos/ada/hostile`
  const said = { title: PAYLOADS[4], body: README }
  const label = await ada.api('POST', `${api}/labels`, { name: PAYLOADS[1], color: '#ff0000' })
  await ada.api('POST', `${api}/milestones`, { title: PAYLOADS[2] })
  const issue = await ada.api('POST', `${api}/issues`, {
    ...said,
    labels: [(label.body as { id: number }).id],
    milestone: 1,
    assignees: ['ada'],
  })
  const comment = await ada.api('POST', `${api}/issues/1/comments`, { body: README })
  await ada.api('POST', `${api}/issues/1/times`, { time: 3_600 })
  t.strictSame([issue.status, comment.status], [201, 201])
  const opened = { ...said, head: topic, base: branch }
  const review = { event: 'COMMENT', body: README, comments: [{ path: file, body: README }] }
  const pull = await ada.api('POST', `${api}/pulls`, opened)
  const given = await ada.api('POST', `${api}/pulls/2/reviews`, review)
  const tip = await copy.git('rev-parse', 'HEAD')
  const status = await ada.api('POST', `${api}/statuses/${tip}`, {
    context: PAYLOADS[1],
    description: PAYLOADS[2],
    state: 'failure',
  })
  t.strictSame([pull.status, given.status, status.status], [201, 200, 201])
  const release = await ada.api('POST', `${api}/releases`, {
    tag_name: branch,
    name: PAYLOADS[0],
    body: README,
  })
  const { id } = release.body as { id: number }
  const asset = `${url}/api/v1${api}/releases/${id}/assets`
  const added = await fetch(`${asset}?name=${encodeURIComponent(file)}`, {
    method: 'POST',
    body: 'x',
    headers,
  })
  t.equal(added.status, 201)
  const wiki = `${url}/ada/hostile.wiki.git`.replace('://', `://ada:${ada.token}@`)
  await writeFile(join(copy.path, `${branch.replace('/', '%2F')}.md`), README)
  await git(['add', '.'], { cwd: copy.path })
  await git(['commit', '-q', '-m', PAYLOADS[0] ?? ''], { cwd: copy.path })
  await copy.git('push', '--quiet', wiki, 'HEAD:refs/heads/main')
  const links = '[[javascript:alert(1)]] [["><img src=x onerror=alert(1)>|Home]]'
  for (const title of ['Home', '_Sidebar', '_Footer']) {
    const content = Buffer.from(`${README}\n\n${links}`).toString('base64')
    const page = { title, content_base64: content, message: PAYLOADS[1] }
    t.equal((await ada.api('POST', `${api}/wiki/new`, page)).status, 201)
  }
  const first = await copy.git('rev-parse', 'HEAD')
  const { body: written } = await ada.api('GET', `${api}/wiki/revisions/Home`)
  const [{ sha } = { sha: '' }] = (written as { commits: { sha: string }[] }).commits
  const named = encodeURIComponent(file)
  const own = '/ada/hostile'
  const pages = {
    home: '/',
    owner: '/ada',
    code: own,
    folder: `${own}/src/branch/main/deep`,
    file: `${own}/src/branch/main/${named}`,
    page: `${own}/src/branch/main/page.html`,
    branch: `${own}/src/branch/${encodeURIComponent(branch)}`,
    commits: `${own}/commits`,
    history: `${own}/commits/branch/main/${named}`,
    commit: `${own}/commit/${head}`,
    branches: `${own}/branches`,
    tags: `${own}/tags`,
    empty: '/ada/empty',
    issues: `${own}/issues`,
    issue: `${own}/issues/1`,
    newIssue: `${own}/issues/new`,
    releases: `${own}/releases`,
    runs: `${own}/actions`,
    ...(await addHostileRuns(gateway.db, { payloads: PAYLOADS, path: `${own}/actions` })),
    release: `${own}/releases/tag/${encodeURIComponent(branch)}`,
    pulls: `${own}/pulls`,
    pull: `${own}/pulls/2`,
    pullCommits: `${own}/pulls/2/commits`,
    pullFiles: `${own}/pulls/2/files`,
    chooser: `${own}/compare?base=${encodeURIComponent(branch)}`,
    compare: `${own}/compare/${encodeURIComponent(`${branch}...${topic}2`)}`,
    packages: '/ada/-/packages',
    packagesFound: `/ada/-/packages?q=${encodeURIComponent(PAYLOADS[1] ?? '')}`,
    package: '/ada/-/packages/composer/acme%2Fhostile',
    packageVersion: '/ada/-/packages/composer/acme%2Fhostile/1.0.0',
    ofRepository: `${own}/packages`,
    'package settings': '/ada/-/packages/settings',
    'cleanup rule': '/ada/-/packages/settings/rules/generic',
    offered: '/guest/given',
    'settings with a pending transfer': '/guest/given/settings',
    wiki: `${own}/wiki`,
    'wiki page': `${own}/wiki/${encodeURIComponent(branch)}`,
    'wiki pages': `${own}/wiki/_pages`,
    'wiki history': `${own}/wiki/Home/_history`,
    'wiki diff': `${own}/wiki/Home/_diff?from=${first}&to=${sha}`,
    'wiki edit': `${own}/wiki/Home/_edit`,
    'wiki new': `${own}/wiki/_new`,
    missing: `/ada/${encodeURIComponent(name)}`,
    raw: `${own}/raw/branch/main/page.html`,
    svg: `${own}/raw/branch/main/picture.svg`,
    applications: '/user/settings/applications',
    oauth2: '/user/settings/oauth2',
    authorize: `/login/oauth/authorize?client_id=${clientId}&response_type=code&state=%22%3E%3Csvg+onload=alert(1)%3E`,
    profile: '/user/settings/profile',
    password: '/user/settings/password',
    'ssh-keys': '/user/settings/keys',
    'gpg-keys': '/user/settings/gpg',
    'blocked users': '/user/settings/blocked_users',
    'blocked by an organization': '/org/club/settings/blocked_users',
    sessions: '/user/settings/sessions',
    organizations: '/user/settings/organizations',
    organization: '/org/club/settings',
    members: '/org/club/members',
    teams: '/org/club/teams',
    team: '/org/club/teams/Owners',
    'new team': '/org/club/teams/new',
    'team settings': '/org/club/teams/crew/settings',
    'new organization': '/org/create',
    create: '/repo/create',
    security: '/user/settings/security',
    audit: '/user/settings/audit',
    'organization audit': '/org/club/settings/audit',
    ...settings,
    users: '/admin/users',
    user: '/admin/users/ada',
    settings: '/admin/settings',
    jobs: '/admin/jobs',
    cache: '/admin/cache',
    'site audit': '/admin/audit',
    'site runners': '/admin/actions/runners',
  }
  const login = `${url}/user/login?redirect_to=%22%3E%3Csvg+onload=alert(1)%3E`
  await page.goto(login)
  await inspect('login')
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.goto(url + pages.applications)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel(/Packages: install/).check()
  await page.getByRole('button', { name: 'Create token' }).click()
  for (const [name, path] of Object.entries(pages)) {
    if (!isFullSize && LIKE_OTHERS.has(name)) {
      const response = await context.request.get(url + path)
      t.match(response.headers(), HEADERS, name)
      const html = await response.text()
      t.match(html, '</html>', name)
      t.strictSame(await page.evaluate(`(${FIND_RUNNABLE})(${JSON.stringify(html)})`), [], name)
      continue
    }
    // `goto` rejects if the browser downloads the reply instead of showing it.
    const response = await page.goto(url + path).catch(() => undefined)
    const headers = (await response?.allHeaders()) ?? {}
    if (name === 'raw' || name === 'svg') {
      t.match(headers['content-security-policy'] ?? 'sandbox', /sandbox/, name)
      continue
    }
    t.match(headers, HEADERS, name)
    const { responseBodySize = 0 } = (await response?.request().sizes()) ?? {}
    t.ok(responseBodySize > 0 && responseBodySize < PAGE_BYTES_MAX, `${name}: ${responseBodySize}`)
    for (const closed of await page.locator('main .list details > summary').all()) {
      await closed.click()
    }
    await inspect(name)
    t.equal(await page.locator('script, iframe, main form[action*=evil]').count(), 0, name)
  }
  await page.goto(url + pages.settings)
  await page.getByRole('button', { name: 'Switch registration on' }).click()
  await page.goto(url + pages.runners)
  await page.getByRole('button', { name: 'Make a registration token' }).click()
  await inspect('runner-token')
  await page.goto(url + pages.security)
  await page.getByLabel('Your password').fill(ada.password)
  await page.getByRole('button', { name: 'Set up' }).click()
  await inspect('security-secret')
  const app = appOf(await page.getByLabel('Secret').inputValue())
  await page.getByLabel(/Code that the app shows/).fill(app.code())
  await page.getByRole('button', { name: 'Switch on' }).click()
  await inspect('security-codes')
  await addVirtualKey(context, page)
  const [keyName = ''] = PAYLOADS
  await page.getByLabel('Name of the key').fill(keyName)
  const adding = page.locator('form', { has: page.getByLabel('Name of the key') })
  await adding.getByLabel(/Your password/).fill(ada.password)
  await page.getByRole('button', { name: 'Add a key' }).click()
  await page.getByRole('button', { name: 'Register the key' }).waitFor()
  await inspect('security-key')
  await page.getByRole('button', { name: 'Register the key' }).click()
  await page.getByText('not used yet').waitFor()
  await inspect('security-keys')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.goto(`${url}/user/sign_up`)
  await inspect('sign-up')
  await page.goto(login)
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await inspect('two-factor')
  await page.getByLabel(/Code from your app/).fill(app.code(1))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.goto(url + pages.code)
  const readme = page.locator('.readme')
  t.match(await readme.innerText(), /U\+202E/, 'text direction characters are shown as escapes')
  for (const link of await readme.locator('a').all()) {
    const href = (await link.getAttribute('href')) ?? ''
    t.match(href, new RegExp(`^$|^${own}/src/branch/main/`), href)
  }
  t.strictSame(faults, [])
})
