/** Sets of hosts: names and networks, and entries that are neither. */

import t from 'tap'
import { parseHostSet } from '../../conf/host-set.js'

t.test('names are matched without regard to case and networks by address', async (t) => {
  const set = parseHostSet(['CI.example.org', 'builder', '10.0.0.0/8', 'fd00::/8', '192.0.2.7'])
  t.ok(set.hasName('ci.example.org'))
  t.ok(set.hasName('builder'))
  for (const name of ['example.org', 'x.ci.example.org', 'ci.example.org.', '10.0.0.1', '']) {
    t.notOk(set.hasName(name), name)
  }
  for (const address of ['10.9.8.7', 'fd12::1', '192.0.2.7']) t.ok(set.hasAddress(address), address)
  for (const address of ['11.0.0.1', 'fe80::1', 'builder'])
    t.notOk(set.hasAddress(address), address)
})

t.test('an entry that is neither a name nor an address is refused with one message', async (t) => {
  for (const entry of [
    '10.0.0.0/33',
    '10.0.0',
    '*',
    'http://ci.example.org',
    'a b',
    '-a',
    'ci:80',
  ]) {
    t.throws(() => parseHostSet([entry]), { message: /^must be hosts such as/ }, entry)
  }
})
