/** Ar archives of common programs are read, and malformed ones are refused. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listArMembers } from '../../../registry/archive/ar.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import { arOf } from '../../helpers/debs.js'

const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const DAMAGED = refused(/ar archive is damaged or truncated/)

const list = (archive: Buffer, membersMax = 10) => listArMembers(sourceOf(archive), membersMax)

async function contentsOf(archive: Buffer): Promise<Record<string, string>> {
  const members = await list(archive)
  return Object.fromEntries(
    members.map(({ name, start, bytes }) => [
      name,
      archive.subarray(start, start + bytes).toString(),
    ]),
  )
}

t.test('members of even, odd and zero size are read', async (t) => {
  const texts = { even: '12', odd: '123', empty: '', last: 'x' }
  const pieces = Object.entries(texts).map(([name, text]) => ({ name, body: Buffer.from(text) }))
  t.strictSame(await contentsOf(arOf(pieces)), texts)
  t.strictSame(
    await contentsOf(arOf(pieces).subarray(0, -1)),
    texts,
    'the last member is not padded',
  )
  t.strictSame(await contentsOf(arOf([])), {})
})

t.test('an archive of GNU ar is read, with the slashes after its names', async (t) => {
  const folder = t.testdir({ 'debian-binary': '2.0\n', 'control.tar.gz': 'odd', 'a b': 'x' })
  const names = ['debian-binary', 'control.tar.gz', 'a b']
  execFileSync('ar', ['rcS', join(folder, 'x.a'), ...names.map((name) => join(folder, name))])
  const archive = readFileSync(join(folder, 'x.a'))
  t.match(archive.toString(), 'control.tar.gz/')
  const contents = { 'debian-binary': '2.0\n', 'control.tar.gz': 'odd', 'a b': 'x' }
  t.strictSame(await contentsOf(archive), contents)
})

t.test('a package of dpkg-deb is read', async (t) => {
  const folder = t.testdir({ package: { DEBIAN: {} } })
  const control = 'Package: x1\nVersion: 1\nArchitecture: all\nMaintainer: A\nDescription: d\n'
  writeFileSync(join(folder, 'package/DEBIAN/control'), control)
  execFileSync('dpkg-deb', ['-Znone', '--build', join(folder, 'package'), join(folder, 'x.deb')])
  const members = await list(readFileSync(join(folder, 'x.deb')))
  t.strictSame(
    members.map(({ name }) => name),
    ['debian-binary', 'control.tar', 'data.tar'],
  )
})

t.test("GNU ar's special members keep their slashes", async (t) => {
  const members = await list(arOf([{ name: '/' }, { name: '//' }, { name: 'a/' }, { name: 'b' }]))
  t.strictSame(
    members.map(({ name }) => name),
    ['/', '//', 'a', 'b'],
  )
})

t.test('a file that is not an ar archive, damaged or truncated is refused', async (t) => {
  for (const text of ['', '!<arch>', '<html>', '!<thin>\n']) {
    await t.rejects(list(Buffer.from(text)), refused(/not an ar archive/), text)
  }
  const good = arOf([{ name: 'a', body: Buffer.from('12') }])
  for (let bytes = 9; bytes < good.length; bytes += 1) {
    await t.rejects(list(good.subarray(0, bytes)), DAMAGED, `${bytes} bytes`)
  }
  const body = Buffer.from('12')
  for (const size of ['-1', '+2', '0x2', '2 2', ' 2', '', '2.0', '9999999999', '3', '2e0', '２']) {
    await t.rejects(list(arOf([{ name: 'a', body, size }])), DAMAGED, `the size ${size}`)
  }
  const mark = Buffer.from(good)
  mark[8 + 58] = 0x20
  await t.rejects(list(mark), DAMAGED, 'a header without its end mark')
})

t.test('a member whose size is too small is refused at the next header', async (t) => {
  const archive = arOf([{ name: 'a', body: Buffer.from('1234'), size: '2' }, { name: 'b' }])
  await t.rejects(list(archive), DAMAGED)
})

t.test('more members than the limit are refused', async (t) => {
  const archive = arOf(Array.from({ length: 3 }, (_, at) => ({ name: `${at}` })))
  t.equal((await list(archive, 3)).length, 3)
  await t.rejects(list(archive, 2), refused(/more than 2 members/))
})
