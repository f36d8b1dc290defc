/**
 * Module zip files: names are derived from their paths, and invalid ones are refused as by the go
 * command.
 */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { type Module, readModuleZip } from '../../../registry/go/module-zip.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import { moduleZip } from '../../helpers/modules.js'
import { type HandMadeEntry, handMadeZip, zipOf } from '../../helpers/zips.js'

const read = (zip: Buffer): Promise<Module> => readModuleZip(sourceOf(zip))

/** Returns the message of the refusal, or `taken` if the zip is accepted. */
async function refusalOf(zip: Buffer): Promise<string> {
  try {
    await read(zip)
    return 'taken'
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

t.test('the module is named by the top folder of its files', async (t) => {
  const goMod = 'module x.y/Org/z\n\ngo 1.19\n'
  const files = { 'go.mod': goMod, 'a/b.go': 'package b\n', 'README.md': '# z' }
  const zip = await moduleZip('x.y/Org/z@v1.2.3', files)
  const readme = '# z'
  t.strictSame(await read(zip), { path: 'x.y/Org/z', version: 'v1.2.3', goMod, readme })
  const old = await zipOf({ 'x.y/z@v2.0.0+incompatible/z.go': 'package z\n' })
  t.match(await read(old), { path: 'x.y/z', version: 'v2.0.0+incompatible', goMod: undefined })
  const folders = { 'x.y/z@v1.0.0/': '', 'x.y/z@v1.0.0/a/': '', 'x.y/z@v1.0.0/a/b.go': '' }
  t.match(await read(await zipOf(folders)), { path: 'x.y/z', version: 'v1.0.0' })
})

const ROOT = 'x.y/z@v1.0.0'

t.test('a zip that is not a module is refused', async (t) => {
  const zips: ReadonlyArray<readonly [RegExp, Buffer]> = [
    [/is not a zip archive/, Buffer.from('hello')],
    [/folder named module@version/, await zipOf({})],
    [/folder named module@version/, await zipOf({ 'go.mod': 'module x.y/z\n' })],
    [/folder named module@version/, await zipOf({ 'x.y/z@/go.mod': 'module x.y/z\n' })],
    [/folder named module@version/, await zipOf({ '@v1.0.0/go.mod': '' })],
    [/folder named module@version/, await zipOf({ 'x.y/z@v1.0.0': 'a file' })],
    [/folder named module@version/, await moduleZip('x.y/z@v1.0.0@v2.0.0')],
    [/is not in the folder/, await zipOf({ [`${ROOT}/a`]: '', 'x.y/z@v1.0.1/b': '' })],
    [/is not in the folder/, await zipOf({ [`${ROOT}/a`]: '', readme: '' })],
    [/is not in the folder/, await zipOf({ [`${ROOT}/a`]: '', 'x.y/': '' })],
    [/"z" is not a module path: its first/, await moduleZip('z@v1.0.0')],
    [/is not a module path/, await moduleZip('x.y/z/v1@v1.0.0')],
    [/is not a module path/, await moduleZip('x.y/é@v1.0.0')],
    [/"v1" is not a version of/, await moduleZip('x.y/z@v1')],
    [/is not a version of/, await moduleZip('x.y/z@v1.2')],
    [/is not a version of/, await moduleZip('x.y/z@1.0.0')],
    [/is not a version of/, await moduleZip('x.y/z@v1.0.0+linux')],
    [/is not a version of/, await moduleZip('x.y/z@v2.0.0')],
    [/is not a version of/, await moduleZip('x.y/z/v2@v1.0.0')],
    [/cannot be \+incompatible/, await moduleZip('x.y/z@v2.0.0+incompatible')],
    [/control characters/, await moduleZip('x.y/z@v1.0.0\nv9.0.0')],
    [/declares the module "x.y\/other"/, await moduleZip(ROOT, { 'go.mod': 'module x.y/other\n' })],
    [/declares the module "x.y\/Z"/, await moduleZip(ROOT, { 'go.mod': 'module x.y/Z\n' })],
    [/declares the module/, await moduleZip('x.y/z/v2@v2.0.0', { 'go.mod': 'module x.y/z\n' })],
    [/declares no module/, await moduleZip(ROOT, { 'go.mod': 'go 1.19\n' })],
    [/declares no module/, await moduleZip(ROOT, { 'go.mod': '' })],
    [/leave out nested modules/, await moduleZip(ROOT, { 'sub/go.mod': 'module x.y/z/sub\n' })],
    [/leave out nested modules/, await moduleZip(ROOT, { 'sub/Go.Mod': '' })],
    [/name must be go.mod/, await zipOf({ [`${ROOT}/GO.MOD`]: 'module x.y/z\n' })],
    [/differ only in case/, await moduleZip(ROOT, { 'a.go': '', 'A.go': '' })],
    [/differ only in case/, await moduleZip(ROOT, { 'a/x': '', 'A/y': '' })],
    [/both a file and a folder/, await moduleZip(ROOT, { a: '', 'a/y': '' })],
    [/"aux.go" is not allowed/, await moduleZip(ROOT, { 'aux.go': '' })],
    [/"a:b" is not allowed/, await moduleZip(ROOT, { 'a:b': '' })],
    [/is not allowed/, await moduleZip(ROOT, { 'a*': '' })],
    [/has the segment '\.\.'/, handMadeZip([{ path: `${ROOT}/../../x` }])],
    [/backslash/, handMadeZip([{ path: `${ROOT}/a\\b` }])],
  ]
  for (const [sentence, zip] of zips) t.match(await refusalOf(zip), sentence)
})

t.test('an entry that is neither a file nor a folder is refused', async (t) => {
  const link: HandMadeEntry = {
    path: `${ROOT}/link`,
    content: '/etc/passwd',
    both: { madeBy: 0x0314, attributes: 0o120777 * 0x10000 },
  }
  t.match(await refusalOf(handMadeZip([link])), /"link" is neither a file nor a folder/)
})

t.test('the sizes of a module and its documents are limited', async (t) => {
  const zeros = (path: string, bytes: number): HandMadeEntry => ({
    path: `${ROOT}/${path}`,
    content: Buffer.alloc(bytes),
    both: { method: 8 },
  })
  t.match(await refusalOf(handMadeZip([zeros('LICENSE', 16_777_217)])), /LICENSE has more than/)
  t.equal(await refusalOf(handMadeZip([zeros('LICENSE', 16_777_216)])), 'taken')
  t.equal(await refusalOf(handMadeZip([zeros('sub/LICENSE', 16_777_217)])), 'taken')
  t.match(await refusalOf(handMadeZip([zeros('go.mod', 1_048_577)])), /go.mod has more than 1 MiB/)
  const claims = (path: string, bytes: number): HandMadeEntry => ({
    ...zeros(path, 0),
    both: { method: 8, bytes },
  })
  const large = handMadeZip([claims('a', 300_000_000), claims('b', 224_288_001)])
  t.match(await refusalOf(large), /decompresses to more than 500 MiB/)
  t.match(await refusalOf(handMadeZip([claims('a', 524_288_000)])), /not match its size/)
  const whole = sourceWithHole(Buffer.alloc(0), 524_288_001, Buffer.alloc(0))
  await t.rejects(readModuleZip(whole), /has more than 500 MiB/)
})

t.test('a file that differs from its declaration is refused, wherever it is', async (t) => {
  const goMod = { path: `${ROOT}/go.mod`, content: 'module x.y/z\n' }
  const lie: HandMadeEntry = { path: `${ROOT}/z.go`, content: 'package z', both: { crc32: 1 } }
  t.match(await refusalOf(handMadeZip([goMod, lie])), /not match its size or checksum/)
  t.match(await refusalOf(handMadeZip([{ ...goMod, both: { crc32: 1 } }])), /not match its size/)
})

t.test('a go.mod that is not UTF-8 is refused', async (t) => {
  const content = Buffer.from('module x.y/z // caf\xe9\n', 'latin1')
  t.match(await refusalOf(handMadeZip([{ path: `${ROOT}/go.mod`, content }])), /is not valid UTF-8/)
})
