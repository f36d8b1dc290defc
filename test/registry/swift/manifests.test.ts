/** Manifests at the top of an archive and the selection of one by Swift version. */

import t from 'tap'
import { openZip } from '../../../registry/archive/zip.js'
import { findVariant, readSourceArchive, variantsOf } from '../../../registry/swift/manifests.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import { handMadeZip, zipOf } from '../../helpers/zips.js'

type Files = Readonly<Record<string, string | Uint8Array>>

async function manifestsOf(files: Files) {
  return (await readSourceArchive(await openZip(sourceOf(await zipOf(files))))).manifests
}

t.test('the README is in the folder of the manifest', async (t) => {
  const readmeOf = async (files: Files) =>
    (await readSourceArchive(await openZip(sourceOf(await zipOf(files))))).readme
  t.equal(await readmeOf({ 'Package.swift': 'a', 'README.md': 'own' }), 'own')
  t.equal(await readmeOf({ 'H/Package.swift': 'a', 'H/README.md': 'own' }), 'own')
  t.equal(await readmeOf({ 'Package.swift': 'a', 'H/README.md': 'no' }), undefined)
})

t.test('manifests are in the root or in the single top folder', async (t) => {
  const variants = { 'Package@swift-5.swift': 'b', 'Package@swift-5.6.1.swift': 'c' }
  const manifests = { 'Package.swift': 'a', ...variants }
  const others = { 'Sources/Package.swift': 'x', 'package.swift': 'x', 'Package@swift-.swift': 'x' }
  t.strictSame(await manifestsOf({ ...manifests, ...others, 'README.md': '' }), manifests)
  const within = (files: Files) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`Hello-1.0/${path}`, text]))
  t.strictSame(
    await manifestsOf({ 'Hello-1.0/': '', ...within({ ...manifests, ...others }) }),
    manifests,
  )
  t.strictSame(await manifestsOf({ 'Package.swift': 'a', 'Hello/Package.swift': 'x' }), {
    'Package.swift': 'a',
  })
})

t.test('an archive without a manifest or with one that is not text is refused', async (t) => {
  const refused: readonly (readonly [Files, RegExp])[] = [
    [{}, /missing/],
    [{ 'README.md': '' }, /missing/],
    [{ 'a/Package.swift': '', 'b/x': '' }, /missing/],
    [{ 'a/b/Package.swift': '' }, /missing/],
    [{ 'Package.swift/': '' }, /missing/],
    [{ 'Package@swift-5.swift': '' }, /missing/],
    [{ 'Package.swift': 'x'.repeat(131_073) }, /Package\.swift file is too large/],
    [{ 'Package.swift': '', 'Package@swift-5.swift': 'x'.repeat(131_073) }, /swift-5.*too large/],
    [{ 'Package.swift': Buffer.from([0xff]) }, /not valid UTF-8/],
  ]
  for (const [files, message] of refused) {
    await t.rejects(manifestsOf(files), { failure: 'bad_request', message }, String(message))
  }
  t.match(await manifestsOf({ 'Package.swift': 'x'.repeat(131_072) }), { 'Package.swift': /x/ })
  const many = Object.fromEntries(
    Array.from({ length: 33 }, (_, at) => [`Package@swift-5.${at}.swift`, '']),
  )
  const message = /more than 32 version-specific/
  await t.rejects(manifestsOf({ 'Package.swift': '', ...many }), {
    failure: 'bad_request',
    message,
  })
})

t.test('a symbolic link is not a manifest', async (t) => {
  const central = { madeBy: 0x0314, attributes: (0o120777 << 16) >>> 0 }
  const linked = handMadeZip([
    { path: 'Package.swift', content: 'a' },
    { path: 'Package@swift-5.swift', content: 'Package.swift', central },
  ])
  const { manifests } = await readSourceArchive(await openZip(sourceOf(linked)))
  t.strictSame(manifests, { 'Package.swift': 'a' })
})

t.test("the tools version of a manifest is its first line's or its file name's", async (t) => {
  const first = {
    '// swift-tools-version:5.3': '5.3',
    '// swift-tools-version: 5.7.1\n': '5.7.1',
    '//swift-tools-version:5\r\n': '5.0',
    '\n\t//\tSWIFT-TOOLS-VERSION:\t5.5-beta': '5.5',
    'import PackageDescription // swift-tools-version:4.0': '4.2',
    '': '4.2',
    '// swift-tools-version:': '4.2',
  }
  for (const [text, toolsVersion] of Object.entries(first)) {
    const fileName = 'Package@swift-4.2.swift'
    t.strictSame(variantsOf({ [fileName]: text, 'Package.swift': text }), [
      { fileName, swiftVersion: '4.2', toolsVersion },
    ])
  }
  t.match(variantsOf({ 'Package@swift-4.swift': '' }), [{ toolsVersion: '4.0' }])
})

t.test('a Swift version selects its manifest in any notation', async (t) => {
  const manifests = {
    'Package.swift': '',
    'Package@swift-5.swift': '',
    'Package@swift-5.6.swift': '',
    'Package@swift-5.6.1.swift': '',
    'Package@swift-6.swift': '',
    'Package@swift-6.0.swift': '',
  }
  const found = {
    '5': '5',
    '5.0': '5',
    '5.0.0': '5',
    '5.6': '5.6',
    '5.6.0': '5.6',
    '5.6.1': '5.6.1',
    '6': '6',
    '6.0': '6.0',
    '6.0.0': '6.0',
  }
  for (const [wanted, version] of Object.entries(found)) {
    t.equal(findVariant(manifests, wanted), `Package@swift-${version}.swift`, wanted)
  }
  for (const wanted of [
    '',
    '4',
    '5.7',
    '5.6.2',
    '5.6.0.0',
    'x',
    '5.',
    '../5',
    '__proto__',
    '1e1',
  ]) {
    t.equal(findVariant(manifests, wanted), undefined, wanted)
  }
})
