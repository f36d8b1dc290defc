/** Credentials in the header Authorization: a token, a name with a password, or invalid. */

import t from 'tap'
import { readCredentials } from '../../../gateway/auth/credentials.js'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const token = (text: string) => ({ kind: 'token', token: text })

t.test('a token is read in every form that clients send', async (t) => {
  for (const text of ['token T', 'Token T', 'TOKEN  T', 'Bearer T', 'bearer T', ' token T ']) {
    t.strictSame(readCredentials(text), token('T'), text)
  }
  for (const text of ['T:', 'T:x-oauth-basic']) {
    t.strictSame(readCredentials(basic(text)), token('T'), text)
  }
})

t.test('a name and a password are read from Basic', async (t) => {
  const password = (name: string, text: string) => ({ kind: 'password', name, password: text })
  t.strictSame(readCredentials(basic('ada:secret')), password('ada', 'secret'))
  t.strictSame(
    readCredentials(basic('ada:a:b:')),
    password('ada', 'a:b:'),
    'with colons in the password',
  )
  t.strictSame(readCredentials(basic('ädä:pässword ☃')), password('ädä', 'pässword ☃'))
  t.strictSame(readCredentials(basic(':secret')), password('', 'secret'))
  t.strictSame(readCredentials(basic('ada:x').replaceAll('=', '')), password('ada', 'x'))
})

t.test('a missing header is anonymous, and any other form is malformed', async (t) => {
  t.strictSame(readCredentials(undefined), { kind: 'none' })
  for (const text of [
    '',
    ' ',
    'token',
    'token ',
    'T',
    'token a b',
    'token a, token b',
    'Basic',
    'Basic !!',
    'Digest username="x"',
    'Negotiate T',
    'Basic YQ==YQ==',
    'Basic =',
    'tokenT',
    'tok\u0435n T',
    basic('no colon'),
  ]) {
    t.strictSame(readCredentials(text), { kind: 'malformed' }, text)
  }
})
