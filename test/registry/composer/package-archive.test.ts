/** The composer.json of a package is found in every kind of archive. */

import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { readPackageArchive } from '../../../registry/composer/package-archive.js'
import { README_BYTES_MAX } from '../../../registry/readme.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import {
  type PackageOptions,
  packageTar,
  packageTarGz,
  packageZip,
} from '../../helpers/composer-packages.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { tarOf } from '../../helpers/tar-bytes.js'
import { handMadeZip } from '../../helpers/zips.js'

const read = (bytes: Buffer) => readPackageArchive(sourceOf(bytes))

async function refusalOf(bytes: Buffer): Promise<string> {
  try {
    await read(bytes)
    return 'taken'
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

const FINE = { name: 'acme/lib', version: '1.0.0' }
const bzip2 = (input: Buffer) => execFileSync('bzip2', ['--stdout'], { input })

/** Creates an archive of these files of each kind that is searched differently. */
function archivesOf(files: ReadonlyArray<readonly [path: string, text: string]>) {
  const tar = tarOf(files.map(([path, body]) => ({ path, body })))
  return {
    zip: handMadeZip(files.map(([path, content]) => ({ path, content }))),
    'tar.gz': gzipSync(tar),
  }
}

t.test('each kind of archive is read and has its dist type', async (t) => {
  const options: readonly PackageOptions[] = [{}, { folder: 'lib-1.0/' }, { folder: './' }]
  for (const option of options) {
    const tar = packageTar(FINE, option)
    const kinds = [
      { bytes: gzipSync(tar), distType: 'tar', extension: '.tar.gz' },
      { bytes: bzip2(tar), distType: 'tar', extension: '.tar.bz2' },
    ]
    for (const { bytes, ...expected } of kinds) {
      t.match(await read(bytes), { composerJson: FINE, ...expected }, JSON.stringify(option))
    }
    // A zip has no such paths.
    if (option.folder === './') continue
    const zip = await read(packageZip(FINE, option))
    t.match(zip, { composerJson: FINE, distType: 'zip', extension: '.zip' })
  }
})

t.test('a file that is not such an archive is refused', async (t) => {
  const none = [
    Buffer.alloc(0),
    Buffer.from('P'),
    Buffer.from('<?php echo 1;'),
    packageTar(FINE),
    Buffer.from('fd377a585a0000', 'hex'),
  ]
  for (const bytes of none) t.match(await refusalOf(bytes), /not a valid package file/)
  t.match(await refusalOf(Buffer.from('PK\x03\x04')), /zip/)
  t.match(await refusalOf(Buffer.from('1f8b', 'hex')), /gzip data is damaged or truncated/)
  t.match(await refusalOf(Buffer.from('BZh9')), /bzip2 data is damaged or truncated/)
  t.match(await refusalOf(gzipSync('no tar')), /tar archive cannot be read/)
})

const json = JSON.stringify(FINE)
const other = JSON.stringify({ ...FINE, name: 'acme/other' })

t.test('composer.json is at the root or in the single top folder', async (t) => {
  const places: ReadonlyArray<readonly [paths: readonly string[], found: boolean]> = [
    [['composer.json'], true],
    [['b/composer.json', 'composer.json', 'a/composer.json'], true],
    [['a/composer.json', 'a/b/c'], true],
    [['a/b/c', 'a/composer.json', 'a/b/composer.json'], true],
    [['a/composer.json', 'README.md'], false],
    [['README.md', 'a/composer.json'], false],
    [['a/composer.json', 'b/x'], false],
    [['a/b/composer.json'], false],
    [['composer.json.dist', 'Composer.json', 'xcomposer.json'], false],
    [['composer.json/composer.json.txt'], false],
    [['README.md'], false],
  ]
  for (const [paths, found] of places) {
    const isRoot = paths.includes('composer.json')
    const files = paths.map((path) => {
      const isWanted = isRoot ? path === 'composer.json' : path === 'a/composer.json'
      return [path, isWanted ? json : other] as const
    })
    for (const [kind, bytes] of Object.entries(archivesOf(files))) {
      const what = `${kind}: ${paths.join(' ')}`
      if (found) t.equal((await read(bytes)).composerJson.name, 'acme/lib', what)
      else t.match(await refusalOf(bytes), /composer\.json file is missing/, what)
    }
  }
  t.match(await refusalOf(gzipSync(tarOf([]))), /missing/, 'an empty archive')
})

t.test('composer.json must be a file and occur once', async (t) => {
  const twice = [
    ['composer.json', json],
    ['composer.json', other],
  ] as const
  for (const [kind, bytes] of Object.entries(archivesOf(twice))) {
    t.match(await refusalOf(bytes), /several|two entries/, kind)
  }
  const dotted = tarOf([{ path: 'composer.json', body: json }, { path: './composer.json' }])
  t.match(await refusalOf(gzipSync(dotted)), /several/)
  for (const type of ['1', '2', '5']) {
    const odd = tarOf([{ path: 'composer.json', type }])
    t.match(await refusalOf(gzipSync(odd)), /missing/, `type ${type}`)
  }
  const folder = handMadeZip([{ path: 'composer.json/' }])
  t.match(await refusalOf(folder), /missing/, 'a folder of that name')
  const above = tarOf([{ path: '../composer.json', body: json }])
  t.match(await refusalOf(gzipSync(above)), /leads out of the archive/)
})

t.test('a composer.json that is too large is refused unread', async (t) => {
  const large = { ...FINE, x: 'x'.repeat(2_000_000) }
  t.match(await refusalOf(packageTarGz(large)), /more than 1048576 bytes/)
  t.match(await refusalOf(packageZip(large)), /more than 1048576 bytes/)
  const files = [
    ['composer.json', json],
    ['example/composer.json', JSON.stringify(large)],
  ] as const
  t.equal(await refusalOf(archivesOf(files)['tar.gz']), 'taken', 'one in a subfolder is ignored')
  const largest = { ...FINE, x: 'x'.repeat(1_048_576 - JSON.stringify(FINE).length - 7) }
  t.equal(JSON.stringify(largest).length, 1_048_576)
  t.equal(await refusalOf(packageTarGz(largest)), 'taken')
})

t.test('a small archive that unpacks to a huge size is refused', async (t) => {
  const size = `${(2 ** 30).toString(8).padStart(11, '0')}\0`
  const head = tarOf([{ path: 'big', size }])
    .subarray(0, 512)
    .toString('latin1')
  const bomb = await gzipBomb({ head, piece: '\0'.repeat(65_536), bytes: 2 ** 28 + 65_536 })
  t.match(await refusalOf(bomb), /contains more than 268435456 bytes/)
  const many = tarOf(Array.from({ length: 50_001 }, () => ({ path: 'a' })))
  t.match(await refusalOf(gzipSync(many)), /more than 50000 entries/)
})

t.test('the README beside composer.json is read, unless it is too large or not text', async (t) => {
  const json = JSON.stringify(FINE)
  const cases = [
    { files: { 'composer.json': json, 'docs/README.md': 'no' }, readme: undefined },
    { files: { 'composer.json': json, 'lib/README.md': 'no', 'README.md': 'own' }, readme: 'own' },
    { files: { 'l/Readme.MARKDOWN': 'own', 'l/composer.json': json }, readme: 'own' },
    { files: { 'l/x/README.md': 'no', 'l/composer.json': json }, readme: undefined },
    { files: { 'composer.json': json, 'README.md': 'a\0b' }, readme: undefined },
    { files: { 'composer.json': json, 'README.md': ' \n' }, readme: undefined },
    {
      files: { 'composer.json': json, 'README.md': 'x'.repeat(README_BYTES_MAX + 1) },
      readme: undefined,
    },
  ]
  for (const { files, readme } of cases) {
    for (const [kind, bytes] of Object.entries(archivesOf(Object.entries(files)))) {
      t.equal((await read(bytes)).readme, readme, `${kind} of ${Object.keys(files)}`)
    }
  }
})
