/** Sign-in with OAuth2 in a browser: git with git-credential-oauth, and a web site. */

import { execFile } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { type Test, t } from 'tap'
import { openBrowser } from '../helpers/browser.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { installProgram } from '../helpers/programs.js'
import { startReceiver } from '../helpers/receiver.js'
import { temporaryFolder } from '../helpers/temporary.js'

const HELPER = join(await installProgram('git-credential-oauth'), 'usr/bin/git-credential-oauth')
const GIT_CREDENTIAL_OAUTH = 'a4792ccc-144e-407e-86c9-5e7d8d9c3269'

const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')
const visit = await openBrowser(t)

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Installs an xdg-open that, instead of a browser, reports the URL that it should open. */
async function aDesktop(t: Test) {
  const folder = await temporaryFolder(t)
  const fifo = join(folder, 'opened')
  await promisify(execFile)('mkfifo', [fifo])
  const program = join(folder, 'xdg-open')
  await writeFile(program, `#!/bin/sh\nprintf %s "$1" >'${fifo}'\n`)
  await chmod(program, 0o755)
  const environment = { HOME: folder, PATH: `${folder}:${process.env['PATH']}`, DISPLAY: ':0' }
  return { folder, environment, opened: () => readFile(fifo, 'utf8') }
}

t.test('git clones a private repository after the user authorizes it in a browser', async (t) => {
  await ada.api('POST', '/user/repos', { name: 'secret', private: true, auto_init: true })
  const { folder, environment, opened } = await aDesktop(t)
  const own = (name: string, value: string) => [
    '-c',
    `credential.${gatehouse.url}.${name}=${value}`,
  ]
  const options = [
    '-c',
    'credential.helper=',
    '-c',
    'credential.helper=store',
    '-c',
    `credential.helper=${HELPER}`,
    ...own('oauthClientId', GIT_CREDENTIAL_OAUTH),
    ...own('oauthAuthURL', '/login/oauth/authorize'),
    ...own('oauthTokenURL', '/login/oauth/access_token'),
    ...own('oauthScopes', 'write:repository'),
  ]
  const cloning = tryGit([...options, 'clone', '-q', `${gatehouse.url}/ada/secret.git`, 'copy'], {
    cwd: folder,
    environment,
    timeoutMs: 60_000,
  })
  const { page, faults } = await visit({ hasScripts: false })
  await page.goto(await opened())
  await signIn(page, ada.password)
  t.match(
    await page.locator('main').innerText(),
    /Authorize git-credential-oauth to use.*repositories/s,
  )
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/?\?code=goc_/)
  const { exitCode, errorText } = await cloning
  t.equal(exitCode, 0, errorText)
  const copy = { cwd: join(folder, 'copy'), environment }
  await git(['commit', '-q', '--allow-empty', '-m', 'by hand'], copy)
  await git([...options, 'push', '-q', 'origin', 'HEAD:refs/heads/topic'], copy)

  await page.goto(`${gatehouse.url}/user/settings/oauth2`)
  await page.getByRole('button', { name: 'Revoke git-credential-oauth' }).click()
  t.match(await page.locator('main').innerText(), /There are no authorized applications/)
  const plain = ['-c', 'credential.helper=', '-c', 'credential.helper=store']
  const late = await tryGit([...plain, 'fetch', '-q', 'origin'], copy)
  t.not(late.exitCode, 0, 'the revoked token of git is refused')
  t.strictSame(faults, [])
})

t.test('the sign-in redirects to a web site despite the form-action policy', async (t) => {
  const { url: siteUrl } = await startReceiver(t, {
    answer: (response) => response.writeHead(200).end('the site'),
  })
  const { body } = await ada.api('POST', '/user/applications/oauth2', {
    name: 'site',
    redirect_uris: [`${siteUrl}/cb`],
    confidential_client: true,
  })
  const { client_id: clientId } = body as { client_id: string }
  const query = new URLSearchParams({ client_id: clientId, response_type: 'code', state: 's' })
  const { page, context, faults } = await visit()
  const enter = () => page.goto(`${gatehouse.url}/login/oauth/authorize?${query}`)
  await enter()
  await signIn(page, ada.password)
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.waitForURL(/\/cb\?code=goc_\w+&state=s$/)
  await enter()
  t.match(page.url(), /\/cb\?code=goc_.*&state=s$/, 'a second authorization needs no confirmation')
  await context.clearCookies()
  await enter()
  await signIn(page, ada.password)
  await page.waitForURL(/\/cb\?code=goc_\w+&state=s$/)
  t.strictSame(faults, [])
})
