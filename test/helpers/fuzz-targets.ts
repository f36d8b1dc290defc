/** The parsers of untrusted input, each with examples of accepted input. */

import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { parseCommit, parseTag } from '../../cgi/objects/commit-object.js'
import { parseModules } from '../../cgi/objects/modules-file.js'
import { applyDelta, resultSizeOf } from '../../cgi/objects/pack-delta.js'
import { parseEntry } from '../../cgi/objects/pack-entry.js'
import { parseTree, treeBytes } from '../../cgi/objects/tree.js'
import { unsharedEntries } from '../../cgi/objects/unshared-entries.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { parseAddressSet } from '../../conf/addresses.js'
import { asBlobLocation } from '../../conf/blob-location.js'
import { Failure, isFailure } from '../../conf/failures.js'
import { parseFilePath } from '../../conf/file-path.js'
import { decodePercent, type RequestHeaders } from '../../conf/http.js'
import { readByteRange } from '../../conf/lib/byte-range.js'
import { parseGlob } from '../../conf/lib/glob.js'
import { parseJsonText } from '../../conf/lib/json-values.js'
import { parseEmail, parseTagName } from '../../conf/names.js'
import { parseSshKey } from '../../conf/ssh-key.js'
import { parseSshSignature, verifySshSignature } from '../../conf/ssh-signature.js'
import { readCredentials } from '../../gateway/auth/credentials.js'
import { framingFault } from '../../gateway/http/framing.js'
import { parseGoDuration } from '../../gateway/objects/repositories/go-duration.js'
import { readTime } from '../../gateway/objects/times.js'
import { parseCloneAddress } from '../../gateway/outbound/git-remote.js'
import { normalize } from '../../gateway/packs/normal-request.js'
import { NoPack, readPackStream } from '../../gateway/packs/pack-stream.js'
import { readWholeFetch } from '../../gateway/packs/whole-fetch.js'
import { ClientRequests } from '../../gateway/ssh/client-requests.js'
import { parseCommand } from '../../gateway/ssh/command.js'
import { fieldsOf, formatMessage, takeMessage } from '../../gateway/ssh/message.js'
import { parseDiff } from '../../gateway/web/code/diff-lines.js'
import { readPackage } from '../../registry/alpine/package-archive.js'
import { parsePackageInfo } from '../../registry/alpine/package-info.js'
import { gunzip } from '../../registry/archive/compress.js'
import { readTar } from '../../registry/archive/tar.js'
import { unxz } from '../../registry/archive/unxz.js'
import { unzstd } from '../../registry/archive/unzstd.js'
import { openZip } from '../../registry/archive/zip.js'
import { parseComposerJson } from '../../registry/composer/composer-json.js'
import { isConstraint } from '../../registry/composer/constraint.js'
import { readNotification } from '../../registry/composer/notification.js'
import { readPackageArchive as readComposerArchive } from '../../registry/composer/package-archive.js'
import { parseVersion as parseComposerVersion } from '../../registry/composer/version.js'
import { conditionStatus } from '../../registry/conditions.js'
import { parseDescription } from '../../registry/cran/description.js'
import { readPackageArchive as readCranArchive } from '../../registry/cran/package-archive.js'
import { readContents } from '../../registry/debian/contents.js'
import { parseControl } from '../../registry/debian/control.js'
import { readDebFile } from '../../registry/debian/deb-file.js'
import { readSourceControl } from '../../registry/debian/source-control.js'
import { readModuleLine, readRetractions } from '../../registry/go/go-mod.js'
import { isInRange, parsePseudoVersion } from '../../registry/go/module-version.js'
import { readModuleZip } from '../../registry/go/module-zip.js'
import { readParts } from '../../registry/multipart.js'
import { readOpenpgpKey, verifyOpenpgp } from '../../registry/sign/openpgp-keys.js'
import { readSourceArchive } from '../../registry/swift/manifests.js'
import { parseMetadata } from '../../registry/swift/metadata.js'
import { apk, packageInfo } from './apks.js'
import { sourceOf } from './byte-sources.js'
import { packageTar, packageZip } from './composer-packages.js'
import { controlOf, debOf, pack } from './debs.js'
import { moduleZip } from './modules.js'
import { descriptionOf, rZip } from './r-packages.js'
import { OPENPGP_KEY, OPENPGP_SIGNATURE, SIGNED, SSH_SIGNATURE } from './signature-samples.js'
import { sourceArchive, swiftForm } from './swift.js'
import { paxRecord, tarOf } from './tar-bytes.js'

export interface FuzzTarget {
  readonly name: string
  readonly seeds: readonly Uint8Array[]
  /** Inputs that revealed a fault earlier; they are parsed without mutations. */
  readonly faults?: readonly Uint8Array[]
  /** Tokens of the grammar, which mutations insert. */
  readonly words?: readonly string[]
  parse(bytes: Buffer): unknown
  /** Returns true for errors that callers expect; by default a `Failure` below 500. */
  isRefusal?(error: unknown): boolean
}

export async function fuzzTargets(): Promise<readonly FuzzTarget[]> {
  return [...HTTP, ...GIT, ...SSH, ...SIGNATURES, ...TEXTS, ...METADATA, ...(await archives())]
}

/** Wraps bytes in an armor, so that mutations reach the packets. */
function armored(words: string, bytes: Buffer): string {
  const text = bytes.toString('base64').replace(/.{1,64}/g, '$&\n')
  return `-----BEGIN PGP ${words}-----\n\n${text}-----END PGP ${words}-----\n`
}

const SIGNATURES: readonly FuzzTarget[] = [
  {
    name: 'OpenPGP key',
    seeds: [Buffer.from(OPENPGP_KEY, 'base64')],
    parse: (bytes) => readOpenpgpKey(armored('PUBLIC KEY BLOCK', bytes)),
  },
  ofText(
    'armored OpenPGP key',
    [armored('PUBLIC KEY BLOCK', Buffer.from(OPENPGP_KEY, 'base64'))],
    readOpenpgpKey,
  ),
  {
    name: 'OpenPGP signature',
    seeds: [Buffer.from(OPENPGP_SIGNATURE, 'base64')],
    parse: (bytes) =>
      verifyOpenpgp({
        keys: [OPENPGP_KEY],
        signatures: [{ armored: armored('SIGNATURE', bytes), payload: SIGNED }],
      }),
  },
  ofText('SSH signature', [SSH_SIGNATURE], async (text) => {
    const signature = parseSshSignature(text)
    return signature && (await verifySshSignature(signature, SIGNED))
  }),
]

const ID = '1234567890abcdef1234567890abcdef12345678'

function headersOf(fields: Readonly<Record<string, string>>): RequestHeaders {
  return new Map(Object.entries(fields))
}

function ofText(
  name: string,
  seeds: readonly string[],
  parse: (text: string) => unknown,
  words: readonly string[] = [],
): FuzzTarget {
  return {
    name,
    words,
    seeds: seeds.map((seed) => Buffer.from(seed)),
    parse: (bytes) => parse(bytes.toString()),
  }
}

/** Parses text like the API parses bodies: text that is not JSON is refused. */
function readJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new Failure('invalid', 'The text is not JSON.', { cause })
    throw cause
  }
}

const FORM = swiftForm('/', [
  ['metadata', '{"author":{"name":"Ada"}}'],
  ['source-archive', 'zip'],
])

const HTTP: readonly FuzzTarget[] = [
  ofText('Authorization', ['Basic YWRhOnB3', 'token 0123', 'Bearer abc'], readCredentials),
  ofText('Range', ['bytes=0-9', 'bytes=-5'], (range) => readByteRange(range, 100)),
  ofText('If-None-Match', ['"abc", W/"def"', '*'], (tags) =>
    conditionStatus(headersOf({ 'if-none-match': tags, 'if-match': tags }), {
      tag: '"abc"',
      changedAtMs: 1_700_000_000_000,
    }),
  ),
  ofText('framing', ['12', 'chunked'], (value) => {
    framingFault(headersOf({ 'content-length': value }))
    return framingFault(headersOf({ 'transfer-encoding': value }))
  }),
  ofText('percent encoding', ['a%20b%2Fc', '%C3%A9'], decodePercent),
  ofText('JSON body', ['{"name":"a","list":[1,{"b":null}]}'], readJson, ['"__proto__":']),
  {
    name: 'multipart form',
    seeds: [Buffer.from(FORM.body ?? '')],
    words: ['\r\n--5EBD7C6A-66B9-4B5D-9D7C-0B2A7A3F2C11', '--', '\r\n\r\n', '; name="a"'],
    async parse(bytes) {
      const headers = headersOf({ 'content-type': FORM.headers?.['content-type'] ?? '' })
      for await (const part of readParts({ headers, body: chunksOf(bytes) }))
        await buffer(part.body)
    },
  },
  ofText('multipart boundary', ['multipart/form-data; boundary="a"'], async (type) => {
    const headers = headersOf({ 'content-type': type })
    for await (const _ of readParts({ headers, body: chunksOf(Buffer.from('--a--')) }));
  }),
]

const COMMIT = `tree ${ID}\nparent ${ID}\nauthor Ada <a@example.org> 1700000000 +0100\ncommitter Ada <a@example.org> 1700000000 +0100\ngpgsig -----BEGIN\n line\n -----END\n\nSubject\n\nBody\n`
const TAG = `object ${ID}\ntype commit\ntag v1\ntagger Ada <a@example.org> 1700000000 +0000\n\nFirst\n`
/** Tag that took 1.5 s while each `<` caused a scan to the end of the line. */
const MANY_ANGLES = TAG.replace('<a@example.org>', '<'.repeat(65_536))
const TREE = Buffer.concat(
  ['100644 a.txt', '40000 folder', '120000 link', '160000 module'].flatMap((entry) => [
    Buffer.from(`${entry}\0`),
    Buffer.from(ID, 'hex'),
  ]),
)
const FETCH_V0 = `003cwant ${ID} ofs-delta\n00000032have ${ID}\n0009done\n`
const FETCH = `0011command=fetch0014agent=git/2.39.50016object-format=sha10001000dofs-delta0032want ${ID}\n0009done\n0000`
const DIFF =
  'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n'

/** File that took 1.5 s while each space was tried as the end of the value. */
const MANY_SPACES = `[submodule "a"]\n\tpath = a${' '.repeat(65_536)}b\n`

const GIT: readonly FuzzTarget[] = [
  {
    name: 'commit object',
    seeds: [Buffer.from(COMMIT)],
    isRefusal: isAnyError,
    parse: (bytes) => parseCommit(ID, bytes),
  },
  {
    name: 'tag object',
    seeds: [Buffer.from(TAG)],
    isRefusal: isAnyError,
    faults: [Buffer.from(MANY_ANGLES)],
    parse: (bytes) => parseTag(ID, bytes),
  },
  {
    name: 'tree object',
    seeds: [TREE],
    words: ['40000 a\0'],
    isRefusal: isAnyError,
    parse(bytes) {
      parseTree({ id: ID, content: bytes })
      const one = treeBytes({ id: ID, content: bytes })
      return unsharedEntries(one, treeBytes({ id: ID, content: TREE }))
    },
  },
  {
    ...ofText('.gitmodules', ['[submodule "a"]\n\tpath = a\n\turl = https://a/b\n'], parseModules),
    faults: [
      Buffer.from(MANY_SPACES),
      Buffer.from(`path = a\nurl = ${'h'.repeat(200_000)}${'\n'.repeat(200_000)}`),
    ],
  },
  {
    name: 'delta of a pack',
    seeds: [Buffer.from([4, 6, 0x91, 1, 2, 4, 0x61, 0x62, 0x63, 0x64])],
    isRefusal: isAnyError,
    parse: (bytes) => resultSizeOf(bytes) < 1_000_000 && applyDelta(Buffer.from('base'), bytes),
  },
  {
    name: 'entry of a pack',
    seeds: [Buffer.from([0xbf, 0x05, 0x78]), Buffer.from([0xe5, 0x01, 0x81, 0x02])],
    isRefusal: isAnyError,
    parse: (bytes) => parseEntry(bytes, { offset: 1_000_000, idBytes: 20 }),
  },
  ofText('diff', [DIFF], (diff) => parseDiff(diff, 1_000), ['@@ -1 +1 @@\n', 'diff --git ']),
  {
    name: 'fetch request',
    seeds: [Buffer.from(FETCH)],
    words: ['0000', '0001', 'deepen 1'],
    parse: (body) => normalize(body, 2),
  },
  {
    name: 'fetch request that git answers',
    seeds: [Buffer.from(FETCH)],
    words: ['0000', '0001', '000A', 'want '],
    async parse(body) {
      const fetch = await readWholeFetch(chunksOf(body))
      for await (const _ of fetch.replay());
      fetch.close()
    },
    isRefusal: (error) => error instanceof UploadPackError || isFailure(error, 'payload_too_large'),
  },
  {
    name: 'fetch request of version 0',
    seeds: [Buffer.from(FETCH_V0)],
    words: ['0000', 'deepen 1', '0009done\n'],
    parse: (body) => normalize(body, 0),
  },
  {
    name: 'pack stream',
    seeds: [Buffer.from('000dpackfile\n000a\u0001PACK\n0006\u0002p0000', 'latin1')],
    isRefusal: (error) => error instanceof NoPack,
    async parse(bytes) {
      for await (const _ of readPackStream(chunksOf(bytes)));
    },
  },
]

const SSH: readonly FuzzTarget[] = [
  ofText(
    'SSH command',
    ["git-upload-pack '/ada/r.git'", "git receive-pack 'ada/r'"],
    parseCommand,
    ["'\\''", 'git-upload-archive'],
  ),
  ofText(
    'SSH key',
    ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b'],
    parseSshKey,
  ),
  {
    name: 'SSH helper message',
    seeds: [formatMessage(['2', 'keys', 'git', 'SHA256:abc'])],
    isRefusal: isAnyError,
    parse(bytes) {
      const taken = takeMessage(bytes)
      return taken && fieldsOf(taken.message)
    },
  },
  {
    name: 'SSH conversation',
    seeds: [Buffer.from(FETCH + FETCH)],
    words: ['0000', '0001', 'ffff'],
    async parse(bytes) {
      const chunks = [bytes]
      const requests = new ClientRequests(async () => chunks.pop())
      for (let next = await requests.next(); next !== undefined; next = await requests.next()) {
        for await (const _ of next);
      }
    },
  },
]

function matchGlob(pattern: string): boolean | undefined {
  return parseGlob(pattern, '/')?.('release/v1/a.c')
}

const TEXTS: readonly FuzzTarget[] = [
  ofText('file path', ['src/a/b.txt'], parseFilePath, ['.git', '..']),
  ofText('tag name', ['v1.0/rc'], parseTagName, ['.lock', '@{']),
  ofText('mail address', ['ada@example.org'], parseEmail),
  {
    ...ofText('glob', ['release/{v1,v2}/**/*.[ch]?'], matchGlob, ['{a,b}', '**', '[a-z]']),
    faults: [Buffer.from('{a,b}'.repeat(20_000))],
  },
  {
    ...ofText('addresses', ['10.0.0.0/8', '::1/128'], (one) => parseAddressSet([one])),
    isRefusal: isAnyError,
  },
  {
    ...ofText('blob location', ['s3://k:s@host/bucket?region=r', 'file:/a'], asBlobLocation),
    isRefusal: isAnyError,
  },
  ofText('Go duration', ['1h15m30.5s'], parseGoDuration),
  ofText('time', ['2026-01-02T03:04:05Z'], readTime),
  ofText('clone address', ['https://example.org/a/b.git'], parseCloneAddress),
]

const INFO = packageInfo({ depend: ['so:libc.so', 'b>1'] })
const CONTROL = controlOf({ Depends: 'libc6 (>= 2.3)', Description: 'a\n long\n .\n text' })
const DESCRIPTION = descriptionOf({
  Package: 'toy',
  Version: '1.0',
  Depends: 'R (>= 4.0), methods',
  License: 'GPL-2',
})

const METADATA: readonly FuzzTarget[] = [
  {
    name: '.PKGINFO',
    seeds: [Buffer.from(INFO)],
    words: ['depend = ', '\n'],
    parse: parsePackageInfo,
  },
  {
    name: 'debian control',
    seeds: [Buffer.from(CONTROL)],
    words: ['\n ', '\n\n', 'A: b\n'],
    parse: parseControl,
  },
  {
    name: 'DESCRIPTION',
    seeds: [Buffer.from(DESCRIPTION)],
    words: ['\n  ', ', a (>= 1)'],
    parse: parseDescription,
  },
  {
    name: 'composer.json',
    seeds: [Buffer.from('{"name":"acme/lib","version":"1.2.3","require":{"php":"^8.1 || ~7.4"}}')],
    words: ['"__proto__":{', '"require":{', '[[[['],
    parse: parseComposerJson,
  },
  {
    name: 'composer report of installations',
    seeds: [Buffer.from('{"downloads":[{"name":"acme/lib","version":"1.2.3.0"}]}')],
    words: ['{"name":', 'null', '[[[['],
    parse: (bytes) => readNotification(chunksOf(bytes)),
  },
  ofText('composer version', ['v1.2.3-beta.2+build', 'dev-main'], parseComposerVersion, ['-RC1']),
  ofText('composer constraint', ['^1.2 || >=2.0 <3 - 4@dev'], isConstraint, ['||', ' - ', '@dev']),
  ofText('go.mod', ['module example.org/m/v2\n\ngo 1.21\n'], readModuleLine, [
    'module ',
    '/*',
    '"',
  ]),
  ofText(
    'go.mod retractions',
    ['module example.org/m\n\nretract (\n\tv1.0.0 // why\n\t[v1.2.0, v1.3.0]\n)\n'],
    (text) => isInRange('v1.0.0', readRetractions(text)),
    ['retract ', '[v', '"'],
  ),
  ofText(
    'go pseudo-version',
    ['v1.2.4-0.20200102030405-abcdef123456', 'v2.0.0-rc.0.20200102030405-abcdef+incompatible'],
    parsePseudoVersion,
    ['-0.', '.0.'],
  ),
  ofText('swift metadata', ['{"author":{"name":"a"},"repositoryURLs":["https://a"]}'], (json) =>
    parseMetadata(json, 'binary'),
  ),
]

/**
 * Returns the targets of archives and compressed streams. Only the targets of the compressed
 * formats mutate compressed data, because other parsers would only see damaged streams.
 */
async function archives(): Promise<readonly FuzzTarget[]> {
  const pax = tarOf([
    { path: 'pax', type: 'x', body: paxRecord('path', 'é'.repeat(60)) },
    { path: 'a', body: 'alpha' },
    { path: 'folder/', type: '5' },
  ])
  return [
    {
      name: 'tar',
      seeds: [pax],
      words: ['ustar', '\0'.repeat(512)],
      async parse(bytes) {
        const limits = { entriesMax: 1_000, headerBytesMax: 100_000 }
        for await (const entry of readTar(chunksOf(bytes), limits)) await entry.read(10_000)
      },
    },
    archive('zip', await sourceArchive({ a: 'alpha' }), openZip, [
      'PK\u0001\u0002',
      'PK\u0005\u0006',
    ]),
    archive('swift zip', await sourceArchive(), async (source) => {
      return await readSourceArchive(await openZip(source))
    }),
    archive('go zip', await moduleZip('example.org/m@v1.0.0'), readModuleZip),
    archive('composer zip', packageZip({ name: 'acme/lib' }), readComposerArchive),
    archive('composer tar', stored(packageTar({ name: 'acme/lib' })), readComposerArchive),
    archive(
      'cran zip',
      rZip({ Package: 'toy', Version: '1.0', Built: 'R 4.2.0; ; ; windows' }),
      readCranArchive,
    ),
    archive('deb', debOf({ control: CONTROL }), readDebFile, ['!<arch>\n', 'control.tar.gz']),
    archive('dsc', Buffer.from(DSC), readSourceControl, [
      '-----BEGIN PGP SIGNED MESSAGE-----\n\n',
      '\n-----BEGIN PGP SIGNATURE-----\n',
    ]),
    archive(
      'paths of a deb',
      debOf({ control: CONTROL, files: [{ path: './usr/bin/tool', body: 'x' }] }),
      readContents,
      ['!<arch>\n', 'data.tar.gz'],
    ),
    archive('apk', apk(), readPackage),
    stream('gzip', pack(pax, '.gz'), (bytes) => gunzip(chunksOf(bytes), UNPACKED_BYTES_MAX)),
    stream('xz', pack(pax, '.xz'), (bytes) => unxz(bytes, UNPACKED_BYTES_MAX)),
    stream('zstd', pack(pax, '.zst'), (bytes) => unzstd(bytes, UNPACKED_BYTES_MAX)),
  ]
}

const DSC = `Source: hello\nVersion: 1.0\nChecksums-Sha256:\n ${'0'.repeat(64)} 1 hello_1.0.tar.gz\n`

function archive(
  name: string,
  seed: Buffer,
  read: (source: ReturnType<typeof sourceOf>) => Promise<unknown>,
  words: readonly string[] = [],
): FuzzTarget {
  return { name, seeds: [seed], words, parse: (bytes) => read(sourceOf(bytes)) }
}

/** Wraps bytes in gzip without compression, so that mutations reach the content. */
function stored(bytes: Buffer): Buffer {
  return gzipSync(bytes, { level: 0 })
}

const UNPACKED_BYTES_MAX = 1_000_000

function stream(
  name: string,
  seed: Buffer,
  read: (bytes: Buffer) => AsyncIterable<Uint8Array>,
): FuzzTarget {
  return { name, seeds: [seed], parse: (bytes) => buffer(read(bytes)) }
}

/** Yields the bytes in two chunks, because chunk boundaries may reveal faults. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const half = bytes.length >> 1
  yield bytes.subarray(0, half)
  yield bytes.subarray(half)
}

/** Refusal of parsers of trusted senders: any error except TypeError and RangeError. */
function isAnyError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
