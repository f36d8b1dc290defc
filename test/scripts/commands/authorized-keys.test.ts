/** The managed block in authorized_keys: only it is changed, and atomically. */

import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { writeBlock } from '../../../scripts/commands/authorized-keys.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const BEGIN = '# begin gatehouse: written by `gatehouse ssh authorized-keys`, changes get lost\n'
const END = '# end gatehouse\n'

t.test('the file is created for its owner only, and the block is replaced', async (t) => {
  const file = join(await temporaryFolder(t), 'authorized_keys')
  await writeBlock(file, ['one', 'two'])
  t.equal(await readFile(file, 'utf8'), `${BEGIN}one\ntwo\n${END}`)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  await writeBlock(file, ['three'])
  t.equal(await readFile(file, 'utf8'), `${BEGIN}three\n${END}`)
  await writeBlock(file, [])
  t.equal(await readFile(file, 'utf8'), BEGIN + END)
})

t.test('lines outside of the block are kept byte for byte', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'authorized_keys')
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.uint8Array(), async (before, after) => {
      const head = Buffer.concat([before, Buffer.from('\n')])
      await writeFile(file, Buffer.concat([head, Buffer.from(`${BEGIN}old\n${END}`), after]))
      await writeBlock(file, ['new'])
      const wanted = Buffer.concat([head, Buffer.from(`${BEGIN}new\n${END}`), after])
      if (!wanted.equals(await readFile(file))) throw new Error('another byte changed')
    }),
    { numRuns: 50 },
  )
  await writeFile(file, 'ssh-rsa AAAA no newline')
  await writeBlock(file, ['new'])
  t.equal(await readFile(file, 'utf8'), `ssh-rsa AAAA no newline\n${BEGIN}new\n${END}`)
})

t.test("the file's mode is kept", async (t) => {
  const file = join(await temporaryFolder(t), 'authorized_keys')
  await writeFile(file, '')
  await chmod(file, 0o640)
  await writeBlock(file, ['one'])
  t.equal((await stat(file)).mode & 0o777, 0o640)
})

t.test('a damaged block is refused and left unchanged', async (t) => {
  const file = join(await temporaryFolder(t), 'authorized_keys')
  await writeFile(file, `${BEGIN}one\n`)
  await t.rejects(writeBlock(file, ['two']), /has lost its first or last line/)
  t.equal(await readFile(file, 'utf8'), `${BEGIN}one\n`)
})

t.test('concurrent writers each write a complete file and leave no temporary file', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'authorized_keys')
  await writeFile(file, 'ssh-rsa AAAA somebody\n')
  const blocks = Array.from({ length: 50 }, (_, at) => Array(50).fill(`line ${at}`) as string[])
  await Promise.all(blocks.map((lines) => writeBlock(file, lines)))
  const text = await readFile(file, 'utf8')
  const whole = blocks.map((lines) => `ssh-rsa AAAA somebody\n${BEGIN}${lines.join('\n')}\n${END}`)
  t.ok(whole.includes(text))
  t.same(await readdir(folder), ['authorized_keys'])
})
