/** Outbound addresses: only public ones are permitted unless the settings permit more. */

import { networkInterfaces } from 'node:os'
import t from 'tap'
import { parseHostSet } from '../../../conf/host-set.js'
import { isPublicAddress, resolveOutbound } from '../../../gateway/outbound/address.js'

const NOBODY = parseHostSet([])

/** Returns options with a resolver that always gives these addresses. */
function answering(...addresses: readonly string[]) {
  return { allowPrivate: NOBODY, resolve: async () => addresses }
}

const REFUSED = { failure: 'invalid', message: /an address that is not allowed: .*outbound\.allow/ }
const UNRESOLVED = { failure: 'invalid', message: /does not resolve\. Check the spelling\.$/ }

t.test('public addresses are permitted', async (t) => {
  const open = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1']
  open.push('11.0.0.1', '126.0.0.1', '128.0.0.1', '192.0.1.1', '198.17.0.1', '198.20.0.1')
  open.push('169.253.0.1', '223.255.255.255', '2606:4700::1111', '2a00:1450::1', '2001:4860::8')
  open.push('64:ff9b::102:304', '64:ff9b::1.2.3.4')
  for (const address of open) t.ok(isPublicAddress(address), address)
})

t.test('all other addresses are refused', async (t) => {
  const closed = ['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1']
  closed.push('127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192')
  closed.push('192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255')
  closed.push('198.51.100.1', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1')
  closed.push('255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8')
  closed.push('::ffff:7f00:1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe')
  closed.push('64:ff9b::', '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:10::1')
  closed.push('2001:db8::1', '2002:7f00:1::', '2002:808:808::', '3fff::1', '5f00::1', 'fc00::1')
  closed.push('fd00:ec2::254', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'ff02::1', '2606:4700::1%lo')
  closed.push('localhost', '', '127.1')
  for (const address of closed) t.notOk(isPublicAddress(address), address)
})

t.test('a host is permitted only if all of its addresses are', async (t) => {
  const addresses = ['1.2.3.4', '2606:4700::1111']
  t.strictSame(await resolveOutbound('hooks.example.org', answering(...addresses)), addresses)
  t.strictSame(await resolveOutbound('1.2.3.4', answering()), ['1.2.3.4'])
  t.strictSame(await resolveOutbound('[2606:4700::1111]', answering()), ['2606:4700::1111'])
  for (const bad of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:127.0.0.1', 'fe80::1%eth0', 'text']) {
    await t.rejects(resolveOutbound('hooks.example.org', answering('1.2.3.4', bad)), REFUSED, bad)
  }
  await t.rejects(resolveOutbound('hooks.example.org', answering()), UNRESOLVED)
})

t.test('addresses in unusual notations are recognized', async (t) => {
  for (const url of ['http://127.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0/']) {
    await t.rejects(resolveOutbound(new URL(url).hostname, { allowPrivate: NOBODY }), REFUSED, url)
  }
  for (const text of [
    '127.1',
    '0x7f.1',
    '2130706433',
    '0',
    '[::]',
    '[::ffff:7f00:1]',
    '[fe80::1]',
  ]) {
    await t.rejects(resolveOutbound(text, { allowPrivate: NOBODY }), REFUSED, text)
  }
  for (const name of ['', 'a b', 'a/b', 'exämple.org', `${'a'.repeat(250)}.org`, 'x%lo']) {
    await t.rejects(resolveOutbound(name, answering('1.2.3.4')), UNRESOLVED, name)
  }
})

t.test("names of this machine are refused with the system's resolver", async (t) => {
  for (const name of ['localhost', 'localhost.', 'LOCALHOST']) {
    await t.rejects(resolveOutbound(name, { allowPrivate: NOBODY }), REFUSED, name)
  }
  await t.rejects(resolveOutbound('no-such-host.invalid', { allowPrivate: NOBODY }), {
    message: /does not resolve|cannot be resolved/,
  })
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  for (const { address } of own) {
    await t.rejects(resolveOutbound('hooks.example.org', answering(address)), REFUSED, address)
  }
})

t.test('many concurrent lookups all finish', async (t) => {
  const names = Array.from({ length: 9 }, () => 'localhost')
  const allowPrivate = parseHostSet(['127.0.0.0/8', '::1'])
  const all = await Promise.all(names.map((name) => resolveOutbound(name, { allowPrivate })))
  for (const addresses of all) t.ok(addresses.length > 0)
})

t.test(
  'the settings permit a name with all its addresses, or a network under any name',
  async (t) => {
    const allowPrivate = parseHostSet(['ci.example.org', '10.1.0.0/16', '::1'])
    const resolve = async () => ['10.1.2.3', '192.168.0.7']
    t.strictSame(
      await resolveOutbound('CI.example.org.', { allowPrivate, resolve }),
      ['10.1.2.3', '192.168.0.7'],
      'by its name',
    )
    await t.rejects(resolveOutbound('other.example.org', { allowPrivate, resolve }), REFUSED)
    t.strictSame(await resolveOutbound('10.1.2.3', { allowPrivate }), ['10.1.2.3'])
    t.strictSame(await resolveOutbound('[0:0::1]', { allowPrivate }), ['0:0::1'])
    await t.rejects(resolveOutbound('10.2.0.1', { allowPrivate }), REFUSED)
  },
)

t.test(
  'unresolvable names, temporary failures and refused names have different errors',
  async (t) => {
    const failing = (code: string) => ({
      allowPrivate: NOBODY,
      resolve: () => Promise.reject(Object.assign(new Error(code), { code })),
    })
    await t.rejects(resolveOutbound('a.example.org', failing('EAI_AGAIN')), {
      message: /cannot be resolved now/,
    })
    await t.rejects(resolveOutbound('a.example.org', failing('ENOTFOUND')), UNRESOLVED)
    const inside = answering('10.1.2.3')
    await t.rejects(resolveOutbound('ci.internal', inside), REFUSED)
    const thrown = await resolveOutbound('ci.internal', inside).catch(String)
    t.notMatch(thrown, '10.1.2.3', 'the address itself is not shown')
  },
)
