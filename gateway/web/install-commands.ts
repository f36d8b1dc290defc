/** How a package is installed, in the words of the client of its format, to be copied. */

import type { PackageFile, PackageFormat } from '../../conf/package.js'

export interface InstalledPackage {
  /** Of the server. */
  readonly baseUrl: string
  readonly owner: string
  readonly packageName: string
  readonly version: string
  /** Never none. */
  readonly files: readonly Pick<PackageFile, 'name' | 'compositeKey'>[]
}

/** What is to be typed or written somewhere, and where. */
export interface Instruction {
  readonly about: string
  readonly text: string
}

type Instruct = (registry: string, wanted: InstalledPackage) => readonly Instruction[]

const IN_A_SHELL = 'In a shell'

const INSTRUCTIONS: Readonly<Record<PackageFormat, Instruct>> = {
  alpine(registry, { packageName, version, files }) {
    const [branch = '', repository = ''] = placeOf(files)
    const address = `${registry}/${branch}/${repository}`
    const lines = [
      `(cd /etc/apk/keys && curl -fJO ${quoted(`${registry}/key`)})`,
      `echo ${quoted(address)} >> /etc/apk/repositories`,
      `apk update && apk add ${quoted(`${packageName}=${version}`)}`,
    ]
    return [{ about: 'As root', text: lines.join('\n') }]
  },
  composer(registry, { packageName, version }) {
    const lines = [
      `composer config repositories.gatehouse composer ${quoted(registry)}`,
      `composer require ${quoted(`${packageName}:${version}`)}`,
    ]
    return [{ about: 'In the folder of your composer.json', text: lines.join('\n') }]
  },
  cran: (registry, { packageName }) => [
    {
      about: 'In R',
      text: `install.packages(${asR(packageName)}, repos = c(${asR(registry)}, getOption("repos")))`,
    },
  ],
  debian(registry, { packageName, version, files }) {
    const [distribution = '', component = ''] = placeOf(files)
    const key = '/etc/apt/keyrings/gatehouse.asc'
    const line = `deb [signed-by=${key}] ${registry} ${distribution} ${component}`
    const lines = [
      `curl -fo ${key} ${quoted(`${registry}/repository.key`)}`,
      `echo ${quoted(line)} > /etc/apt/sources.list.d/gatehouse.list`,
      `apt-get update && apt-get install ${quoted(`${packageName}=${version}`)}`,
    ]
    return [{ about: 'As root', text: lines.join('\n') }]
  },
  generic: (registry, { packageName, version, files }) => [
    {
      about: IN_A_SHELL,
      text: files
        .map(({ name }) => [packageName, version, name].map(encodeURIComponent).join('/'))
        .map((path) => `curl -fO ${quoted(`${registry}/${path}`)}`)
        .join('\n'),
    },
  ],
  go: (registry, { packageName, version }) => [
    {
      about: IN_A_SHELL,
      text: `GOPROXY=${quoted(`${registry},direct`)} GONOSUMDB=${quoted(packageName)} go get ${quoted(`${packageName}@${version}`)}`,
    },
  ],
  swift(registry, { packageName, version }) {
    const line = `.package(id: ${JSON.stringify(packageName)}, from: ${JSON.stringify(version)})`
    return [
      { about: IN_A_SHELL, text: `swift package-registry set ${quoted(registry)}` },
      { about: 'In Package.swift', text: line },
    ]
  },
}

/** What to do to have this version. */
export function installInstructions(
  format: PackageFormat,
  wanted: InstalledPackage,
): readonly Instruction[] {
  const registry = `${wanted.baseUrl}/api/packages/${wanted.owner}/${format}`
  return INSTRUCTIONS[format](registry, wanted)
}

/** Where among the places of its format the first file stands, as `registry/alpine` writes it. */
function placeOf(files: InstalledPackage['files']): readonly string[] {
  return files[0]?.compositeKey.split('|') ?? []
}

/** One word of a POSIX shell, whatever it holds. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A string of R, whose escapes are those of JSON. */
function asR(text: string): string {
  return JSON.stringify(text)
}
