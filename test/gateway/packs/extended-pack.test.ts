/** Extended packs are accepted by git, in whatever packets and chunks the base arrives. */

import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeExtendedPack } from '../../../gateway/packs/extended-pack.js'
import { NoPack } from '../../../gateway/packs/pack-stream.js'
import { readAnswerV0, readFetchAnswer } from '../../helpers/fetch-answers.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const NO_SIGNAL = new AbortController().signal

/** Returns a pack of two commits, and one of a third commit with deltas to the first ones. */
async function twoPacks(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const copy = await newWorkingCopy(t, objectFormat)
  const text = randomBytes(150_000).toString('base64')
  const commits = [await copy.commit('file', text), await copy.commit('file', `${text}2`)]
  commits.push(await copy.commit('file', `${text}3`))
  const packOf = async (...revisions: readonly string[]) => {
    const input = `${revisions.join('\n')}\n`
    const name = join(copy.path, 'pack')
    const { output } = await copy.try(['pack-objects', '--revs', '-q', name], { input })
    return readFileSync(`${name}-${output}.pack`)
  }
  const base = await packOf('HEAD~1')
  const path = join(copy.path, 'thin.pack')
  const input = 'HEAD\n^HEAD~1\n'
  await copy.git('config', 'alias.thin', `!git pack-objects --revs --thin --stdout -q > ${path}`)
  await copy.try(['thin'], { input })
  return { copy, base, added: readFileSync(path), commits }
}

/** Returns git's answer with this pack, in packets of these sizes, the last one repeatedly. */
function answerOf(pack: Buffer, sizes: readonly number[], beginning = '000dpackfile\n'): Buffer {
  const packets: Buffer[] = [Buffer.from(beginning)]
  for (let at = 0, number = 0; at < pack.length; number += 1) {
    const content = pack.subarray(at, at + (sizes[number] ?? sizes.at(-1) ?? 1))
    const length = (content.length + 5).toString(16).padStart(4, '0')
    packets.push(Buffer.from(`${length}\u0001`, 'latin1'), content)
    at += content.length
  }
  return Buffer.concat([...packets, Buffer.from('0000')])
}

async function* inChunks(bytes: Buffer, size: number) {
  // A chunk is valid only until the next one is requested.
  const chunk = Buffer.alloc(size)
  for (let at = 0; at < bytes.length; at += size) {
    yield chunk.subarray(0, bytes.copy(chunk, 0, at, at + size))
  }
}

async function extend(
  t: Test,
  parts: Parameters<typeof writeExtendedPack>[1],
  signal = NO_SIGNAL,
): Promise<Buffer> {
  const path = join(await temporaryFolder(t), 'answer')
  const file = openSync(path, 'w')
  try {
    await writeExtendedPack(file, parts, signal)
  } finally {
    closeSync(file)
  }
  return readFileSync(path)
}

t.test('git accepts the pack for packets and chunks of any size', async (t) => {
  for (const objectFormat of ['sha1', 'sha256'] as const) {
    const { base, added, commits } = await twoPacks(t, objectFormat)
    const results: Buffer[] = []
    for (const sizes of [[65_515], [11, 8_192], [1, 11, 3], [32, 31, 20, 19, 13, 12, 50_000]]) {
      for (const chunk of [1_000, 65_536, 1_048_576]) {
        const answer = inChunks(answerOf(base, sizes), chunk)
        const extended = await extend(t, { base: answer, added, version: 2, objectFormat })
        const { pack, isWhole } = readFetchAnswer(extended)
        t.ok(isWhole)
        results.push(pack)
      }
    }
    const [pack = Buffer.alloc(0)] = results
    t.ok(results.every((other) => other.equals(pack)))
    const client = await newWorkingCopy(t, objectFormat)
    const end = await client.try(['index-pack', '--strict', '--stdin'], { input: pack })
    t.equal(end.exitCode, 0, end.errorText)
    await client.git('update-ref', 'refs/heads/main', commits.at(-1) ?? '')
    await client.git('fsck', '--full', '--strict')
    t.ok(pack.length < base.length + 1_000, 'the deltas of the new objects are kept')
  }
})

t.test('the answer has the form of version 0 if the base has it', async (t) => {
  const { base, added } = await twoPacks(t)
  const parts = { base: answerOf(base, [8_192], '0008NAK\n'), added, objectFormat: 'sha1' } as const
  const answer = await extend(t, { ...parts, version: 0 })
  t.equal(answer.toString('latin1', 0, 8), '0008NAK\n')
  t.equal(readAnswerV0(answer).pack.readUInt32BE(8), base.readUInt32BE(8) + 3)
  await t.rejects(extend(t, { ...parts, version: 2 }), NoPack)
})

t.test('a base in memory stays as it is', async (t) => {
  const { base, added } = await twoPacks(t)
  const answer = answerOf(base, [65_515])
  const before = Buffer.from(answer)
  await extend(t, { base: answer, added, version: 2, objectFormat: 'sha1' })
  t.ok(answer.equals(before))
})

t.test('nothing is written if the base has no pack', async (t) => {
  const { added } = await twoPacks(t)
  const path = join(await temporaryFolder(t), 'answer')
  const file = openSync(path, 'w')
  for (const base of [answerOf(Buffer.from('PACK'), [4]), answerOf(randomBytes(99), [99])]) {
    const parts = { base, added, version: 2, objectFormat: 'sha1' } as const
    await t.rejects(writeExtendedPack(file, parts, NO_SIGNAL), NoPack)
  }
  closeSync(file)
  t.equal(readFileSync(path).length, 0)
})

t.test('an abort and an incomplete base end the writing', async (t) => {
  const { base, added } = await twoPacks(t)
  const parts = { added, version: 2, objectFormat: 'sha1' } as const
  const answer = answerOf(base, [65_515])
  await t.rejects(extend(t, { ...parts, base: answer }, AbortSignal.abort()), 'aborted')
  await t.rejects(extend(t, { ...parts, base: answer.subarray(0, -4) }), NoPack)
})
