/** Files of a distribution: lists, compressed lists, checksums, and signatures. */

import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { findXz } from '../../../cgi/process/xz.js'
import { DISTRIBUTION } from '../../../registry/debian/distribution.js'
import type { IndexEntry } from '../../../registry/index-maker.js'
import { dearmorKeys, makeOpenpgpKey } from '../../../registry/sign/openpgp.js'
import { newAptRoot } from '../../helpers/apt-client.js'
import { EXAMPLE_DEBS } from '../../helpers/debian-examples.js'
import { isExpectedText } from '../../helpers/expected.js'
import { type BuildInputs, buildIndex } from '../../helpers/index-builds.js'

const KEY = await makeOpenpgpKey('ada', 'rsa4096')
const AT_MS = Date.UTC(2025, 5, 15, 12)
const ENTRIES = EXAMPLE_DEBS.map(({ entry }) => entry)

async function build(
  t: Test,
  { entries = ENTRIES, ...inputs }: BuildInputs & { entries?: readonly IndexEntry[] } = {},
): Promise<ReadonlyMap<string, Buffer>> {
  const signingKeys = async () => [KEY]
  const usual = { subject: 'bookworm', changedAtMs: AT_MS, signingKeys }
  return await buildIndex(t, DISTRIBUTION, entries, { ...usual, ...inputs })
}

/** Serves the example packages and the files of their index; returns the URL of the repository. */
async function serve(t: Test, files: ReadonlyMap<string, Buffer>): Promise<string> {
  const served = new Map([...files].map(([path, bytes]) => [`/dists/bookworm/${path}`, bytes]))
  for (const { component, fileName, bytes } of EXAMPLE_DEBS) {
    served.set(`/pool/bookworm/${component}/${fileName}`, bytes)
  }
  const server = createServer(({ url = '' }, response) => {
    const bytes = served.get(decodeURIComponent(url))
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('every file exists, and Release has the checksums of all lists', async (t) => {
  const files = await build(t)
  const lists = ['contrib/binary-arm64', 'main/binary-all', 'main/binary-amd64']
  const paths = lists.flatMap((list) => [`${list}/Packages`, `${list}/Packages.gz`])
  t.strictSame(
    [...files.keys()].sort(),
    ['InRelease', 'Release', 'Release.gpg', ...paths].sort((one, other) => (one < other ? -1 : 1)),
  )
  for (const list of lists) {
    const plain = files.get(`${list}/Packages`) ?? Buffer.alloc(0)
    const packed = files.get(`${list}/Packages.gz`) ?? Buffer.alloc(0)
    t.ok(gunzipSync(packed).equals(plain), list)
    t.equal(packed.readUInt32LE(4), 0, 'gzip has no timestamp')
  }
  const release = files.get('Release')?.toString() ?? ''
  for (const path of paths)
    t.equal(release.split(` ${path}\n`).length, 3, `two checksums of ${path}`)
  // The output of gzip differs between machines.
  const plain = release.replace(/^ [0-9a-f]+ \d+ (\S+\.gz)$/gm, ' DIGEST SIZE $1')
  isExpectedText(t, plain, 'debian/Release')
})

t.test('gpgv accepts both signatures, and the signed text is Release', async (t) => {
  const files = await build(t)
  const folder = t.testdir()
  for (const name of ['Release', 'InRelease', 'Release.gpg']) {
    writeFileSync(join(folder, name), files.get(name) ?? '')
  }
  writeFileSync(join(folder, 'key.gpg'), await dearmorKeys([KEY.publicKey]))
  const gpgv = (...args: readonly string[]) =>
    spawnSync('gpgv', ['--keyring', join(folder, 'key.gpg'), ...args], { cwd: folder })
  t.equal(gpgv('Release.gpg', 'Release').status, 0)
  const clear = gpgv('--output', '-', 'InRelease')
  t.equal(clear.status, 0)
  t.ok(clear.stdout.equals(files.get('Release') ?? Buffer.alloc(0)))
})

t.test('equal packages and time give equal bytes, and another time gives other ones', async (t) => {
  const files = await build(t)
  t.strictSame(await build(t), files)
  const later = await build(t, { changedAtMs: AT_MS + 1_000 })
  t.notSame(later.get('Release'), files.get('Release'))
})

t.test('a distribution without packages has no files', async (t) => {
  t.equal((await build(t, { entries: [] })).size, 0)
})

t.test('if xz is installed, lists are also compressed with xz', async (t) => {
  const files = await build(t, { compressXz: findXz() })
  const packed = files.get('main/binary-amd64/Packages.xz') ?? Buffer.alloc(0)
  const plain = files.get('main/binary-amd64/Packages') ?? Buffer.alloc(0)
  t.ok(execFileSync('xz', ['-dc'], { input: packed }).equals(plain))
  const release = files.get('Release')?.toString() ?? ''
  t.equal(release.split(` ${packed.length} main/binary-amd64/Packages.xz\n`).length, 3)
})

t.test('apt accepts an index signed by keys of two types with either key', async (t) => {
  const old = await makeOpenpgpKey('ada', 'ed25519')
  const url = await serve(t, await build(t, { signingKeys: async () => [KEY, old] }))
  const keys = { old: [old], new: [KEY], both: [KEY, old] }
  for (const [name, trusted] of Object.entries(keys)) {
    const key = await dearmorKeys(trusted.map(({ publicKey }) => publicKey))
    const apt = await newAptRoot(t, {
      key,
      sources: [`deb [signed-by=KEY] ${url} bookworm main`],
    })
    const { exitCode, output } = await apt.get('update')
    t.equal(exitCode, 0, `${name}\n${output}`)
    t.notMatch(output, /^[WE]:/m, `${name} prints no warning or error`)
  }
})

t.test('apt refuses an index whose validity has passed', async (t) => {
  const HOUR_MS = 3_600_000
  const update = async (changedAtMs: number) => {
    const url = await serve(t, await build(t, { changedAtMs, validMs: HOUR_MS }))
    const key = await dearmorKeys([KEY.publicKey])
    const apt = await newAptRoot(t, { key, sources: [`deb [signed-by=KEY] ${url} bookworm main`] })
    return await apt.get('update')
  }
  t.match(await update(Date.now() - HOUR_MS / 2), { exitCode: 0 })
  const refused = { exitCode: 100, output: /^E: Release file .*InRelease is expired/m }
  t.match(await update(Date.now() - 2 * HOUR_MS), refused)
})
