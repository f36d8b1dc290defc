/** Apk v2 packages: gzip members with signatures, metadata and files (apk-v2(5)). */

import { createHash } from 'node:crypto'
import { Failure } from '../../conf/failures.js'
import type { ByteSource } from '../archive/byte-source.js'
import { readGzipMember } from '../archive/gzip-members.js'
import { readTar } from '../archive/tar.js'
import { TAR_END } from '../archive/tar-header.js'
import { type PackageInfo, parsePackageInfo } from './package-info.js'

export interface ApkPackage {
  readonly info: PackageInfo
  /** Identity of the package for apk: `Q1` and the SHA-1 of the compressed control member. */
  readonly checksum: string
}

/**
 * Reads the metadata of a package; its files are not decompressed. Throws `bad_request` if the file
 * is not an apk v2 package, or if the data section does not match its `datahash`.
 */
export async function readPackage(source: ByteSource): Promise<ApkPackage> {
  const magic = (await source.read(0, 3)).toString('latin1')
  if (magic === 'ADB') {
    const advice = 'the APKINDEX format lists apk v2 packages only'
    throw new Failure('bad_request', `The file is an apk v3 package: ${advice}.`)
  }
  if (!magic.startsWith('\x1f\x8b')) {
    throw new Failure('bad_request', 'The file is not a valid apk package: it is not a gzip file.')
  }
  const { start, end, packageInfo } = await findControl(source)
  const info = parsePackageInfo(packageInfo)
  await checkData(source, { start: end, hash: info.dataHash })
  const sha1 = await digest(source, { algorithm: 'sha1', start, end })
  return { info, checksum: `Q1${sha1.toString('base64')}` }
}

const SIGNATURE_MEMBERS_MAX = 16

async function findControl(source: ByteSource) {
  let start = 0
  for (let before = 0; before <= SIGNATURE_MEMBERS_MAX && start < source.bytes; before += 1) {
    const options = { start, bytesMax: MEMBER_BYTES_MAX }
    const { result, end } = await readGzipMember(source, options, readControl)
    const { packageInfo } = result
    if (packageInfo !== undefined) return { start, end, packageInfo }
    if (!result.isSignature) break
    start = end
  }
  throw new Failure('bad_request', 'PKGINFO file is missing from the control section')
}

/** Maximum decompressed size of each member before the data section. */
const MEMBER_BYTES_MAX = 10_485_760
const INFO_BYTES_MAX = 1_048_576
const TAR_LIMITS = { entriesMax: 10_000, headerBytesMax: MEMBER_BYTES_MAX }

const INFO_NAME = '.PKGINFO'

/**
 * Reads a signature or control member. The members of a package form one tar archive together, so
 * that these have no end-of-archive blocks.
 */
async function readControl(content: AsyncIterable<Uint8Array>) {
  let packageInfo: Buffer | undefined
  let signatures = 0
  let others = 0
  for await (const entry of readTar(thenEnd(content), TAR_LIMITS)) {
    if (entry.path.startsWith('.SIGN.')) signatures += 1
    else others += 1
    if (entry.path !== INFO_NAME) continue
    if (packageInfo !== undefined || entry.kind !== 'file') {
      const problem = packageInfo === undefined ? 'is not a regular file' : 'occurs several times'
      throw new Failure('bad_request', `.PKGINFO ${problem} in the control section.`)
    }
    packageInfo = await entry.read(INFO_BYTES_MAX)
  }
  return { packageInfo, isSignature: signatures > 0 && others === 0 }
}

async function* thenEnd(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* content
  yield TAR_END
}

interface Data {
  readonly start: number
  readonly hash: string | undefined
}

/**
 * Compares the data section with the `datahash` of `.PKGINFO`. Without this check, a damaged upload
 * would fail only when apk installs it.
 */
async function checkData(source: ByteSource, { start, hash }: Data): Promise<void> {
  if (hash === undefined) return
  const found = await digest(source, { algorithm: 'sha256', start, end: source.bytes })
  if (found.toString('hex') === hash) return
  const advice = 'the file is damaged or truncated; build or upload it again'
  throw new Failure('bad_request', `The data section does not match its datahash: ${advice}.`)
}

interface DigestInput {
  readonly algorithm: 'sha1' | 'sha256'
  readonly start: number
  readonly end: number
}

async function digest(source: ByteSource, { algorithm, start, end }: DigestInput): Promise<Buffer> {
  const hash = createHash(algorithm)
  for await (const chunk of source.stream(start, end)) hash.update(chunk)
  return hash.digest()
}
