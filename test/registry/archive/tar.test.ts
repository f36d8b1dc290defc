/** Tar archives are read in little memory, and malformed ones are refused. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { gunzip } from '../../../registry/archive/compress.js'
import { readTar, type TarEntry } from '../../../registry/archive/tar.js'
import { chunksOf } from '../../helpers/byte-chunks.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { paxRecord, TAR_END, tarOf, tarPiece } from '../../helpers/tar-bytes.js'

const LIMITS = { entriesMax: 1_000, headerBytesMax: 1 << 20 }
const MIB = 1 << 20
const refused = (message: RegExp) => ({ failure: 'bad_request', message })

async function pathsOf(archive: Buffer | AsyncIterable<Uint8Array>, limits = LIMITS) {
  const paths: string[] = []
  const chunks = Buffer.isBuffer(archive) ? chunksOf(archive, 1_000) : archive
  for await (const { path } of readTar(chunks, limits)) paths.push(path)
  return paths
}

t.test('archives of GNU tar are read in each of its formats', async (t) => {
  const folder = t.testdir()
  const deep = 'folder/'.repeat(20)
  mkdirSync(join(folder, deep), { recursive: true })
  const files = { 'a.txt': 'one', [`${deep}long.txt`]: 'x'.repeat(100_000), 'é 中.txt': '' }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  symlinkSync('a.txt', join(folder, 'link'))
  for (const format of ['gnu', 'oldgnu', 'pax', 'posix', 'ustar', 'v7']) {
    const names = format === 'v7' || format === 'ustar' ? ['a.txt', 'link'] : ['.']
    const archive = execFileSync('tar', ['-C', folder, '-cf', '-', `--format=${format}`, ...names])
    const kinds = new Map<string, TarEntry['kind']>()
    for await (const entry of readTar(chunksOf(archive, 700), LIMITS)) {
      const path = entry.path.replace(/^\.\//, '')
      kinds.set(path, entry.kind)
      if (entry.kind !== 'file') continue
      const text = files[path] ?? 'none'
      t.equal(entry.bytes, Buffer.byteLength(text), `${format}: ${path}`)
      t.equal((await entry.read(100_000)).toString(), text, `${format}: ${path}`)
    }
    t.match(
      kinds,
      new Map([
        ['a.txt', 'file'],
        ['link', 'other'],
      ]),
      format,
    )
    if (names[0] === '.') t.equal(kinds.get(deep), 'folder', format)
  }
})

t.test('a body that is not read is skipped', async (t) => {
  const bodies = ['', 'x', 'y'.repeat(512), 'z'.repeat(3 * MIB), 'last']
  const archive = tarOf(bodies.map((body, at) => ({ path: `${at}`, body })))
  t.strictSame(await pathsOf(archive), ['0', '1', '2', '3', '4'])
  const odd: string[] = []
  for await (const entry of readTar(chunksOf(archive), LIMITS)) {
    if (Number(entry.path) % 2 === 0) odd.push((await entry.read(MIB)).toString())
  }
  t.strictSame(odd, ['', 'y'.repeat(512), 'last'])
})

t.test("an entry larger than the reader's limit is refused", async (t) => {
  const archive = tarOf([{ path: 'a', body: 'four' }])
  for await (const entry of readTar(chunksOf(archive), LIMITS)) {
    await t.rejects(entry.read(3), refused(/more than 3 bytes/))
    t.equal((await entry.read(4)).toString(), 'four')
  }
})

t.test('damaged and truncated archives are refused', async (t) => {
  const good = tarOf([{ path: 'a', body: 'x'.repeat(600) }])
  for (const bytes of [0, 1, 511, 512, 600, 1_112, 1_535, 1_536, 2_048, good.length - 1]) {
    await t.rejects(pathsOf(good.subarray(0, bytes)), refused(/cannot be read/), `${bytes} bytes`)
  }
  const broken: Readonly<Record<string, Buffer>> = {
    'no tar at all': Buffer.from('<html>'.repeat(1_000)),
    'a wrong sum': tarOf([{ path: 'a', sum: '000001\0 ' }]),
    'a sum of letters': tarOf([{ path: 'a', sum: 'abcdef\0 ' }]),
    'a size of letters': tarOf([{ path: 'a', size: 'zzzzzzzzzzz\0' }]),
    'a size below nought': tarOf([{ path: 'a', size: '-0000000001\0' }]),
    'a size below nought, in binary': tarOf([{ path: 'a', size: '\xff'.repeat(12) }]),
    'a size beyond all numbers': tarOf([{ path: 'a', size: `\x80${'\x7f'.repeat(11)}` }]),
    'a size beyond the archive': tarOf([{ path: 'a', size: '77777777777\0' }]),
    'one block of zeros between': Buffer.concat([Buffer.alloc(512), good]),
    'something after the end': Buffer.concat([good, Buffer.from('hello'.repeat(300))]),
    'an extended header and nothing after it': tarOf([
      { path: 'p', type: 'x', body: paxRecord('path', 'b') },
    ]).subarray(0, 1_024),
  }
  for (const [name, archive] of Object.entries(broken)) {
    await t.rejects(pathsOf(archive), refused(/cannot be read/), name)
  }
})

t.test('zeros are accepted in place of a missing end mark', async (t) => {
  const segment = tarPiece({ path: 'a', body: 'text' })
  await t.rejects(pathsOf(segment), refused(/cannot be read/))
  t.strictSame(await pathsOf(Buffer.concat([segment, TAR_END])), ['a'])
  t.strictSame(await pathsOf(Buffer.concat([segment, TAR_END, TAR_END, TAR_END])), ['a'])
})

t.test('a truncated body is refused when it is read', async (t) => {
  const archive = tarOf([{ path: 'a', body: 'x'.repeat(4_000) }]).subarray(0, 1_000)
  const read = async () => {
    for await (const entry of readTar(chunksOf(archive, 300), LIMITS)) await entry.read(MIB)
  }
  await t.rejects(read(), refused(/cannot be read/))
})

t.test('paths longer than a header are read, and none contains a NUL', async (t) => {
  const path = `${'long/'.repeat(60)}name`
  const gnu = tarOf([{ path: '././@LongLink', type: 'L', body: `${path}\0` }, { path: 'short' }])
  const pax = tarOf([{ path: 'p', type: 'x', body: paxRecord('path', path) }, { path: 'short' }])
  t.strictSame([await pathsOf(gnu), await pathsOf(pax)], [[path], [path]])
  const bad = tarOf([{ path: 'p', type: 'x', body: paxRecord('path', 'a\0b') }, { path: 'c' }])
  await t.rejects(pathsOf(bad), refused(/NUL/))
})

t.test('an extended header changes no object and makes no sparse file', async (t) => {
  const records = ['__proto__', 'constructor', 'GNU.x'].map((key) => paxRecord(key, 'polluted'))
  const harmless = [{ path: 'p', type: 'x', body: records.join('') }, { path: 'a' }]
  t.strictSame(await pathsOf(tarOf(harmless)), ['a'])
  t.equal(Reflect.get({}, 'polluted'), undefined)
  const sparse = [
    { path: 'p', type: 'x', body: paxRecord('GNU.sparse.major', '1') },
    { path: 'a', body: '1\n0\n512\n' },
  ]
  await t.rejects(pathsOf(tarOf(sparse)), refused(/sparse/))
})

t.test('more entries or headers than the limit are refused', async (t) => {
  const archive = tarOf([{ path: 'a' }, { path: 'b' }, { path: 'c' }])
  t.strictSame(await pathsOf(archive, { ...LIMITS, entriesMax: 3 }), ['a', 'b', 'c'])
  await t.rejects(pathsOf(archive, { ...LIMITS, entriesMax: 2 }), refused(/more than 2 entries/))

  const endless = (piece: Buffer, countMax: number) => {
    const count = { sent: 0 }
    async function* chunks() {
      for (; count.sent < countMax; count.sent += 1) yield* chunksOf(piece)
      yield* chunksOf(tarPiece({ path: 'a' }))
      yield TAR_END
    }
    return { chunks: chunks(), count }
  }
  const manyRecords = Array.from({ length: 20_000 }, (_, at) => paxRecord(`k${at}`, 'v')).join('')
  const headers = {
    'extended headers': tarPiece({ path: 'p', type: 'x', body: manyRecords }),
    'headers for all': tarPiece({
      path: 'p',
      type: 'g',
      body: paxRecord('comment', 'x'.repeat(9_999)),
    }),
    'long names': tarPiece({ path: 'l', type: 'L', body: 'x'.repeat(60_000) }),
  }
  for (const [name, piece] of Object.entries(headers)) {
    const { chunks, count } = endless(piece, 10_000)
    await t.rejects(pathsOf(chunks), refused(/headers of the tar archive exceed 1 MiB/), name)
    t.ok(count.sent * piece.length < 4 * MIB, name)
  }
  const huge = tarPiece({ path: 'p', type: 'x', size: '77777777777\0' })
  await t.rejects(pathsOf(huge), refused(/cannot be read/))
})

t.test('memory does not grow with the archive', async (t) => {
  const head = tarPiece({ path: 'big', size: `${(1 << 29).toString(8).padStart(11, '0')}\0` })
  const bomb = await gzipBomb({
    head: head.toString('latin1'),
    piece: '\0'.repeat(65_536),
    bytes: (1 << 29) + TAR_END.length,
  })
  const before = process.memoryUsage().rss
  t.strictSame(await pathsOf(gunzip(chunksOf(bomb), 1 << 30)), ['big'])
  t.ok(process.memoryUsage().rss - before < 128 * MIB)
})

t.test('an error of the source is thrown, and a reader that stops ends the source', async (t) => {
  async function* broken() {
    yield tarPiece({ path: 'a', body: 'x'.repeat(600) })
    throw new Error('the disk failed')
  }
  await t.rejects(pathsOf(broken()), { message: /^the disk failed$/ })

  let isEnded = false
  async function* endless() {
    try {
      for (;;) yield tarPiece({ path: 'a', body: 'x'.repeat(600) })
    } finally {
      isEnded = true
    }
  }
  for await (const entry of readTar(endless(), LIMITS)) {
    t.equal(entry.path, 'a')
    break
  }
  t.ok(isEnded)
})
