/** Written tar archives are valid. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToEnd } from '../../../cgi/process/run.js'
import { readTar } from '../../../registry/archive/tar.js'
import { TAR_END, tarHeader, tarPadding } from '../../../registry/archive/tar-header.js'
import { chunksOf } from '../../helpers/byte-chunks.js'
import { temporaryFolder } from '../../helpers/temporary.js'

function archiveOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, body]) => [
    tarHeader(path, body.length),
    body,
    tarPadding(body.length),
  ])
  return Buffer.concat([...parts, TAR_END])
}

const FILES = {
  empty: Buffer.alloc(0),
  one: Buffer.alloc(1, 'a'),
  block: Buffer.alloc(512, 'b'),
  'block and more': Buffer.alloc(513, 'c'),
  ['long'.repeat(25)]: Buffer.alloc(70_000, 'd'),
}

t.test('files of all lengths are read back, also by GNU tar', async (t) => {
  const archive = archiveOf(FILES)
  t.equal(archive.length % 512, 0)
  const limits = { entriesMax: 10, headerBytesMax: 65_536 }
  const found: Record<string, Buffer> = {}
  for await (const entry of readTar(chunksOf(archive), limits)) {
    t.equal(entry.kind, 'file')
    found[entry.path] = await entry.read(100_000)
  }
  t.strictSame(found, FILES)

  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'a.tar'), archive)
  const { output, errorText, exitCode } = await runToEnd('tar', ['-tvf', 'a.tar', '--utc'], {
    cwd: folder,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin', LC_ALL: 'C' },
    timeoutMs: 60_000,
    outputBytesMax: 65_536,
  })
  t.match({ exitCode, errorText }, { exitCode: 0, errorText: '' })
  const lines = output.toString().trim().split('\n')
  t.match(lines[3], /^-rw------- 0\/0 +513 1970-01-01 00:00 block and more$/)
  t.equal(lines.length, 5)
})

t.test('a path that is too long is an error', async (t) => {
  t.throws(() => tarHeader('x'.repeat(101), 0), /exceeds 100 bytes/)
})
