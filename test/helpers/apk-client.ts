/** What apk does with a repository, done by curl, openssl and pmbootstrap: Debian has no apk. */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { readIndex, splitMembers } from './apks.js'
import { pmbBlocks, pmbProviders, type VisiblePackage } from './pmbootstrap.js'
import { temporaryFolder } from './temporary.js'

export interface ApkClientOptions {
  /** A line of `/etc/apk/repositories`. */
  readonly repository: string
  /** Of the machine that it is for. */
  readonly arch: string
}

export interface ApkClient {
  /** As `wget` or `curl -JO` put a key into `/etc/apk/keys`. */
  trust(keyUrl: string): Promise<void>
  /** `apk update`: reads the index. Throws when there is none or its key is not trusted. */
  update(): Promise<readonly VisiblePackage[]>
  /**
   * `apk fetch NAME`, or `NAME=VERSION`: the newest file of what provides the name, looked at as
   * apk looks at it. Answers its name.
   */
  fetch(wanted: string): Promise<string>
}

/** A machine that trusts nobody yet. */
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
      // As apk-tools 2 and 3 do: the first whose key is there is checked, and no other.
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

/** The checksum of the index is of the control member, and that one has the sum of the files. */
function checkPackage(bytes: Buffer, record: string): void {
  const [, control = Buffer.alloc(0), ...data] = splitMembers(bytes)
  const identity = createHash('sha1').update(control).digest('base64')
  if (!record.startsWith(`C:Q1${identity}\n`)) throw new Error('BAD checksum')
  if (!record.includes(`\nS:${bytes.length}\n`)) throw new Error('BAD size')
  // Packages of tests are stored, so that the text stands in them as it is.
  const dataHash = createHash('sha256').update(Buffer.concat(data)).digest('hex')
  if (!control.includes(`\ndatahash = ${dataHash}\n`)) throw new Error('BAD archive')
}

/** Runs curl in a folder; it fails where the answer is not a success. */
export async function curl(cwd: string, ...args: readonly string[]) {
  return await runToEnd('curl', ['--silent', '--show-error', '--fail', ...args], {
    cwd,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin', HOME: cwd },
    timeoutMs: 120_000,
    outputBytesMax: 65_536,
  })
}
