/** Apk files are recognized, and hostile ones are refused at little cost. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { readPackage } from '../../../registry/alpine/package-archive.js'
import {
  apk,
  controlMember,
  packageInfo,
  segment,
  signatureMember,
  splitMembers,
} from '../../helpers/apks.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { paxRecord, TAR_END, tarOf, tarPiece } from '../../helpers/tar-bytes.js'

const read = (...members: readonly Buffer[]) => readPackage(sourceOf(Buffer.concat(members)))
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const checksumOf = (control: Buffer) => `Q1${createHash('sha1').update(control).digest('base64')}`

t.test('the checksum of a package is that of its compressed control member', async (t) => {
  const whole = apk({ pkgdesc: 'Says hello' })
  const [, control = Buffer.alloc(0)] = splitMembers(whole)
  const { info, checksum } = await readPackage(sourceOf(whole))
  t.equal(checksum, checksumOf(control))
  t.match(info, { packageName: 'hello', version: '1.0-r0', architecture: 'x86_64' })
  t.strictSame(info.fields, { T: 'Says hello' })
  const unsigned = await readPackage(sourceOf(apk({ pkgdesc: 'Says hello' }, { isSigned: false })))
  t.strictSame(unsigned, { info, checksum })
})

t.test('a package may have several signatures and no data member', async (t) => {
  const control = controlMember({})
  const signatures = Array.from({ length: 16 }, signatureMember)
  t.equal((await read(...signatures, control)).checksum, checksumOf(control))
  await t.rejects(
    read(signatureMember(), ...signatures, control),
    refused(/PKGINFO file is missing/),
  )
  const closed = gzipSync(tarOf([{ path: '.PKGINFO', body: packageInfo({}) }]))
  t.equal((await read(closed)).checksum, checksumOf(closed), 'with an end-of-archive mark')
  const empty = Buffer.concat([control, gzipSync(TAR_END)])
  t.equal((await readPackage(sourceOf(empty))).checksum, checksumOf(control))
})

t.test('a file that is not a package is refused with a message', async (t) => {
  const info = { path: '.PKGINFO', body: packageInfo({}) }
  const long = paxRecord('path', '.PKGINFO')
  const hostile: ReadonlyArray<readonly [what: string, bytes: Buffer, message: RegExp]> = [
    ['nothing', Buffer.alloc(0), /not a valid apk package/],
    ['a zip', Buffer.from('PK\x03\x04'), /not a valid apk package/],
    ['a package of apk 3', Buffer.from('ADBd'), /is an apk v3 package/],
    ['two bytes', Buffer.from([0x1f, 0x8b]), /damaged or truncated/],
    ['gzip of nothing', gzipSync(''), /PKGINFO file is missing/],
    ['gzip of text', gzipSync('hello'.repeat(300)), /tar archive cannot be read/],
    ['an empty archive', gzipSync(TAR_END), /PKGINFO file is missing/],
    ['only a signature', signatureMember(), /PKGINFO file is missing/],
    ['only files', gzipSync(tarOf([{ path: 'usr/x' }])), /PKGINFO file is missing/],
    ['files first', Buffer.concat([segment([{ path: 'a' }]), controlMember({})]), /missing/],
    [
      'a signature with something beside it',
      Buffer.concat([
        segment([{ path: '.SIGN.RSA.k' }, { path: '.other' }, { path: '.SIGN.RSA.l' }]),
        controlMember({}),
      ]),
      /PKGINFO file is missing/,
    ],
    ['another name', segment([{ ...info, path: './.PKGINFO' }]), /PKGINFO file is missing/],
    ['a folder', segment([{ path: '.PKGINFO', type: '5' }]), /PKGINFO is not a regular file/],
    ['a link', segment([{ path: '.PKGINFO', type: '2' }]), /PKGINFO is not a regular file/],
    ['two of them', segment([info, info]), /PKGINFO occurs several times/],
    [
      'a second one by another way',
      segment([info, { path: 'p', type: 'x', body: long }, info]),
      /several/,
    ],
    ['one that is cut off', controlMember({}).subarray(0, 100), /damaged or truncated/],
    ['a wrong sum', gzipSync(tarPiece({ ...info, sum: '000001\0 ' })), /cannot be read/],
    ['a size that lies', segment([{ ...info, size: '77777777777\0' }]), /more than|cannot be read/],
    ['no name in it', controlMember('pkgver = 1\narch = x86\n'), /package name is invalid/],
    ['a large one', controlMember(`x = ${'x'.repeat(1_100_000)}\n`), /more than 1048576 bytes/],
  ]
  for (const [what, bytes, message] of hostile) await t.rejects(read(bytes), refused(message), what)
})

t.test('a data member that does not match its hash is refused', async (t) => {
  const whole = apk()
  const damaged = Buffer.from(whole)
  const last = damaged.length - 1
  damaged[last] = (damaged[last] ?? 0) ^ 1
  const other = Buffer.concat([whole, gzipSync('more')])
  for (const bytes of [damaged, whole.subarray(0, last), other]) {
    await t.rejects(read(bytes), refused(/does not match its datahash/))
  }
})

t.test('decompression bombs are refused early, and data is not unpacked', async (t) => {
  const before = process.memoryUsage().rss
  const head = tarPiece({ path: '.PKGINFO', size: `${(1 << 29).toString(8)}\0` })
  const bombs = {
    control: { head: head.toString('latin1'), piece: ' '.repeat(65_536) },
    zeros: { head: '', piece: '\0'.repeat(65_536) },
    headers: { head: '', piece: tarPiece({ path: 'x' }).toString('latin1') },
  }
  for (const [what, bomb] of Object.entries(bombs)) {
    const bytes = await gzipBomb({ ...bomb, bytes: 1 << 26 })
    await t.rejects(read(bytes), refused(/more than \d+|cannot be read/), what)
    await t.rejects(read(signatureMember(), bytes), refused(/more than \d+|cannot be read/), what)
  }
  const data = await gzipBomb({ head: '', piece: '\0'.repeat(65_536), bytes: 1 << 28 })
  t.match(await read(controlMember({}), data), { info: { packageName: 'hello' } })
  const huge = sourceWithHole(controlMember({}), 2 ** 40, Buffer.alloc(0))
  t.match(await readPackage(huge), { info: { packageName: 'hello' } }, 'data is not read')
  t.ok(process.memoryUsage().rss - before < 128 * 1_048_576)
})
