/** Security keys, with a virtual authenticator of Chromium: add, sign in, remove. */

import t from 'tap'
import { accessibilityFaults, addVirtualKey, openBrowser } from '../helpers/browser.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { appOf } from '../helpers/second-factor.js'

t.test('a user signs in with a security key instead of a code', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 2, host: 'localhost' })
  const ada = await gatehouse.addUser('ada')
  const visit = await openBrowser(t)
  const { page, context, faults } = await visit()
  await addVirtualKey(context, page)
  const security = `${gatehouse.url}/user/settings/security`
  const signIn = async () => {
    await page.goto(`${gatehouse.url}/user/login?redirect_to=/user/settings/security`)
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill(ada.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  await signIn()
  await page.getByLabel('Your password').fill(ada.password)
  await page.getByRole('button', { name: 'Set up' }).click()
  const app = appOf(await page.getByLabel('Secret').inputValue())
  await page.getByLabel(/Code that the app shows/).fill(app.code())
  await page.getByRole('button', { name: 'Switch on' }).click()
  const askFor = async (name: string) => {
    await page.goto(security)
    await page.getByLabel('Name of the key').fill(name)
    const form = page.locator('form', { has: page.getByLabel('Name of the key') })
    await form.getByLabel(/Your password/).fill(ada.password)
    await page.getByRole('button', { name: 'Add a key' }).click()
    await page.getByRole('button', { name: 'Register the key' }).waitFor()
    t.equal(await page.locator('button:focus').innerText(), 'Register the key')
  }
  const register = () => page.getByRole('button', { name: 'Register the key' }).click()
  const name = '"><img src=x onerror=alert(1)>'
  await askFor(name)
  t.strictSame(await accessibilityFaults(page), [])
  await register()
  await page.getByText('not used yet').waitFor()
  t.equal(page.url(), security)
  t.equal(await page.locator('.list strong').innerText(), name)
  t.strictSame(await accessibilityFaults(page), [])
  await askFor('the same')
  await register()
  await page.getByText('This key is already registered with your account.').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn()
  t.equal(await page.locator('h1').innerText(), 'Second factor')
  t.strictSame(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Use a security key' }).click()
  await page.waitForURL(security)
  t.match(await page.locator('.list').innerText(), /last used/)

  t.strictSame(faults, [])

  const bare = await visit({ hasScripts: false })
  await bare.page.goto(`${gatehouse.url}/user/login`)
  await bare.page.getByLabel('Name').fill('ada')
  await bare.page.getByLabel('Password').fill(ada.password)
  await bare.page.getByRole('button', { name: 'Sign in' }).click()
  t.match(await bare.page.locator('main').innerText(), /A security key needs JavaScript/)
  t.equal(await bare.page.getByRole('button', { name: 'Use a security key' }).count(), 0)
  await bare.page.getByLabel(/Code from your app/).fill(app.code(1))
  await bare.page.getByRole('button', { name: 'Sign in' }).click()
  t.ok(await bare.page.getByRole('button', { name: 'Sign out' }).isVisible())

  await page.getByLabel('Key', { exact: true }).selectOption({ label: name })
  const form = page.locator('form', { has: page.getByLabel('Key', { exact: true }) })
  await form.getByLabel(/Your password/).fill(ada.password)
  await page.getByRole('button', { name: 'Remove the key' }).click()
  t.equal(await page.getByRole('button', { name: 'Remove the key' }).count(), 0)
  t.strictSame([...faults, ...bare.faults], [])
})
