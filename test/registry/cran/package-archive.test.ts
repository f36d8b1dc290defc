/** DESCRIPTION is found in each kind of archive, without reading more than needed. */

import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { readPackageArchive } from '../../../registry/cran/package-archive.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { descriptionOf, rTarGz, rZip } from '../../helpers/r-packages.js'
import { paxRecord, type TarPiece, tarOf, tarPiece } from '../../helpers/tar-bytes.js'
import { handMadeZip } from '../../helpers/zips.js'

const FIELDS = { Package: 'toy', Version: '1.0' }
const TEXT = descriptionOf(FIELDS)

/** Returns name and version, or the message of the refusal. */
async function read(bytes: Buffer): Promise<string> {
  try {
    const { description, kind } = await readPackageArchive(sourceOf(bytes))
    return `${kind} ${description.packageName} ${description.version}`
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

function tarGz(...pieces: readonly TarPiece[]): Buffer {
  return gzipSync(tarOf(pieces))
}

t.test('DESCRIPTION is found where R has it', async (t) => {
  t.equal(await read(rTarGz(FIELDS)), 'tar toy 1.0')
  t.equal(await read(rZip(FIELDS)), 'zip toy 1.0')
  const dotted = tarGz({ path: './', type: '5' }, { path: './toy/DESCRIPTION', body: TEXT })
  t.equal(await read(dotted), 'tar toy 1.0')
  const others = [
    { path: 'toy/', type: '5' },
    { path: 'toy/inst/DESCRIPTION', body: 'x' },
    { path: 'toy/DESCRIPTION.txt', body: 'x' },
    { path: 'toy/description', body: 'x' },
    { path: 'toy/DESCRIPTION', type: '2' },
  ]
  const late = [...others, { path: 'toy/DESCRIPTION', body: TEXT }]
  t.equal(await read(tarGz(...late)), 'tar toy 1.0', 'no other file is used')
  t.match(await read(tarGz(...others)), /^DESCRIPTION file is missing/)
  const last = [
    { path: 'toy/R/a.R', content: '' },
    { path: 'toy/DESCRIPTION', content: TEXT },
  ]
  t.equal(await read(handMadeZip(last)), 'zip toy 1.0')
})

t.test('the README is in the folder of DESCRIPTION, at the front of the archive', async (t) => {
  const readmeOf = async (bytes: Buffer) => (await readPackageArchive(sourceOf(bytes))).readme
  const files = { 'inst/README.md': 'no', 'README.md': 'own' }
  const noise = randomBytes(5_000_000).toString('latin1')
  t.equal(await readmeOf(rTarGz(FIELDS, { files })), 'own')
  t.equal(await readmeOf(rZip(FIELDS, { files })), 'own')
  t.equal(await readmeOf(rTarGz(FIELDS, { files: { 'inst/README.md': 'no' } })), undefined)
  t.equal(await readmeOf(rTarGz(FIELDS, { files: { noise, 'README.md': 'late' } })), undefined)
  const cut = rTarGz(FIELDS, { files: { 'README.md': 'own', noise } })
  t.equal(await readmeOf(cut.subarray(0, cut.length / 2)), 'own')
})

t.test('data after DESCRIPTION and the README may be missing', async (t) => {
  const front = Buffer.from(rTarGz(FIELDS, { files: { data: 'x'.repeat(5_000_000) } }))
  const half = front.subarray(0, front.length / 2)
  t.equal(await read(half), 'tar toy 1.0')
  const huge = sourceWithHole(
    gzipSync(tarPiece({ path: 'toy/DESCRIPTION', body: TEXT })),
    1e12,
    half,
  )
  t.equal((await readPackageArchive(huge)).description.packageName, 'toy')
})

t.test('the folder may have any name, because R uses the name in DESCRIPTION', async (t) => {
  for (const folder of ['other', 'Toy', 'package']) {
    t.equal(await read(rTarGz(FIELDS, { folder })), 'tar toy 1.0', folder)
    t.equal(await read(rZip(FIELDS, { folder })), 'zip toy 1.0', folder)
  }
  t.equal(await read(tarGz({ path: 'DESCRIPTION', body: TEXT })), 'tar toy 1.0', 'or none')
})

t.test('a file that is not a package is refused', async (t) => {
  const noArchive = 'The file is not an R package: upload a .tar.gz, .tgz or .zip archive.'
  for (const bytes of ['', 'P', 'hello', 'BZh91AY', TEXT]) {
    t.equal(await read(Buffer.from(bytes)), noArchive, bytes)
  }
  t.equal(await read(tarOf([{ path: 'toy/DESCRIPTION', body: TEXT }])), noArchive)
  t.match(await read(Buffer.from('PK\x03\x04 and no zip')), /zip/)
  t.match(await read(Buffer.from([0x1f, 0x8b, 8, 0, 0])), /gzip data is damaged/)
  t.match(await read(gzipSync('no tar')), /tar archive cannot be read|DESCRIPTION file is missing/)
  const cut = gzipSync(tarOf([{ path: 'toy/DESCRIPTION', body: TEXT }]).subarray(0, 520))
  t.match(await read(cut), /tar archive cannot be read/)
  const missing = /^DESCRIPTION file is missing/
  for (const path of ['../DESCRIPTION', 'a/b/DESCRIPTION', 'toy/NAMESPACE', '/DESCRIPTION']) {
    t.match(await read(tarGz({ path, body: TEXT })), missing, path)
    if (!/^[./]/.test(path)) t.match(await read(handMadeZip([{ path, content: TEXT }])), missing)
  }
})

t.test('a bomb costs no more than the limit', async (t) => {
  const long = { ...FIELDS, Description: 'x'.repeat(262_144) }
  t.match(await read(rTarGz(long)), /more than 262144 bytes/)
  t.match(await read(rZip(long)), /more than 262144 bytes/)
  const [piece] = [tarPiece({ path: 'toy/a' }).toString('latin1')]
  const many = await gzipBomb({ head: '', piece, bytes: 512 * 50_002 })
  t.match(await read(many), /more than 50000 entries/)
  const size = `${(0o7777777777).toString(8).padStart(11, '0')}\0`
  const head = tarPiece({ path: 'toy/data', size }).toString('latin1')
  const zeros = await gzipBomb({ head, piece: '\0'.repeat(65_536), bytes: 537_000_000 })
  t.match(await read(zeros), /contains more than 536870912 bytes/)
  const pax = tarPiece({ path: 'x', type: 'x', body: paxRecord('comment', 'y'.repeat(34_000_000)) })
  t.match(await read(gzipSync(pax)), /tar archive cannot be read: Tar metadata entry exceeds/)
})
