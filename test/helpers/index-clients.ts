/** The formats with indexes: how a package is published and removed, and the real clients. */

import { randomInt } from 'node:crypto'
import type { Test } from 'tap'
import { type ApkClient, newApkClient } from './apk-client.js'
import { apk, readIndex } from './apks.js'
import { type AptOptions, type AptRoot, newAptRoot } from './apt-client.js'
import { controlOf, debOf } from './debs.js'
import { newRClient, type REnd } from './r-client.js'
import { rTarGz } from './r-packages.js'

/** A package in a version, `name 1.COUNT`: of one name, the higher count is the later version. */
export type Item = string

export interface Change {
  readonly method: string
  /** Below the address of the server. */
  readonly path: string
  readonly body?: Buffer
}

/** What a client found. */
export interface Seen {
  readonly listed: readonly Item[]
  /** What is listed, and could not be had: the client's own words, by item. */
  readonly missing: ReadonlyMap<Item, string>
}

/**
 * Updates a client and has it fetch of what is listed. Undefined: its connection was cut. Throws
 * where the client does not take what it was given.
 */
export type Reader = () => Promise<Seen | undefined>

/** A format with ada's packages of it. */
export interface IndexedFormat {
  readonly name: 'alpine' | 'cran' | 'debian'
  publish(item: Item): Change
  remove(item: Item): Change
  /** Of everything that its indexes consist of. */
  readonly paths: readonly string[]
  /** What these files name, by their paths. */
  namesIn(t: Test, files: ReadonlyMap<string, Buffer>): Promise<readonly Item[]>
  /** Of items that are there, those that an index names. */
  listedOf(items: readonly Item[]): readonly Item[]
  /** The clients, each a machine or a person of its own; given the address of the server. */
  readonly readers: Readonly<Record<string, (t: Test, url: string) => Promise<Reader>>>
}

/** What is always there, so that every client finds something. */
export const ALWAYS: Item = 'always 1.0'

/** How clients say that nobody listens, or that the one who did is gone. */
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

/** Some are for every architecture: they stand elsewhere in an index, or in several. */
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
      // A root of its own each time: what apt knows already it would not fetch.
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
    if (isCutOff) return undefined
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
  paths: ['PACKAGES', 'PACKAGES.gz', 'PACKAGES.rds'].map((file) => `${CONTRIB}/${file}`),
  async namesIn(_t, files) {
    const text = files.get(`${CONTRIB}/PACKAGES`)?.toString() ?? ''
    return matchesOf(text, /^Package: (.*)\nVersion: (.*)$/gm)
  },
  /** Of each package its highest version. */
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

/** Each run begins with no index in its folder. A package that cannot be had is a warning. */
const PROGRAM = `
  repos <- 'URL'
  known <- available.packages(repos = repos, filters = list())
  cat(sprintf('listed %s %s', known[, 'Package'], known[, 'Version']), sep = '\\n')
  options(warn = 1)
  dir.create(folder <- tempfile())
  got <- download.packages(known[, 'Package'], folder, available = known, quiet = TRUE)
  wrong <- tools::md5sum(got[, 2]) != known[got[, 1], 'MD5sum']
  cat(sprintf('\\nwrong %s\\n', got[wrong, 1]))
  install.packages('always', folder, available = known, repos = repos, quiet = TRUE)
  if (file.exists(file.path(folder, 'always', 'DESCRIPTION'))) cat('\\ninstalled\\n')
`

function seenByR({ exitCode, output, errorText }: REnd): Seen | undefined {
  const isCutOff = CUT_OFF.test(errorText)
  const isInstalled = /^installed$/m.test(output)
  const isWrong = /^wrong /m.test(output)
  if (exitCode !== 0 || isWrong || !(isInstalled || isCutOff)) {
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
/** How many of the listed files the machine fetches each time. */
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
