/** A body's maker hears of a reader that leaves, and of none that reads to the end. */

import t from 'tap'
import { beginWith, readOnce } from '../../conf/chunks.js'

const chunk = (text: string) => ({ done: false, value: Buffer.from(text) }) as const
const END = { done: true, value: undefined } as const

function aBody(...texts: readonly string[]) {
  const results = texts.map(chunk)
  const left: string[] = []
  const body = readOnce(
    async () => results.shift() ?? END,
    async () => left.push('left'),
  )
  return { body, left }
}

t.test('who leaves before or after the first chunk is heard of', async (t) => {
  const early = aBody('one', 'two')
  await early.body[Symbol.asyncIterator]().return?.()
  t.strictSame(early.left, ['left'])
  const late = aBody('one', 'two')
  for await (const first of late.body) {
    t.equal(String(first), 'one')
    break
  }
  t.strictSame(late.left, ['left'])
})

t.test('who reads to the end has not left', async (t) => {
  const { body, left } = aBody('one', 'two')
  const read: string[] = []
  for await (const chunk of body) read.push(String(chunk))
  t.strictSame(read, ['one', 'two'])
  t.strictSame(left, [])
})

t.test('what was read ahead comes first, and once', async (t) => {
  const results = [chunk('two'), END]
  const next = beginWith(chunk('one'), async () => results.shift() ?? END)
  t.match(await next(), chunk('one'))
  t.match(await next(), chunk('two'))
  t.match(await next(), END)
  const ended = beginWith(END, async () => chunk('more'))
  t.match(await ended(), END, 'an end that was read ahead as well')
})
