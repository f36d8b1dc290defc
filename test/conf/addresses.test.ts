/** Sets of addresses: which addresses they contain and which entries they refuse. */

import t from 'tap'
import { parseAddressSet } from '../../conf/addresses.js'

t.test('a set contains its addresses and networks and not their neighbours', async (t) => {
  const set = parseAddressSet(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', '::1'])
  for (const address of ['192.0.2.7', '10.0.0.0', '10.255.255.255', '2001:db8::5', '::1']) {
    t.ok(set.has(address), address)
  }
  for (const address of ['192.0.2.8', '11.0.0.0', '9.255.255.255', '2001:db9::', '::2']) {
    t.notOk(set.has(address), address)
  }
})

t.test('an IPv4-mapped IPv6 address is matched as the IPv4 address', async (t) => {
  const set = parseAddressSet(['127.0.0.1', '10.0.0.0/8'])
  t.ok(set.has('::ffff:127.0.0.1'))
  t.ok(set.has('::ffff:10.1.2.3'))
  t.notOk(set.has('::ffff:11.1.2.3'))
})

t.test('a text that is not an address is in no set, not even in 0.0.0.0/0 and ::/0', async (t) => {
  const everyone = parseAddressSet(['0.0.0.0/0', '::/0'])
  t.ok(everyone.has('198.51.100.1'))
  for (const text of ['', 'localhost', '127.0.0.1, 10.0.0.1', '127.1', '127.0.0.1:80']) {
    t.notOk(everyone.has(text), text)
  }
  t.notOk(parseAddressSet([]).has('127.0.0.1'), 'the empty set contains no address')
})

t.test('the result for an address is the same after many other lookups', (t) => {
  const set = parseAddressSet(['10.0.0.0/24'])
  for (let round = 0; round < 2; round += 1) {
    for (let host = 0; host < 1_500; host += 1) {
      const address = `10.0.${host >> 8}.${host & 255}`
      if (set.has(address) !== host < 256) t.fail(address)
    }
  }
  t.end()
})

t.test('an entry that is neither an address nor a network is refused', async (t) => {
  const wrong = ['', 'localhost', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '/8']
  for (const entry of [...wrong, '10.0.0.0/8/9', '10.0.0.0/0x8', '10.0.0/8', '10.0.0.0 /8']) {
    t.throws(() => parseAddressSet(['127.0.0.1', entry]), /must be addresses such as/, entry)
  }
})
