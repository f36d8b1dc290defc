/** Self-registration: off by default, and limited per network while it is on. */

import t from 'tap'
import { findUser } from '../../../../sql/accounts/users.js'
import { isRegistrationOpen, setRegistration } from '../../../../sql/admin/site.js'
import { startGateway } from '../../../helpers/gateway.js'
import { cookieOf, postForm, signIn } from '../../../helpers/web-forms.js'

const PATH = '/user/sign_up'
const FIELDS = { user_name: 'bob', email: 'bob@example.com', password: 'a long password' }

t.test('with registration closed the page is 404 and no account is created', async (t) => {
  const gateway = await startGateway(t)
  const { ask, db } = gateway
  t.equal((await ask({ path: PATH })).status, 404)
  t.equal((await postForm(gateway, PATH, FIELDS)).status, 404)
  t.equal(await findUser(db, 'bob'), undefined)
  t.notMatch((await ask({ path: '/user/login' })).text, /sign_up/)
  await setRegistration(db, true)
  t.equal((await ask({ path: PATH })).status, 200)
  await setRegistration(db, false)
  t.equal((await postForm(gateway, PATH, FIELDS)).status, 404)
  t.equal(await isRegistrationOpen(db), false)
})

t.test(
  'with registration open a session begins with the new account, which has no permissions',
  async (t) => {
    const gateway = await startGateway(t)
    const { ask, db, addUser, addOrganization } = gateway
    await addOrganization('shelf', await addUser('ada'))
    await setRegistration(db, true)
    t.match((await ask({ path: '/user/login' })).text, /No account yet\?.*\/user\/sign_up/)
    const wrong = await postForm(gateway, '/user/login', { user_name: 'ada', password: 'wrong' })
    t.match(wrong.text, /sign_up/)
    for (const [fields, status, sentence] of [
      [{ user_name: 'ADA' }, 409, /The name ADA is already taken/],
      [{ user_name: 'shelf' }, 409, /already taken/],
      [{ email: 'ADA@example.com' }, 409, /already used/],
      [{ user_name: 'admin' }, 422, /The name admin is reserved/],
      [{ user_name: '../x' }, 422, /starts with a letter/],
      [{ user_name: '' }, 422, /starts with a letter/],
      [{ email: '"><script>' }, 422, /e-mail address is not valid/],
      [{ password: 'short' }, 422, /8 to 256 characters/],
    ] as const) {
      const again = await postForm(gateway, PATH, { ...FIELDS, ...fields })
      t.equal(again.status, status, JSON.stringify(fields))
      t.match(again.text, sentence)
      t.notMatch(again.text, /<script|a long password/)
    }
    const input = { ...FIELDS, is_admin: 'true', isAdmin: 'true', code: 'x' }
    t.equal((await postForm(gateway, PATH, input, { origin: 'http://evil.example' })).status, 403)
    const made = await postForm(gateway, PATH, input)
    t.equal(made.status, 303)
    const headers = { cookie: cookieOf(made) }
    t.equal((await ask({ path: '/user/settings/applications', headers })).status, 200)
    t.equal((await ask({ path: PATH, headers })).status, 303, 'a signed-in user is redirected')
    t.match(await findUser(db, 'bob'), { isAdmin: false, email: 'bob@example.com' })
    t.not(await signIn(gateway, 'ada'), '')
  },
)

t.test('a network has twenty attempts in an hour', async (t) => {
  const gateway = await startGateway(t)
  await setRegistration(gateway.db, true)
  const from = (address: string) =>
    postForm(gateway, PATH, { ...FIELDS, password: '' }, { 'x-forwarded-for': address })
  for (let n = 0; n < 20; n += 1) t.equal((await from(`2001:db8::${n}`)).status, 422)
  const late = await from('2001:db8::ffff')
  t.equal(late.status, 429)
  t.match(late.text, /Wait, and try again/)
  t.equal((await from('192.0.2.1')).status, 422)
})
