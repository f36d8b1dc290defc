/** Indexes have the highest version of each package, as R's own tools write them. */

import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { parseDescription } from '../../../registry/cran/description.js'
import { PACKAGES_INDEX } from '../../../registry/cran/packages-index.js'
import type { IndexEntry } from '../../../registry/index-maker.js'
import { isExpected } from '../../helpers/expected.js'
import { buildIndex } from '../../helpers/index-builds.js'
import { descriptionOf } from '../../helpers/r-packages.js'
import { askR } from '../../helpers/real-r.js'
import { tarOf } from '../../helpers/tar-bytes.js'
import { temporaryFolder } from '../../helpers/temporary.js'

interface Published {
  readonly archive: Buffer
  readonly entry: IndexEntry
}

function publish(fields: Readonly<Record<string, string>>, own: Record<string, string> = {}) {
  return publishText(Buffer.from(descriptionOf(fields)), own)
}

/** Publishes a package with the bytes of its DESCRIPTION. */
function publishText(text: Buffer, own: Readonly<Record<string, string>> = {}) {
  const description = parseDescription(text)
  const path = `${description.packageName}/DESCRIPTION`
  const archive = gzipSync(tarOf([{ path, body: text }]))
  const { packageName, version } = description
  const digests = { md5: createHash('md5').update(archive).digest('hex') }
  const file = {
    id: 1,
    name: `${packageName}_${version}.tar.gz`,
    compositeKey: '',
    blobKey: 'k',
    bytes: archive.length,
    createdAtMs: 0,
    downloads: 0,
    digests: { ...digests, sha1: '', sha256: '', sha512: '' },
  }
  const metadata = JSON.parse(JSON.stringify({ ...description.fields, ...own }))
  const entry: IndexEntry = { part: '', metadata, packageName, version, file }
  return { archive, entry } satisfies Published
}

/** Returns the files of an index of these entries, in order of publication. */
async function build(t: Test, entries: readonly IndexEntry[]) {
  return await buildIndex(t, PACKAGES_INDEX, entries, { keyOf: (entry) => entry.packageName })
}

const ALL: readonly Published[] = [
  publish({
    Package: 'zoo',
    Version: '1.9',
    Title: 'Zoo',
    License: 'GPL-3 |\n    file LICENSE',
    Depends: 'R (>= 3.5),\n  methods',
    Imports: 'tidytoy (>= 0.3-1)',
    NeedsCompilation: 'no',
  }),
  publish({ Package: 'zoo', Version: '1.10', License: 'GPL-3', Suggests: 'utils' }),
  publish({ Package: 'zoo', Version: '1.2', License: 'MIT' }),
  publish({
    Package: 'tidytoy',
    Version: '0.3-1',
    Priority: 'contrib',
    License: 'GPL-3',
    License_is_FOSS: 'yes',
    License_restricts_use: 'no',
    OS_type: 'unix',
    Archs: 'x64',
    Depends: 'R (>= 4.1)',
    Imports: 'stats, utils',
    LinkingTo: 'Rcpp',
    Enhances: 'lattice',
    Suggests: 'knitr (>= 1.0)',
    NeedsCompilation: 'yes',
  }),
  publish({ Package: 'Alpha', Version: '1.0', License: 'GPL-2' }),
]

/** Files of DESCRIPTION that programs other than R could read in another way. */
const UNUSUAL: readonly Published[] = [
  'Package: tabs\nVersion:\t1.0\nLicense: GPL-2 |\n\tGPL-3\nImports:\n\tutils,\n\tstats\n',
  'Package:close\nVersion:1.0\nDepends:R (>= 3.5)',
  '\n \nPackage: blank  \nVersion: 1.0-2 \nLicense: GPL-3\t\nSuggests:\n\n\n',
  'Package: crlf\r\nVersion: 1.0\r\nLicense: GPL-3\r\nDepends: R (>= 3.5),\r\n  methods\r\n',
  'Package: dots\nVersion: 1.0\nDescription: One\n .\n\t.\n two.\n Depends: not a field\nLicense: MIT\n',
  'Package: latin\nVersion: 1.0\nEncoding: latin1\nAuthor: Caf\xe9\nTitle: \xfc\nLicense: GPL-3\n',
  'Package: utf\nVersion: 1.0\nEncoding: UTF-8\nAuthor: Caf\xc3\xa9\nLicense: GPL-3\n',
  'Package: lists\nVersion: 1.0\nLinkingTo: Rcpp (>= 1.0) ,cpp11\nEnhances: lattice  (>=  0.2),, MASS,\n',
  'Package: bounds\nVersion: 1.0\nImports: foo (== 1.0-2), foo (!= 1.2), bar (< 2.0.0)\n',
  'Package: cases\nVersion: 1.0\nimports: utils\nMD5sum: x\nFile: y\nPath: z\n',
].map((text) => publishText(Buffer.from(text, 'latin1')))

t.test('the index files equal the reviewed ones', async (t) => {
  // The output of a compressor differs between machines.
  const entries = ALL.map(({ entry: { file, ...entry } }) => {
    const md5 = createHash('md5').update(file.name).digest('hex')
    return { ...entry, file: { ...file, digests: { ...file.digests, md5 } } }
  })
  const files = await build(t, entries)
  t.strictSame([...files.keys()], ['PACKAGES', 'PACKAGES.gz', 'PACKAGES.rds'])
  const text = files.get('PACKAGES')?.toString() ?? ''
  t.ok(gunzipSync(files.get('PACKAGES.gz') ?? '').equals(Buffer.from(text)))
  isExpected(t, text.split('\n'), 'cran-packages')
  t.strictSame(await build(t, entries), files, 'equal input gives equal output')
})

/**
 * R function that prints `package|field|value` for every cell of an index file. In lists, R keeps
 * the white space and the empty entries of DESCRIPTION.
 */
const SHOW = `
  tidy <- function(text) {
    text <- gsub('( ?, ?)+', ', ', gsub('[[:space:]]+', ' ', text))
    trimws(sub(', ?$', '', text))
  }
  show <- function(db) for (row in order(db[, 'Package'])) for (field in sort(colnames(db)))
    if (!is.na(db[row, field]) && nzchar(db[row, field]))
      cat(db[row, 'Package'], field, tidy(db[row, field]), sep = '|', fill = 9999)`

async function repository(t: Test, files: ReadonlyMap<string, Buffer>): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const [path, bytes] of files) await writeFile(join(folder, path), bytes)
  return folder
}

t.test('R reads the same from each file and from the files that its own tools write', async (t) => {
  const published = [...ALL, ...UNUSUAL]
  const files = await build(
    t,
    published.map(({ entry }) => entry),
  )
  const folder = await repository(t, files)
  const own = askR(`${SHOW}; show(read.dcf('PACKAGES'))`, '', folder)
  t.strictSame(askR(`${SHOW}; show(read.dcf('PACKAGES.gz'))`, '', folder), own)
  t.strictSame(askR(`${SHOW}; show(readRDS('PACKAGES.rds'))`, '', folder), own)

  const archives = await temporaryFolder(t)
  for (const { archive, entry } of published)
    await writeFile(join(archives, entry.file.name), archive)
  const write = `suppressMessages(tools::write_PACKAGES('.', type = 'source'))`
  const theirs = askR(`${write}; ${SHOW}; show(read.dcf('PACKAGES'))`, '', archives)
  t.strictSame(theirs, own, 'field by field')
})

t.test('R accepts a repository of these files', async (t) => {
  const files = await build(
    t,
    ALL.map(({ entry }) => entry),
  )
  for (const kind of ['PACKAGES', 'PACKAGES.rds']) {
    const bytes = new Map([...files].filter(([path]) => path === 'PACKAGES' || path === kind))
    const folder = await repository(t, bytes)
    const program = `
      options(warn = 2)
      db <- available.packages('file://${folder}')
      cat(rownames(db), db[, 'Version'], db['tidytoy', 'NeedsCompilation'], db[, 'File'], '\\n')`
    const wanted = ['Alpha tidytoy zoo 1.0 0.3-1 1.10 yes NA NA NA ']
    t.strictSame(askR(program), wanted, kind)
  }
})

t.test('of versions that are equal to R the last one is listed', async (t) => {
  const versions = ['1.0', '1.0.0', '1.0-0', '0.9']
  const entries = versions.map((Version) => publish({ Package: 'toy', Version }).entry)
  const told = async (all: readonly IndexEntry[]) =>
    /^Version: (.*)$/m.exec((await build(t, all)).get('PACKAGES')?.toString() ?? '')?.[1]
  t.equal(await told(entries), '1.0-0')
  t.equal(await told(entries.toReversed()), '1.0')
})

t.test('an unusual file name is listed in the field File', async (t) => {
  const { entry } = publish({ Package: 'toy', Version: '1.0' }, { File: 'toy_1.0.zip' })
  t.match((await build(t, [entry])).get('PACKAGES')?.toString(), /\nFile: toy_1\.0\.zip\n\n$/)
})

t.test('without packages no file is written', async (t) => {
  t.strictSame([...(await build(t, []))], [])
})

t.test('Meta/archive.rds has all versions of source packages but the highest', async (t) => {
  const versions = { toy: ['1.10', '1.0', '1.9'], solo: ['2.0'], Alpha: ['1.0', '1.0.0'] }
  const entries = Object.entries(versions).flatMap(([Package, all]) =>
    all.map((Version) => publish({ Package, Version }).entry),
  )
  const inputs = { keyOf: (entry: IndexEntry) => entry.packageName, subject: 'src' }
  const rowsOf = async (some: readonly IndexEntry[]) => {
    const files = await buildIndex(t, PACKAGES_INDEX, some, inputs)
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'archive.rds'), files.get('Meta/archive.rds') ?? '')
    const program = `
      archive <- readRDS('archive.rds')
      cat(c(length(archive), names(archive), unlist(lapply(archive, rownames))), '\\n')`
    return askR(program, '', folder)
  }
  t.strictSame(await rowsOf(entries), [
    '2 Alpha toy Alpha/Alpha_1.0.tar.gz toy/toy_1.0.tar.gz toy/toy_1.9.tar.gz ',
  ])
  const highest = entries.filter(({ version }) => ['1.10', '2.0', '1.0.0'].includes(version))
  t.strictSame(await rowsOf(highest), ['0 '])
  const binary = await buildIndex(t, PACKAGES_INDEX, entries, { ...inputs, subject: 'bin/x/4.2' })
  t.notOk(binary.has('Meta/archive.rds'))
})
