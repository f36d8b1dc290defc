/** The source of a body is notified if the reader stops early and not if it reads to the end. */

import t from 'tap'
import { beginWith, readOnce } from '../../../conf/lib/chunks.js'

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

t.test('the source is notified if the reader stops before or after the first chunk', async (t) => {
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

t.test('the source is not notified if the reader reads to the end', async (t) => {
  const { body, left } = aBody('one', 'two')
  const read: string[] = []
  for await (const chunk of body) read.push(String(chunk))
  t.strictSame(read, ['one', 'two'])
  t.strictSame(left, [])
})

t.test('a chunk that was read ahead is returned first and once', async (t) => {
  const results = [chunk('two'), END]
  const next = beginWith(chunk('one'), async () => results.shift() ?? END)
  t.match(await next(), chunk('one'))
  t.match(await next(), chunk('two'))
  t.match(await next(), END)
  const ended = beginWith(END, async () => chunk('more'))
  t.match(await ended(), END, 'also an end that was read ahead')
})
