/** Package formats with indexes: requests that publish and remove packages, and real clients. */

import { randomInt } from 'node:crypto'
import type { Test } from 'tap'
import { type ApkClient, newApkClient } from './apk-client.js'
import { apk, readIndex } from './apks.js'
import { type AptOptions, type AptRoot, newAptRoot } from './apt-client.js'
import { controlOf, debOf } from './debs.js'
import { newRClient, type REnd } from './r-client.js'
import { rTarGz } from './r-packages.js'

/** Name and version of a package, `name 1.COUNT`; a higher count is a later version. */
export type Item = string

export interface Change {
  readonly method: string
  /** Path below the URL of the server. */
  readonly path: string
  readonly body?: Buffer
}

/** Packages that a client found in an index. */
export interface Seen {
  readonly listed: readonly Item[]
  /** Errors of the client for listed items that it could not download. */
  readonly missing: ReadonlyMap<Item, string>
}

/**
 * Function that updates a client and downloads some of the listed packages. Returns undefined if
 * the connection was cut. Throws if the client refuses the index.
 */
export type Reader = () => Promise<Seen | undefined>

/** A format, and ada's packages in it. */
export interface IndexedFormat {
  readonly name: 'alpine' | 'cran' | 'debian'
  publish(item: Item): Change
  remove(item: Item): Change
  /** Paths of all files of its indexes. */
  readonly paths: readonly string[]
  /** Returns the items that index files list; the files are given by path. */
  namesIn(t: Test, files: ReadonlyMap<string, Buffer>): Promise<readonly Item[]>
  /** Returns those of the existing items that an index lists. */
  listedOf(items: readonly Item[]): readonly Item[]
  /** Functions that open a client of the server with a URL, by name of the client. */
  readonly readers: Readonly<Record<string, (t: Test, url: string) => Promise<Reader>>>
}

/** Item that is never removed, so that no index is empty. */
export const ALWAYS: Item = 'always 1.0'

/** Messages of clients for a refused or interrupted connection. */
const CUT_OFF = new RegExp(
  [
    'Could not connect',
    'Connection (?:failed|refused|reset)',
    'Error reading from server',
    "Couldn't connect to server",
    'Server returned nothing',
    'Failure when receiving data',
    'Failed sending data',
    'Transferred a partial file',
    'curl: \\((?:7|18|52|55|56)\\)',
  ].join('|'),
)

function partsOf(item: Item): { readonly name: string; readonly version: string } {
  const [name = '', version = ''] = item.split(' ')
  return { name, version }
}

/** Returns true for every fourth version, which is for all architectures. */
function isForAll(item: Item): boolean {
  return Number(item.split('.').at(-1)) % 4 === 3
}

const matchesOf = (text: string, pattern: RegExp): readonly Item[] =>
  [...text.matchAll(pattern)].map(([, name, version]) => `${name} ${version}`)

const DEBIAN = '/api/packages/ada/debian'
const DIST = `${DEBIAN}/dists/stable`
const LISTS = ['amd64', 'all'].map((one) => `${DIST}/main/binary-${one}/Packages`)
const debianArchitectureOf = (item: Item) => (isForAll(item) ? 'all' : 'amd64')

const debian: IndexedFormat = {
  name: 'debian',
  publish(item) {
    const { name, version } = partsOf(item)
    const Architecture = debianArchitectureOf(item)
    const control = controlOf({ Package: name, Version: version, Architecture })
    return { method: 'PUT', path: `${DEBIAN}/pool/stable/main/upload`, body: debOf({ control }) }
  },
  remove(item) {
    const { name, version } = partsOf(item)
    const file = `${name}/${version}/${debianArchitectureOf(item)}`
    return { method: 'DELETE', path: `${DEBIAN}/pool/stable/main/${file}` }
  },
  paths: [
    ...LISTS.flatMap((path) => [path, `${path}.gz`]),
    ...['Release', 'InRelease', 'Release.gpg'].map((file) => `${DIST}/${file}`),
  ],
  async namesIn(_t, files) {
    const text = LISTS.map((path) => files.get(path)?.toString() ?? '').join('\n')
    return matchesOf(text, /^Package: (.*)\nVersion: (.*)$/gm)
  },
  listedOf: (items) => items,
  readers: {
    async 'apt on new machines'(t, url) {
      const options = await aptOptions(url)
      // A new root each time, because apt does not fetch files that it already has.
      return async () => await updateApt(await newAptRoot(t, options))
    },
    async 'apt on one machine'(t, url) {
      const apt = await newAptRoot(t, await aptOptions(url))
      return async () => await updateApt(apt)
    },
  },
}

async function aptOptions(url: string): Promise<AptOptions> {
  const key = new Uint8Array(await (await fetch(`${url}${DEBIAN}/repository.key`)).arrayBuffer())
  return { sources: [`deb [signed-by=KEY] ${url}${DEBIAN} stable main`], key }
}

async function updateApt(apt: AptRoot): Promise<Seen | undefined> {
  const update = await apt.get('update')
  if (update.exitCode !== 0 || /^(?:Err|W|E):/m.test(update.output)) {
    const failures = aptFailuresIn(update.output)
    const isCutOff = failures.length > 0 && failures.every(({ why }) => CUT_OFF.test(why))
    if (isCutOff || (await isFallbackOfCutOff(update.output))) return undefined
    throw new Error(update.output)
  }
  const names = (await apt.cache('pkgnames')).output.trim().split('\n')
  const known = await apt.cache('madison', ...names)
  const listed = matchesOf(known.output, /^ *(\S+) \| +(\S+) \|/gm)
  const wanted = listed.map((item) => item.replace(' ', '='))
  const { exitCode, output } = await apt.get('download', ...wanted)
  const failures = aptFailuresIn(output)
  if (exitCode !== 0 && failures.length === 0) throw new Error(output)
  const missing = new Map<Item, string>()
  for (const { url, why } of failures) {
    const [item = url] = matchesOf(url, /([^/_]+)_([^/_]+)_[^/_]+\.deb/g)
    if (!CUT_OFF.test(why)) missing.set(item, why)
  }
  return { listed, missing }
}

/**
 * Returns true if apt fell back to an index without its digest in the path, which a later
 * generation has replaced, after its download by digest was interrupted. The expected digests must
 * still be served.
 */
async function isFallbackOfCutOff(output: string): Promise<boolean> {
  const failures = aptFailuresIn(output)
  const digests = [...output.matchAll(/SHA256:([0-9a-f]{64})/g)].map(([, digest = '']) => digest)
  const isFallback = failures.every(({ why }) => /unexpected size|Hash Sum mismatch/.test(why))
  if (!/^Ign:/m.test(output) || !isFallback || digests.length === 0) return false
  const statuses = await Promise.all(
    failures.flatMap(({ url }) =>
      digests.map(async (digest) => {
        const folder = url.slice(0, url.lastIndexOf('/'))
        const response = await fetch(`${folder}/by-hash/SHA256/${digest}`)
        await response.arrayBuffer()
        return response.status
      }),
    ),
  )
  return statuses.length > 0 && statuses.every((status) => status === 200)
}

function aptFailuresIn(output: string) {
  return [...output.matchAll(/^[WE]: Failed to fetch (\S+) +(.*)$/gm)].map(
    ([, url = '', why = '']) => ({ url, why }),
  )
}

const CRAN = '/api/packages/ada/cran'
const CONTRIB = `${CRAN}/src/contrib`

const cran: IndexedFormat = {
  name: 'cran',
  publish(item) {
    const { name, version } = partsOf(item)
    const body = rTarGz({
      Package: name,
      Version: version,
      Title: 'Toy',
      Description: 'A toy.',
      License: 'GPL-3',
      Author: 'Ada',
      Maintainer: 'Ada <ada@example.test>',
    })
    return { method: 'PUT', path: `${CRAN}/src`, body }
  },
  remove: (item) => ({
    method: 'DELETE',
    path: `/api/v1/packages/ada/cran/${item.replace(' ', '/')}`,
  }),
  paths: ['PACKAGES', 'PACKAGES.gz', 'PACKAGES.rds', 'Meta/archive.rds'].map(
    (file) => `${CONTRIB}/${file}`,
  ),
  async namesIn(_t, files) {
    const text = files.get(`${CONTRIB}/PACKAGES`)?.toString() ?? ''
    return matchesOf(text, /^Package: (.*)\nVersion: (.*)$/gm)
  },
  /** Returns the highest version of each package. */
  listedOf(items) {
    const highest = new Map<string, Item>()
    for (const item of items) {
      const { name } = partsOf(item)
      if (countOf(item) >= countOf(highest.get(name))) highest.set(name, item)
    }
    return [...highest.values()]
  },
  readers: {
    async R(t, url) {
      const { run } = await newRClient(t)
      return async () => seenByR(await run(PROGRAM.replace('URL', `${url}${CRAN}`)))
    },
  },
}

function countOf(item: Item | undefined): number {
  return Number(item?.split('.').at(-1) ?? -1)
}

/** R program, which starts without an index. A package that cannot be downloaded is a warning. */
const PROGRAM = `
  repos <- 'URL'
  known <- available.packages(repos = repos, filters = list())
  cat(sprintf('listed %s %s', known[, 'Package'], known[, 'Version']), sep = '\\n')
  options(warn = 1)
  dir.create(folder <- tempfile())
  got <- download.packages(known[, 'Package'], folder, available = known, quiet = TRUE)
  wrong <- tools::md5sum(got[, 2]) != known[got[, 1], 'MD5sum']
  cat(sprintf('\\nwrong %s\\n', got[wrong, 1]))
  if ('always' %in% got[!wrong, 1]) cat('\\ndownloaded\\n')
`

/**
 * Message of R for an index of which it got no file in three attempts. It does not contain the
 * reason, which R suppresses. The direct reads of the same files report statuses other than 200.
 */
const NO_INDEX = /unable to access index for repository/

function seenByR({ exitCode, output, errorText }: REnd): Seen | undefined {
  const isCutOff = CUT_OFF.test(errorText) || NO_INDEX.test(errorText)
  const isDownloaded = /^downloaded$/m.test(output)
  const isWrong = /^wrong /m.test(output)
  if (exitCode !== 0 || isWrong || !(isDownloaded || isCutOff)) {
    if (isCutOff && !isWrong) return undefined
    throw new Error(`${output}\n${errorText}`)
  }
  const missing = new Map<Item, string>()
  for (const line of errorText.split('\n')) {
    const [item] = matchesOf(line, /([^/_]+)_([^/_]+)\.tar\.gz'/g)
    if (item !== undefined) missing.set(item, `${missing.get(item) ?? ''}${line}`)
  }
  for (const [item, why] of missing) if (CUT_OFF.test(why)) missing.delete(item)
  return { listed: matchesOf(output, /^listed (\S+) (\S+)$/gm), missing }
}

const ALPINE = '/api/packages/ada/alpine'
const PLACE = `${ALPINE}/v3.20/main`
const alpineArchitectureOf = (item: Item) => (isForAll(item) ? 'noarch' : 'x86_64')
/** Number of listed packages that the client downloads after each update. */
const FETCHED = 2

const alpine: IndexedFormat = {
  name: 'alpine',
  publish(item) {
    const { name: pkgname, version } = partsOf(item)
    const lines = { pkgname, pkgver: `${version}-r0`, arch: alpineArchitectureOf(item) }
    return { method: 'PUT', path: PLACE, body: apk(lines) }
  },
  remove: (item) => ({
    method: 'DELETE',
    path: `${PLACE}/${alpineArchitectureOf(item)}/${item.replace(' ', '-')}-r0.apk`,
  }),
  paths: ['x86_64', 'noarch', 'aarch64'].map((one) => `${PLACE}/${one}/APKINDEX.tar.gz`),
  async namesIn(t, files) {
    const bytes = files.get(`${PLACE}/x86_64/APKINDEX.tar.gz`)
    const text = bytes === undefined ? '' : (await readIndex(t, bytes)).text
    return matchesOf(text, /^P:(.*)\nV:(.*)-r0$/gm)
  },
  listedOf: (items) => items,
  readers: {
    async apk(t, url) {
      const machine = await newApkClient(t, { repository: `${url}${PLACE}`, arch: 'x86_64' })
      await machine.trust(`${url}${ALPINE}/key`)
      return async () => {
        try {
          const blocks = await machine.update()
          const listed = blocks.map((one) => `${one.pkgname} ${one.version.replace(/-r0$/, '')}`)
          return { listed, missing: await fetchSome(machine, listed) }
        } catch (error) {
          if (error instanceof Error && CUT_OFF.test(error.message)) return undefined
          throw error
        }
      }
    },
  },
}

async function fetchSome(
  machine: ApkClient,
  listed: readonly Item[],
): Promise<ReadonlyMap<Item, string>> {
  const missing = new Map<Item, string>()
  for (let at = 0; at < FETCHED; at += 1) {
    const item = listed[randomInt(listed.length)] ?? ALWAYS
    try {
      await machine.fetch(`${item.replace(' ', '=')}-r0`)
    } catch (error) {
      const why = String(error)
      if (!CUT_OFF.test(why)) missing.set(item, why)
    }
  }
  return missing
}

export const INDEXED_FORMATS: readonly IndexedFormat[] = [alpine, cran, debian]
