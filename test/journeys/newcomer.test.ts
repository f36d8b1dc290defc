/** The web pages without JavaScript: setup, repository, push, token, package, second factor. */

import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { t } from 'tap'
import { openBrowser } from '../helpers/browser.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { withPassword } from '../helpers/requests.js'
import { appOf } from '../helpers/second-factor.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const run = promisify(execFile)

t.test('a new user sets up the server, pushes, and adds a second factor', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 2 })
  const password = 'password of ada'
  const { page, faults } = await (await openBrowser(t))({ hasScripts: false })
  const heading = () => page.locator('h1').innerText()

  await page.goto(gatehouse.url)
  t.match(await page.locator('main').innerText(), /There are no repositories yet/)
  const namedInLog = async () =>
    /http\S+\/setup\?code=[0-9a-f]{40}/.exec(gatehouse.log())?.[0] ?? ''
  const named = await until(namedInLog, (address) => address !== '', 10_000)
  const elsewhere = { headers: { 'X-Forwarded-For': '192.0.2.1' } }
  t.equal(
    (await fetch(named, elsewhere)).status,
    200,
    'the URL in the log works from another address',
  )
  t.equal((await fetch(`${gatehouse.url}/setup`, elsewhere)).status, 404)
  await page.getByRole('link', { name: 'Create the first account' }).click()
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel(/Password/).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  t.equal((await fetch(named, elsewhere)).status, 404)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.match(await page.getByRole('alert').innerText(), /invalid username/)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.ok(await page.getByRole('button', { name: 'Sign out' }).isVisible())

  await page.getByRole('link', { name: 'New repository' }).click()
  await page.getByLabel('Name').fill('library')
  await page.getByLabel('Description').fill('Books and more')
  await page.getByLabel(/Private/).check()
  await page.getByRole('button', { name: 'Create' }).click()
  t.match(await heading(), /ada.*library.*private/s)
  t.match(await page.locator('main').innerText(), /git remote add origin/)
  const url = await page.getByLabel('Clone over HTTPS').inputValue()

  await page.goto(`${gatehouse.url}/user/settings/applications`)
  await page.getByLabel('Name').fill('laptop')
  await page.getByLabel(/Repositories: clone, push/).check()
  await page.getByLabel(/The account/).check()
  await page.getByLabel(/Packages: publish/).check()
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = await page.getByLabel(/Copy the new token/).inputValue()
  t.match(token, /^[0-9a-f]{40}$/)

  const copy = await newWorkingCopy(t)
  await copy.commit('README.md', '# Library\n\nSee [the shelf](src/shelf.ts).\n')
  await mkdir(join(copy.path, 'src'))
  await copy.commit('src/shelf.ts', "/* All\n   books */\nexport const shelf = ['<b>']\n")
  const remote = url.replace('://', `://ada:${token}@`)
  await copy.git('push', '--quiet', remote, 'main')

  await page.goto(`${gatehouse.url}/ada/library`)
  t.match(await page.locator('.readme').innerText(), /Library\s+See the shelf\./)
  await page.getByRole('link', { name: 'the shelf' }).click()
  t.match(page.url(), /\/ada\/library\/src\/branch\/main\/src\/shelf\.ts$/)
  t.match(await page.locator('#L3').innerText(), /export const shelf = \['<b>'\]/)
  await page.getByRole('link', { name: 'Commits' }).click()
  await page.locator('.list a.strong').first().click()
  t.match(await page.locator('.diff').innerText(), /\+export const shelf/)
  await page.getByRole('link', { name: 'Branches' }).click()
  t.match(await page.locator('.list').innerText(), /main/)

  const file = `${gatehouse.url}/api/packages/ada/generic/tool/1.0/tool.txt`
  const authorization = { Authorization: `token ${token}` }
  const put = await fetch(file, { method: 'PUT', headers: authorization, body: 'a tool\n' })
  t.equal(put.status, 201)
  await page.goto(`${gatehouse.url}/ada`)
  await page.getByRole('link', { name: 'Packages' }).click()
  await page.getByRole('link', { name: '1.0', exact: true }).click()
  const folder = await temporaryFolder(t)
  const command = await page.locator('pre').innerText()
  await run('/bin/sh', ['-c', command], { cwd: folder })
  t.equal(await readFile(join(folder, 'tool.txt'), 'utf8'), 'a tool\n', command)

  const apiStatus = async () =>
    (await fetch(`${gatehouse.url}/api/v1/user`, { headers: authorization })).status
  t.equal(await apiStatus(), 200)
  await page.goto(`${gatehouse.url}/user/settings/applications`)
  await page.getByRole('button', { name: 'Revoke laptop' }).click()
  t.equal(await page.getByRole('button', { name: 'Revoke laptop' }).count(), 0)
  t.equal(await apiStatus(), 401)
  t.not((await tryGit(['ls-remote', remote], { cwd: copy.path })).exitCode, 0)

  await page.getByRole('button', { name: 'Sign out' }).click()
  const hidden = await page.goto(`${gatehouse.url}/ada/library`)
  t.equal(hidden?.status(), 404, 'a private repository is answered like a missing one')
  await page.getByRole('main').getByRole('link', { name: 'sign in' }).click()
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.equal(page.url(), `${gatehouse.url}/ada/library`)

  const basic = { Authorization: withPassword('ada', password) }
  const byPassword = async () =>
    (await fetch(`${gatehouse.url}/api/v1/user`, { headers: basic })).status
  t.equal(await byPassword(), 200)
  const site = page.getByRole('navigation', { name: 'Site' })
  await site.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Security' }).click()
  await page.getByLabel('Your password').fill(password)
  await page.getByRole('button', { name: 'Set up' }).click()
  t.ok(await page.getByRole('img', { name: /QR code/ }).isVisible())
  const app = appOf(await page.getByLabel('Secret').inputValue())
  await page.getByLabel(/Code that the app shows/).fill(app.code())
  await page.getByRole('button', { name: 'Switch on' }).click()
  const recovery = (await page.locator('#recovery-codes').innerText()).trim().split('\n')
  t.equal(recovery.length, 10)
  t.equal(await byPassword(), 401)
  const otherName = gatehouse.url.replace('127.0.0.1', 'localhost')
  for (const [origin, code] of [
    [gatehouse.url, app.code(1)],
    [otherName, recovery[0] ?? ''],
  ] as const) {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto(`${origin}/user/login?redirect_to=/ada/library`)
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.equal(await heading(), 'Second factor')
    await page.getByLabel(/Code from your app/).fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.equal(page.url(), `${origin}/ada/library`)
  }
  await page.getByRole('link', { name: 'the shelf' }).click()
  t.equal(page.url(), `${otherName}/ada/library/src/branch/main/src/shelf.ts`)
  t.strictSame(faults, [], 'the style sheet is permitted under each name')
})
