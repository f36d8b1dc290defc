/** Rendering of texts: once each, in a pool, and failures are remembered. */

import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createPools } from '../../../gateway/pool/pools.js'
import { createRenderings, isRendered, type Rendering } from '../../../gateway/pool/renderings.js'

function startDrawings(t: Test) {
  const outcomes: string[] = []
  const pools = createPools((pool, outcome) => outcomes.push(`${pool} ${outcome}`))
  t.teardown(() => pools.stop())
  return {
    drawings: createRenderings({ pool: pools.pages, log: pino({ level: 'silent' }) }),
    outcomes,
  }
}

const FROM = {
  address: 'http://x/ada/r',
  place: { kind: 'branch', name: 'main', path: [] },
} as const

/** An unterminated name, for which the library's Java grammar takes quadratic time. */
const SLOW_FILE = { name: 'a.java', text: '$'.repeat(190_000) }

/** Links, each of which is rendered with the full address. */
const LONG_TEXT = '[a](b) '.repeat(1_000)
const LONG_FROM = { ...FROM, address: `http://x/${'r'.repeat(5_000)}` }

const whyOf = (drawing: Rendering) => (isRendered(drawing) ? 'drawn' : drawing.why)

t.test('a text is rendered once, also for concurrent requests', async (t) => {
  const { drawings, outcomes } = startDrawings(t)
  const file = { name: 'a.ts', text: 'let a = 1\n' }
  const both = await Promise.all([drawings.highlight(file, 1), drawings.highlight(file, 2)])
  t.match(both[0], /^<tr id="L1">.*<span class="hljs-keyword">let<\/span> a/)
  t.equal(both[1], both[0])
  t.equal(await drawings.highlight({ ...file }, 1), both[0])
  t.strictSame(outcomes, ['pages ok'])

  const markdown = await drawings.markdown({ text: '**a** <script>b</script>', from: FROM }, 1)
  t.equal(markdown, '<p><strong>a</strong> </p>\n')
  t.strictSame(outcomes, ['pages ok', 'pages ok'])
})

t.test('another location, name or text is rendered separately', async (t) => {
  const { drawings } = startDrawings(t)
  const text = '[a](b)'
  const here = await drawings.markdown({ text, from: FROM }, 1)
  const there = await drawings.markdown({ text, from: { ...FROM, address: 'http://x/eve/r' } }, 1)
  t.match(here, 'http://x/ada/r/src/branch/main/b')
  t.match(there, 'http://x/eve/r/src/branch/main/b')
  const code = 'let a'
  const asCode = await drawings.highlight({ name: 'a.ts', text: code }, 1)
  t.not(await drawings.highlight({ name: 'a.txt', text: code }, 1), asCode)
})

t.test('a text that takes too long is refused once and remembered', async (t) => {
  const { drawings, outcomes } = startDrawings(t)
  t.equal(whyOf(await drawings.highlight(SLOW_FILE, 1)), 'slow')
  t.equal(whyOf(await drawings.highlight(SLOW_FILE, 1)), 'slow')
  t.strictSame(outcomes, ['pages deadline'])
  t.equal(whyOf(await drawings.highlight({ ...SLOW_FILE, text: 'int a;\n' }, 1)), 'drawn')
})

t.test('texts that are too long before or after rendering are refused', async (t) => {
  const { drawings, outcomes } = startDrawings(t)
  t.equal(whyOf(await drawings.highlight({ name: 'a.ts', text: ' '.repeat(262_145) }, 1)), 'long')
  t.strictSame(outcomes, [], 'without a task')
  t.equal(whyOf(await drawings.markdown({ text: LONG_TEXT, from: LONG_FROM }, 1)), 'long')
  t.equal(whyOf(await drawings.markdown({ text: LONG_TEXT, from: LONG_FROM }, 1)), 'long')
  t.equal(outcomes.length, 1)
})
