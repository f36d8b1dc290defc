/** An apk client made of curl, openssl and pmbootstrap, because Debian has no apk. */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { readIndex, splitMembers } from './apks.js'
import { pmbBlocks, pmbProviders, type VisiblePackage } from './pmbootstrap.js'
import { temporaryFolder } from './temporary.js'

export interface ApkClientOptions {
  /** URL as in `/etc/apk/repositories`. */
  readonly repository: string
  /** Architecture of the client. */
  readonly arch: string
}

export interface ApkClient {
  /** Downloads a key, as `wget` or `curl -JO` do in `/etc/apk/keys`. */
  trust(keyUrl: string): Promise<void>
  /** Reads the index, as `apk update`. Throws if it is missing or its key is not trusted. */
  update(): Promise<readonly VisiblePackage[]>
  /**
   * Downloads and verifies the newest package that provides the name, as `apk fetch NAME` or
   * `apk fetch NAME=VERSION`. Returns the name of its file.
   */
  fetch(wanted: string): Promise<string>
}

/** Creates a client that trusts no key. */
export async function newApkClient(
  t: Test,
  { repository, arch }: ApkClientOptions,
): Promise<ApkClient> {
  const folder = await temporaryFolder(t)
  let index: Buffer = Buffer.alloc(0)

  const download = async (url: string): Promise<Buffer> => {
    const { exitCode, errorText } = await curl(folder, '--location', '--output', 'got', url)
    if (exitCode !== 0) throw new Error(errorText)
    return await readFile(join(folder, 'got'))
  }

  const find = async (wanted: string): Promise<VisiblePackage> => {
    const [name = '', version] = wanted.split('=')
    const found =
      version === undefined
        ? Object.values(await pmbProviders(t, index, name))[0]
        : (await pmbBlocks(t, index)).find(
            (block) => block.pkgname === name && block.version === version,
          )
    if (found === undefined) throw new Error(`${wanted} (no such package)`)
    return found
  }

  return {
    async trust(keyUrl) {
      const { exitCode, errorText } = await curl(folder, '-JO', keyUrl)
      if (exitCode !== 0) throw new Error(errorText)
    },
    async update() {
      index = await download(`${repository}/${arch}/APKINDEX.tar.gz`)
      const { signatureNames, isSignedBy } = await readIndex(t, index)
      // Like apk-tools 2 and 3, check only the first signature whose key is installed.
      const trusted = await readdir(folder)
      const keyNameOf = (name: string) => name.replace(/^\.SIGN\.RSA\./, '')
      const chosen = signatureNames.find((name) => trusted.includes(keyNameOf(name)))
      if (chosen === undefined) throw new Error('UNTRUSTED signature')
      if (!(await isSignedBy(await readFile(join(folder, keyNameOf(chosen)), 'utf8'), chosen))) {
        throw new Error('BAD signature')
      }
      return await pmbBlocks(t, index)
    },
    async fetch(wanted) {
      const { pkgname, version, arch: listed } = await find(wanted)
      const fileName = `${pkgname}-${version}.apk`
      const bytes = await download(`${repository}/${listed}/${fileName}`)
      const { text } = await readIndex(t, index)
      const record = text
        .split('\n\n')
        .find((one) => one.includes(`\nP:${pkgname}\nV:${version}\n`))
      checkPackage(bytes, record ?? '')
      return fileName
    },
  }
}

/** Verifies the control member against the index, and the data against the control member. */
function checkPackage(bytes: Buffer, record: string): void {
  const [, control = Buffer.alloc(0), ...data] = splitMembers(bytes)
  const identity = createHash('sha1').update(control).digest('base64')
  if (!record.startsWith(`C:Q1${identity}\n`)) throw new Error('BAD checksum')
  if (!record.includes(`\nS:${bytes.length}\n`)) throw new Error('BAD size')
  // Packages of tests are not compressed, so that the text can be searched for directly.
  const dataHash = createHash('sha256').update(Buffer.concat(data)).digest('hex')
  if (!control.includes(`\ndatahash = ${dataHash}\n`)) throw new Error('BAD archive')
}

/** Runs curl in a folder; curl fails if the status is not a success. */
export async function curl(cwd: string, ...args: readonly string[]) {
  return await runToEnd('curl', ['--silent', '--show-error', '--fail', ...args], {
    cwd,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin', HOME: cwd },
    timeoutMs: 120_000,
    outputBytesMax: 65_536,
  })
}
