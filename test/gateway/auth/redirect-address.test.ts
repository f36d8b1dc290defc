/** Users are redirected only to registered addresses, compared exactly. */

import t from 'tap'
import {
  checkRedirectAddresses,
  registeredAddress,
  withAnswer,
} from '../../../gateway/auth/redirect-address.js'

const WEB = 'https://ci.example/cb?x=1'
const confidential = { redirectUris: [WEB], isConfidential: true }
const native = { redirectUris: ['http://127.0.0.1', 'http://[::1]/cb'], isConfidential: false }

t.test('a redirect address must be registered exactly', async (t) => {
  t.equal(registeredAddress(confidential, WEB), WEB)
  t.equal(registeredAddress(confidential, ''), WEB, 'the only one need not be named')
  t.equal(registeredAddress(native, ''), undefined)
  for (const other of [
    'https://ci.example/cb',
    'https://ci.example/cb?x=1&y=2',
    'https://CI.example/cb?x=1',
    'http://ci.example/cb?x=1',
    'https://ci.example:443/cb?x=1',
    'https://ci.example/cb?x=1#f',
    'https://ci.example/cb/../cb?x=1',
    'https://ci.example.evil.example/cb?x=1',
    ` ${WEB}`,
    'https://ci.example@evil.example/cb?x=1',
    'https://ci.еxample/cb?x=1',
    `${WEB}\n`,
    'javascript:alert(1)',
    'https:\\\\ci.example/cb?x=1',
    '//ci.example/cb?x=1',
  ]) {
    t.equal(registeredAddress(confidential, other), undefined, other)
  }
})

t.test('a native application may use any port of the loopback address', async (t) => {
  for (const [asked, led] of [
    ['http://127.0.0.1:5000', 'http://127.0.0.1:5000/'],
    ['http://127.0.0.1:5000/', 'http://127.0.0.1:5000/'],
    ['http://127.0.0.1', 'http://127.0.0.1'],
    ['http://[::1]:8/cb', 'http://[::1]:8/cb'],
  ] as const) {
    t.equal(registeredAddress(native, asked), led, asked)
  }
  for (const other of [
    'http://127.0.0.1:5000/other',
    'http://127.0.0.1:5000?x',
    'http://localhost:5000/',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.1:5@evil.example/',
    'https://[::1]/cb',
    'http://evil@127.0.0.1/',
    'http://127.0.0.2/',
    'ftp://127.0.0.1/',
    'http://[::1]:8/',
    'http://127.0.0.1:5000/#x',
    'http://evil.example\\@127.0.0.1/',
    'http://127.0.0.1:99999/',
  ]) {
    t.equal(registeredAddress(native, other), undefined, other)
  }
  const asked = 'http://127.0.0.1:5000/'
  t.equal(registeredAddress({ ...native, isConfidential: true }, asked), undefined)
})

t.test('only addresses that an application can have are registered', async (t) => {
  const fine = [WEB, 'http://10.0.0.1:8000/a', 'com.example.app:/cb', 'http://localhost/cb']
  t.strictSame(checkRedirectAddresses([...fine, WEB]), fine)
  for (const address of [
    '',
    'cb',
    '/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://a/#f',
    'https://u@a/',
    'https://a b/',
    'https:a',
    'file:///etc',
    'https://a\\b',
    'https://ä/',
    'http:///a',
    `https://a/${'x'.repeat(2_000)}`,
  ]) {
    t.throws(
      () => checkRedirectAddresses([address]),
      { message: /^The redirect address / },
      address,
    )
  }
  t.throws(() => checkRedirectAddresses([]), { message: /1 to 20 redirect addresses/ })
  t.throws(() => checkRedirectAddresses(Array.from({ length: 21 }, () => WEB)))
})

t.test('parameters are added to those of the address', async (t) => {
  t.equal(withAnswer('https://a/', { state: 'x&y' }), 'https://a/?state=x%26y')
  t.equal(withAnswer(WEB, { code: 'c' }), `${WEB}&code=c`)
})
