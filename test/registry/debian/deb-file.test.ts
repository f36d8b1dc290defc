/** Deb files of dpkg-deb are read, and hostile ones are refused at little cost. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readDebFile } from '../../../registry/debian/deb-file.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import { type ArPiece, arOf, controlOf, DEBIAN_BINARY, debOf, pack } from '../../helpers/debs.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { paxRecord, type TarPiece, tarOf, tarPiece } from '../../helpers/tar-bytes.js'
import { zstdFrameOfZeros } from '../../helpers/zstd-frames.js'

const MIB = 1 << 20
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const read = (deb: Buffer) => readDebFile(sourceOf(deb))
const CONTROL = controlOf({})

const LEVELS = { none: ['0'], gzip: ['9'], xz: ['1', '9'], zstd: ['1', '22'] } as const

t.test('a package of dpkg-deb is read with each compression', async (t) => {
  const folder = t.testdir({ package: { DEBIAN: { control: CONTROL, md5sums: '' }, file: 'text' } })
  const from = join(folder, 'package')
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', from])
  for (const packing of ['none', 'gzip', 'xz', 'zstd'] as const) {
    for (const level of LEVELS[packing]) {
      const to = join(folder, `${packing}.deb`)
      const args = [`-Z${packing}`, `-z${level}`, '--root-owner-group', '--build', from, to]
      execFileSync('dpkg-deb', args)
      const { packageName, version, architecture, fields } = await read(readFileSync(to))
      t.strictSame([packageName, version, architecture], ['hello-tool', '1.0', 'amd64'], packing)
      const shown = execFileSync('dpkg-deb', ['--field', to, 'Description'])
      t.equal(new Map(fields).get('Description'), shown.toString().trim())
    }
  }
})

t.test('a control file that ends within a line is refused, as dpkg-deb does', async (t) => {
  const path = './control'
  const sized = (body: string, bytes: number) => {
    const size = `${bytes.toString(8).padStart(11, '0')}\0`
    return debWith('', tarOf([{ path, body, size }]))
  }
  const endings: Readonly<Record<string, Buffer>> = {
    complete: debOf({ control: CONTROL }),
    'a continuation line': debOf({ control: `${CONTROL} more\n` }),
    'a blank line': debOf({ control: `${CONTROL}\n` }),
    'a blank': debOf({ control: `${CONTROL} ` }),
    'two blanks': debOf({ control: `${CONTROL}  ` }),
    'no line feed': debOf({ control: CONTROL.trimEnd() }),
    'no line feed after a continuation line': debOf({ control: `${CONTROL} more` }),
    'a name': debOf({ control: `${CONTROL}Home` }),
    'a name with its colon': debOf({ control: `${CONTROL}Homepage:` }),
    'a size that ends in a value': sized(CONTROL, CONTROL.length - 3),
    'a size that ends before the line feed': sized(CONTROL, CONTROL.length - 1),
  }
  const folder = t.testdir({})
  for (const [what, deb] of Object.entries(endings)) {
    const file = join(folder, 'package.deb')
    writeFileSync(file, deb)
    // With names of fields, dpkg-deb parses the file as an installation does.
    const { status, stdout } = spawnSync('dpkg-deb', ['--field', file, 'Version', 'Description'])
    if (status === 0) {
      const fields = new Map((await read(deb)).fields)
      const text = `Version: ${fields.get('Version')}\nDescription: ${fields.get('Description')}\n`
      t.equal(text, stdout.toString(), what)
    } else await t.rejects(read(deb), refused(/last line .* does not end with a line feed/), what)
  }
})

t.test('member names may end with a slash, and other members are allowed', async (t) => {
  const tar = pack(tarOf([{ path: 'control', body: CONTROL }]), '.gz')
  const members: readonly ArPiece[] = [
    { name: 'debian-binary/', body: Buffer.from('2.0\n') },
    { name: '_gpgorigin/', body: Buffer.from('odd') },
    { name: 'control.tar.gz/', body: tar },
    { name: 'data.tar.bz2/' },
    { name: '_gpgbuilder' },
  ]
  t.equal((await read(arOf(members))).packageName, 'hello-tool')
  const alone = arOf([{ name: 'control.tar.gz', body: tar }])
  t.equal((await read(alone)).packageName, 'hello-tool', 'only the members that are read')
})

t.test('a file that is not exactly one package is refused', async (t) => {
  const tar = tarOf([{ path: './control', body: CONTROL }])
  const control = { name: 'control.tar', body: tar }
  const data = { name: 'data.tar', body: tarOf([]) }
  const hostile: Readonly<Record<string, readonly [readonly ArPiece[], RegExp]>> = {
    'no members': [[], /control file is missing/],
    'no control archive': [[DEBIAN_BINARY, data], /control file is missing/],
    'a version to come': [
      [{ name: 'debian-binary', body: Buffer.from('3.0\n') }, control, data],
      /unsupported format version/,
    ],
    'two control archives': [
      [DEBIAN_BINARY, control, { ...control, name: 'control.tar.gz' }, data],
      /out of order/,
    ],
    'the control archive at the end': [[DEBIAN_BINARY, data, control], /out of order/],
    bzip2: [[DEBIAN_BINARY, { ...control, name: 'control.tar.bz2' }], /unsupported compression/],
    'another ending': [[DEBIAN_BINARY, { ...control, name: 'control.tarx' }], /unsupported/],
    'a package in a package': [
      [DEBIAN_BINARY, { name: 'control.tar', body: debOf({ control: CONTROL }) }],
      /tar archive cannot be read/,
    ],
    'a wrong ending': [[DEBIAN_BINARY, { ...control, name: 'control.tar.gz' }], /gzip data/],
    'a wrong ending, of xz': [[DEBIAN_BINARY, { ...control, name: 'control.tar.xz' }], /xz data/],
    'of zstd': [[DEBIAN_BINARY, { ...control, name: 'control.tar.zst' }], /zstd data/],
  }
  for (const [what, [members, why]] of Object.entries(hostile)) {
    await t.rejects(read(arOf(members)), refused(why), what)
  }
})

t.test('the control archive must have one control file at its top', async (t) => {
  const of = (...pieces: readonly TarPiece[]) =>
    arOf([DEBIAN_BINARY, { name: 'control.tar', body: tarOf(pieces) }])
  const body = CONTROL
  for (const path of ['control', './control', '/control', '././control']) {
    t.equal((await read(of({ path: './', type: '5' }, { path, body }))).packageName, 'hello-tool')
  }
  const missing = [{ path: 'x/control', body }, { path: 'control2', body }, { path: '../control' }]
  for (const piece of missing) {
    await t.rejects(read(of(piece)), refused(/control file is missing/), piece.path)
  }
  const two = [{ path: './control', body }, { path: 'md5sums' }, { path: 'control', body }]
  await t.rejects(read(of(...two)), refused(/several control files/))
  for (const type of ['2', '1', '5', '3']) {
    await t.rejects(read(of({ path: 'control', type })), refused(/not a regular file/), type)
  }
  const large = `${CONTROL}X: ${'x'.repeat(262_144)}\n`
  await t.rejects(read(of({ path: 'control', body: large })), refused(/more than 262144 bytes/))
})

/** Creates a package with these bytes as its control archive. */
function debWith(packing: string, body: Buffer): Buffer {
  return arOf([DEBIAN_BINARY, { name: `control.tar${packing}`, body }])
}

t.test('a control archive of gigabytes is not read', async (t) => {
  for (const packing of ['', '.gz', '.xz', '.zst']) {
    const head = arOf([{ name: `control.tar${packing}`, size: String(1 << 30) }])
    const deb = sourceWithHole(head, 1 << 30, Buffer.alloc(0))
    await t.rejects(readDebFile(deb), refused(/control archive exceeds 16777216 bytes/), packing)
  }
})

t.test('bombs are refused in little memory', async (t) => {
  const GIB = 1 << 30
  const head = tarPiece({ path: 'control', size: `${(GIB - 1).toString(8)}\0`.padStart(12, '0') })
  const zeros = pack(Buffer.alloc(1 << 26), '.xz', '-0')
  const many = Buffer.concat(Array.from({ length: 20_000 }, (_, at) => tarPiece({ path: `${at}` })))
  const headers = paxRecord('comment', 'x'.repeat(60_000))
  const pax = Buffer.concat(
    Array.from({ length: 200 }, () => tarPiece({ path: 'p', type: 'x', body: headers })),
  )
  const bombs: Readonly<Record<string, Buffer>> = {
    'spaces in gzip': debWith(
      '.gz',
      await gzipBomb({ head: head.toString('latin1'), piece: ' '.repeat(65_536), bytes: GIB / 4 }),
    ),
    'zeros in xz': debWith('.xz', Buffer.concat(Array.from({ length: 16 }, () => zeros))),
    'zeros in zstd': debWith('.zst', zstdFrameOfZeros(GIB)),
    'many entries': debWith(
      '.gz',
      await gzipBomb({ head: '', piece: many.toString('latin1'), bytes: 512 * 100_000 }),
    ),
    'extended headers': debWith('', pax),
    'an extended header of a gigabyte': debWith(
      '',
      tarPiece({ path: 'p', type: 'x', size: '10000000000\0' }),
    ),
  }
  const before = process.memoryUsage().rss
  for (const [what, deb] of Object.entries(bombs)) {
    const startedMs = performance.now()
    await t.rejects(read(deb), refused(/./), what)
    const mib = Math.round((process.memoryUsage().rss - before) / MIB)
    t.comment(`${what}: ${Math.round(performance.now() - startedMs)} ms, ${mib} MiB more`)
    t.ok(mib < 64, what)
  }
})
