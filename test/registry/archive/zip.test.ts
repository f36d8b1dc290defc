/** Zip files of several programs are read, and hostile ones are refused. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { deflateRawSync } from 'node:zlib'
import { array, asyncProperty, assert as check, integer, tuple } from 'fast-check'
import t from 'tap'
import { ZipFile } from 'yazl'
import { Failure } from '../../../conf/failures.js'
import { openZip } from '../../../registry/archive/zip.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import {
  extraField,
  type HandMadeEntry,
  handMadeZip,
  longEnd,
  longs,
  zipContents,
  zipOf,
  zipRefusal,
} from '../../helpers/zips.js'

const A: HandMadeEntry = { path: 'a', content: 'alpha' }
const JUNK = Buffer.from('junk')

const FILES = {
  'lib-1.0/': '',
  'lib-1.0/composer.json': '{"name":"acme/lib"}',
  'lib-1.0/empty': '',
  'lib-1.0/é/中.txt': 'far\n'.repeat(50_000),
}

t.test('a zip is read with all its entries', async (t) => {
  const zip = await openZip(sourceOf(await zipOf(FILES)))
  t.strictSame(await zipContents(zip), FILES)
  t.strictSame(
    zip.entries.map(({ path, bytes, kind }) => [path, bytes, kind]),
    [
      ['lib-1.0/', 0, 'folder'],
      ['lib-1.0/composer.json', 19, 'file'],
      ['lib-1.0/empty', 0, 'file'],
      ['lib-1.0/é/中.txt', 200_000, 'file'],
    ],
  )
  const large = zip.entries[3]
  t.ok(large && large.compressedBytes < 5_000)
  t.strictSame(await zipContents(await openZip(sourceOf(await zipOf({})))), {})
})

t.test('zip files of other programs are read', async (t) => {
  const folder = t.testdir({ tree: { 'a.txt': 'alpha', b: { 'c.txt': 'gamma\n'.repeat(9_000) } } })
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: join(folder, 'tree'), maxBuffer: 10_000_000 })
  const tree = { 'a.txt': 'alpha', 'b/c.txt': 'gamma\n'.repeat(9_000) }
  const read = async (bytes: Buffer) => {
    const contents = await zipContents(await openZip(sourceOf(bytes)))
    return Object.fromEntries(Object.entries(contents).filter(([path]) => !path.endsWith('/')))
  }
  run('git', 'init', '-q')
  run('git', 'add', '.')
  run('git', '-c', 'user.name=A', '-c', 'user.email=a@b.test', 'commit', '-qm', 'x')
  t.strictSame(await read(run('git', 'archive', '--format=zip', 'HEAD')), tree, 'git archive')
  const python = (script: string) => run('python3', '-c', `import sys,zipfile,io\n${script}`)
  const seekable = `b=io.BytesIO()
z=zipfile.ZipFile(b,'w',zipfile.ZIP_DEFLATED)
z.write('a.txt')
z.write('b')
with z.open('b/c.txt','w',force_zip64=True) as w: w.write(open('b/c.txt','rb').read())
z.close()
sys.stdout.buffer.write(b.getvalue())`
  t.strictSame(await read(python(seekable)), tree, 'Python with 64-bit sizes')
  const streamed = `class Pipe(io.RawIOBase):
  def writable(self): return True
  def write(self,b): return sys.stdout.buffer.write(b)
z=zipfile.ZipFile(Pipe(),'w',zipfile.ZIP_DEFLATED)
z.write('a.txt')
z.write('b/c.txt')
z.close()`
  t.strictSame(await read(python(streamed)), tree, 'Python writing to a pipe')
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from(tree['a.txt']), 'a.txt', { forceZip64Format: true })
  zip.addFile(join(folder, 'tree/b/c.txt'), 'b/c.txt')
  zip.end({ forceZip64Format: true, comment: 'hello' })
  t.strictSame(await read(await buffer(zip.outputStream)), tree, 'yazl with zip64 records')
})

t.test('an entry of more than 4 GiB is read', async (t) => {
  const bytes = 5_368_709_120
  const name = Buffer.from('large.bin')
  const extra = extraField(1, longs(bytes, bytes))
  const sentinel = { compressedBytes: 0xffff_ffff, bytes: 0xffff_ffff }
  const made = handMadeZip([
    { path: name, data: Buffer.alloc(0), both: { ...sentinel, extra, crc32: 7 } },
  ])
  const headerBytes = 30 + name.length + extra.length
  const directory = made.subarray(headerBytes, -22)
  const directoryStart = headerBytes + bytes
  const end = { entries: 1, directoryStart, directoryBytes: directory.length }
  const short = handMadeZip([], {
    end: { entries: 1, directoryStart: 0xffff_ffff, directoryBytes: directory.length },
  })
  const back = [directory, longEnd(directoryStart + directory.length, end), short]
  const zip = await openZip(
    sourceWithHole(made.subarray(0, headerBytes), bytes, Buffer.concat(back)),
  )
  t.match(zip.entries, [{ path: 'large.bin', bytes, compressedBytes: bytes, kind: 'file' }])
  const [entry] = zip.entries
  t.ok(entry)
  if (entry) await t.rejects(zip.read(entry, 1_000), /more than 1000 bytes/)
})

t.test("an entry larger than the reader's limit is refused", async (t) => {
  const zip = await openZip(sourceOf(await zipOf({ a: 'x'.repeat(1_000) })))
  const [entry] = zip.entries
  if (entry === undefined) throw new Error('no entry')
  await t.rejects(
    zip.read(entry, 999),
    new Failure('bad_request', '"a" in the archive has more than 999 bytes.'),
  )
  t.equal((await zip.read(entry, 1_000)).length, 1_000)
  const other = await openZip(sourceOf(await zipOf({ a: 'x' })))
  await t.rejects(other.check(entry), /another zip/)
})

t.test('encrypted entries and other compression methods are refused', async (t) => {
  for (const flags of [0x1, 0x20, 0x40, 0x2000]) {
    t.match(await zipRefusal(handMadeZip([{ ...A, both: { flags } }])), /encrypted|malformed/)
  }
  for (const method of [1, 6, 9, 12, 14, 93, 95, 99]) {
    t.match(
      await zipRefusal(handMadeZip([{ ...A, both: { method } }])),
      /neither stored nor deflated/,
    )
  }
})

t.test('files, folders and other kinds of entries are distinguished', async (t) => {
  const unix = (path: string, mode: number) => ({
    path,
    both: { madeBy: 0x0314, attributes: mode * 0x10000 },
  })
  const kinds = async (...entries: readonly HandMadeEntry[]) =>
    (await openZip(sourceOf(handMadeZip(entries)))).entries.map(({ kind }) => kind)
  const honest = [unix('a', 0o100644), unix('b', 0o755), unix('c/', 0o040755), unix('d/', 0)]
  t.strictSame(await kinds(...honest), ['file', 'file', 'folder', 'folder'])
  const odd = [unix('a', 0o120777), unix('b/', 0o120777), unix('c', 0o040755), unix('d', 0o020666)]
  t.strictSame(await kinds(...odd), ['other', 'other', 'other', 'other'])
  t.strictSame(await kinds({ path: 'a', both: { attributes: 0x10 } }), ['other'])
  t.match(await zipRefusal(handMadeZip([{ path: 'a/', content: 'x' }])), /is a folder with content/)
})

t.test('an entry that differs from its declaration is refused at no extra cost', async (t) => {
  const bomb = deflateRawSync(Buffer.alloc(50_000_000))
  const method = 8
  const lies: readonly HandMadeEntry[] = [
    { path: 'a', data: bomb, both: { method, bytes: 10, crc32: 0 } },
    { path: 'a', data: bomb, both: { method, bytes: 50_000_001, crc32: 0 } },
    { path: 'a', content: 'alpha', both: { method, crc32: 1 } },
    { path: 'a', content: 'alpha', both: { crc32: 1 } },
    { path: 'a', content: 'alpha', both: { bytes: 4 } },
    { path: 'a', content: 'alpha', data: Buffer.from('no deflate at all'), both: { method } },
    {
      path: 'a',
      content: 'alpha',
      data: deflateRawSync('alpha').subarray(0, -2),
      both: { method },
    },
    {
      path: 'a',
      content: 'alpha',
      data: Buffer.concat([deflateRawSync('alpha'), JUNK]),
      both: { method },
    },
    { path: 'a', content: 'alpha', data: Buffer.alloc(0), both: { method } },
    {
      path: 'a',
      data: Buffer.concat([deflateRawSync(''), Buffer.alloc(99_999)]),
      both: { method },
    },
  ]
  const large = randomBytes(200_000)
  const packed = deflateRawSync(large)
  const largeLies: readonly HandMadeEntry[] = [
    { path: 'a', content: large, both: { method, crc32: 1 } },
    { path: 'a', content: large, data: packed.subarray(0, -2), both: { method } },
    { path: 'a', content: large, data: Buffer.concat([packed, JUNK]), both: { method } },
    { path: 'a', content: large, data: Buffer.concat([packed, large]), both: { method } },
    { path: 'a', content: large, both: { method, bytes: 100_000 } },
    { path: 'a', content: large, both: { method, bytes: 300_000 } },
    { path: 'a', content: large, data: large, both: { method } },
    { path: 'a', content: large, both: { crc32: 1 } },
  ]
  for (const [at, lie] of [...lies, ...largeLies].entries()) {
    t.match(
      await zipRefusal(handMadeZip([lie])),
      /not match its size or checksum|malformed/,
      `${at}`,
    )
  }
  t.equal(await zipRefusal(handMadeZip([{ path: 'a', content: large, both: { method } }])), 'taken')
  t.equal(
    await zipRefusal(handMadeZip([{ path: 'a', content: 'alpha', both: { method } }])),
    'taken',
  )
})

t.test('a bomb is left at the first byte beyond its declared size', async (t) => {
  const data = deflateRawSync(Buffer.alloc(200_000_000))
  const source = sourceOf(handMadeZip([{ path: 'a', data, both: { method: 8, bytes: 100_000 } }]))
  let readBytes = 0
  const stream = async function* (start?: number, end?: number) {
    for await (const chunk of source.stream(start, end)) {
      readBytes += chunk.length
      yield chunk
    }
  }
  const zip = await openZip({ ...source, stream })
  for (const entry of zip.entries) await t.rejects(zip.check(entry), /not match its size/)
  t.ok(readBytes < data.length / 2, `${readBytes} of ${data.length}`)
})

t.test('a read error of the source is not reported as a bad request', async (t) => {
  const source = sourceOf(await zipOf({ a: randomBytes(200_000) }))
  const away = new Error('the disk failed')
  const fail = () => Promise.reject(away)
  await t.rejects(openZip({ ...source, read: fail }), away)
  const stream = async function* () {
    yield* source.stream(0, 2_000)
    throw away
  }
  const zip = await openZip({ ...source, stream })
  for (const entry of zip.entries) await t.rejects(zip.check(entry), away)
})

t.test('a zip with any changed bytes is read in one way or refused', async (t) => {
  const honest = [await zipOf(FILES), handMadeZip([A, { path: 'c/' }], { comment: JUNK })]
  const changes = array(tuple(integer({ min: 0 }), integer({ min: 0, max: 255 })), { minLength: 1 })
  const holds = asyncProperty(integer({ min: 0, max: 1 }), changes, async (which, list) => {
    const bytes = Buffer.from(honest[which] ?? '')
    for (const [at, value] of list)
      bytes[bytes.length - 1 - (at % Math.min(bytes.length, 700))] = value
    await zipRefusal(bytes)
  })
  await t.resolves(check(holds, { numRuns: 3_000 }))
})
