/** Paths of packages are read as apt-ftparchive reads them, and within limits. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contentsLines, readContents } from '../../../registry/debian/contents.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import { buildDeb } from '../../helpers/deb-builder.js'
import { arOf, controlOf, debOf, pack } from '../../helpers/debs.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { tarOf, tarPiece } from '../../helpers/tar-bytes.js'

const refused = (message: RegExp) => ({ failure: 'bad_request', message })

async function linesOf(deb: Buffer): Promise<readonly string[]> {
  const contents = await readContents(sourceOf(deb))
  if (contents === undefined) return []
  const lines = await contentsLines(contents)
  t.equal(lines.byteLength, contents.bytes)
  return lines.toString().trimEnd().split('\n')
}

t.test('the paths are those of apt-ftparchive, with each compression', async (t) => {
  const files = { 'usr/bin/tool': 'x', 'usr/share/doc/a file': 'y', 'opt/é': '', 'etc/a': '' }
  for (const packing of ['none', 'gzip', 'xz', 'zstd'] as const) {
    const deb = await buildDeb(t, { fields: {}, packing, files })
    const folder = t.testdir({})
    writeFileSync(join(folder, 'package.deb'), deb)
    const shown = execFileSync('apt-ftparchive', ['contents', '.'], { cwd: folder })
    const theirs = shown.toString().trimEnd().split('\n')
    const columnsOf = (lines: readonly string[]) =>
      lines.map((line) => /^(.*\S)\s+(\S+)$/.exec(line)?.slice(1)).sort()
    t.strictSame(columnsOf(await linesOf(deb)), columnsOf(theirs), packing)
  }
})

t.test('the name of a package is qualified with its section', async (t) => {
  const locationsOf = async (Section: string) => {
    const files = [{ path: './a' }]
    const lines = await linesOf(debOf({ control: controlOf({ Section }), files }))
    return lines.map((line) => line.split(/ +/)[1])
  }
  t.strictSame(await locationsOf('utils'), ['utils/hello-tool'])
  t.strictSame(await locationsOf('contrib/utils'), ['contrib/utils/hello-tool'])
  t.strictSame(await locationsOf('two words'), ['hello-tool'])
})

t.test('folders, repeated paths and paths with control characters are left out', async (t) => {
  const files = [
    { path: './', type: '5' },
    { path: './usr/', type: '5' },
    { path: './usr/b' },
    { path: '/usr/a' },
    { path: 'usr/b' },
    { path: './usr/link', type: '2' },
    { path: './evil\nusr/c root/evil' },
  ]
  const lines = await linesOf(debOf({ control: controlOf({}), files }))
  t.strictSame(
    lines.map((line) => line.split(/ +/)),
    ['a', 'b', 'link'].map((name) => [`usr/${name}`, 'hello-tool']),
  )
  t.equal(lines[0]?.indexOf('hello-tool'), 56, 'in columns')
})

t.test('a package without files has no lines', async (t) => {
  t.equal(await readContents(sourceOf(debOf({ control: controlOf({}) }))), undefined)
  const control = { name: 'control.tar', body: tarOf([{ path: 'control', body: controlOf({}) }]) }
  t.equal(await readContents(sourceOf(arOf([control]))), undefined, 'without a data archive')
})

t.test('an expensive or damaged data archive is refused', async (t) => {
  const control = { name: 'control.tar', body: tarOf([{ path: 'control', body: controlOf({}) }]) }
  const withData = (body: Buffer, packing: string) =>
    arOf([control, { name: `data.tar${packing}`, body }])
  const path = 'x'.repeat(90)
  const paths = (count: number) =>
    Array.from({ length: count }, (_, at) => tarPiece({ path: `${path}${at}` }))
  const many = Buffer.concat(paths(1_000)).toString('latin1')
  const bombs: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
    'many paths': [withData(Buffer.concat(paths(25_000)), ''), /exceed/],
    'many entries': [
      withData(await gzipBomb({ head: '', piece: many, bytes: 30_000_000 }), '.gz'),
      /more than 50000 entries|exceed/,
    ],
    'a large file': [
      withData(
        await gzipBomb({
          head: tarPiece({ path: 'a', size: '07777777777\0' }).toString('latin1'),
          piece: '\0'.repeat(65_536),
          bytes: 270_000_000,
        }),
        '.gz',
      ),
      /more than 268435456 bytes/,
    ],
    'half an archive': [withData(pack(tarOf([{ path: 'a' }]), '.xz').subarray(0, 50), '.xz'), /xz/],
    bzip2: [withData(Buffer.from('BZh9'), '.bz2'), /unsupported compression/],
  }
  for (const [what, [deb, why]] of Object.entries(bombs)) {
    await t.rejects(readContents(sourceOf(deb)), refused(why), what)
  }
})
