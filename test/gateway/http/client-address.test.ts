/** Client addresses: the peer, or the address that a trusted proxy reports. */

import t from 'tap'
import { parseAddressSet } from '../../../conf/addresses.js'
import { clientOf, networkOf } from '../../../gateway/http/client-address.js'

const trustedProxies = parseAddressSet(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])
const PROXIES = { trustedProxies, ownScheme: 'http' } as const

function addressOf(peer: string, forwardedFor?: string): string {
  const headers = forwardedFor === undefined ? [] : [['x-forwarded-for', forwardedFor] as const]
  return clientOf(peer, new Map(headers), PROXIES).address
}

t.test('an untrusted peer is the client, whatever its headers say', async (t) => {
  t.equal(addressOf('192.0.2.7'), '192.0.2.7')
  t.equal(addressOf('192.0.2.7', '198.51.100.1'), '192.0.2.7')
  const headers = new Map([['x-forwarded-proto', 'https']])
  t.equal(clientOf('192.0.2.7', headers, PROXIES).scheme, 'http')
})

t.test('a trusted proxy reports the client as the last hop that is not a proxy', async (t) => {
  t.equal(addressOf('127.0.0.1', '192.0.2.7'), '192.0.2.7')
  t.equal(addressOf('127.0.0.1', '192.0.2.7, 10.1.1.1'), '192.0.2.7')
  t.equal(
    addressOf('127.0.0.1', '203.0.113.9, 192.0.2.7, 10.1.1.1'),
    '192.0.2.7',
    'forged first entry',
  )
  t.equal(addressOf('fd00::5', '2001:db8::1'), '2001:db8::1')
})

t.test('an invalid address leaves the proxy as the client', async (t) => {
  for (const text of ['', 'unknown', '192.0.2', "1'; drop table", '192.0.2.7, garbage']) {
    t.equal(addressOf('127.0.0.1', text), '127.0.0.1', text)
  }
  t.equal(addressOf('127.0.0.1', '10.1.1.1, 10.2.2.2'), '127.0.0.1', 'only proxies')
  t.equal(addressOf('127.0.0.1'), '127.0.0.1')
})

t.test('one client has one address in every notation', async (t) => {
  const mapped = '0000:0000:0000:0000:0000:ffff:c000:0207'
  for (const peer of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7', mapped]) {
    t.equal(addressOf(peer), '192.0.2.7', peer)
  }
  t.equal(addressOf('::ffff:127.0.0.1', '::ffff:192.0.2.7'), '192.0.2.7')
  t.equal(addressOf('::ffff:zz'), '::ffff:zz')
})

t.test('the scheme is the one that a trusted proxy reports', async (t) => {
  for (const [value, scheme] of [['https', 'https'] as const, ['http', 'http'] as const]) {
    const headers = new Map([['x-forwarded-proto', value]])
    t.equal(clientOf('127.0.0.1', headers, PROXIES).scheme, scheme)
  }
  t.equal(clientOf('127.0.0.1', new Map([['x-forwarded-proto', 'ftp']]), PROXIES).scheme, 'http')
  const overTls = { trustedProxies, ownScheme: 'https' } as const
  for (const peer of ['127.0.0.1', '192.0.2.7']) {
    t.equal(clientOf(peer, new Map(), overTls).scheme, 'https')
  }
  t.equal(clientOf('127.0.0.1', new Map([['x-forwarded-proto', 'http']]), overTls).scheme, 'http')
})

t.test('a network is an IPv4 address or an IPv6 /64', async (t) => {
  t.equal(networkOf('192.0.2.7'), '192.0.2.7')
  t.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:0db8:0001:0002:ffff:0:0:9'))
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
})
