/** Expressions: values, conditions, faults, and the cost of hostile texts. */

import t from 'tap'
import { ExpressionFault, newWork } from '../../../gateway/workflows/expression-work.js'
import {
  escapeExpressions,
  evaluate,
  evaluateCondition,
  interpolate,
} from '../../../gateway/workflows/expressions.js'

const CONTEXTS = {
  github: {
    ref: 'refs/heads/main',
    event: { commits: [{ id: 'a' }, { id: 'b' }], constructor: 'c' },
  },
  env: { Name: 'World', empty: '' },
  steps: { build: { outputs: { list: '["x", "y"]' }, outcome: 'success' } },
  numbers: { one: 1, none: null, yes: true },
}

const SUCCEEDED = { hasFailed: false, isCancelled: false, hasSucceeded: true }
const FAILED = { hasFailed: true, isCancelled: false, hasSucceeded: false }
const CANCELLED = { hasFailed: false, isCancelled: true, hasSucceeded: false }

function resultOf(expression: string): string {
  return interpolate(`\${{ ${expression} }}`, CONTEXTS)
}

function faultOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof ExpressionFault) return error.message
    throw error
  }
  return 'no fault'
}

t.test('expressions in a text are replaced by their values', async (t) => {
  const rows: ReadonlyArray<readonly [expression: string, value: string]> = [
    ['github.ref', 'refs/heads/main'],
    ["GitHub['REF']", 'refs/heads/main'],
    ['env.name', 'World'],
    ['env.missing', ''],
    ['env.missing.deeper', ''],
    ['env.__proto__', ''],
    ['github.event.constructor', 'c'],
    ['github.event.commits[1].id', 'b'],
    ["join(github.event.commits.*.id, '+')", 'a+b'],
    ["join(fromJSON(steps.build.outputs.list), '-')", 'x-y'],
    ["'it''s Bob''s }}'", "it's Bob's }}"],
    ["format('{0} and {1}', 'a', numbers.one)", 'a and 1'],
    ['numbers.yes && numbers.one', '1'],
    ["env.empty || 'default'", 'default'],
    ["'A' == 'a'", 'true'],
    ["contains('Hello', 'ELL')", 'true'],
    ['toJSON(github.event.commits[0])', '{\n  "id": "a"\n}'],
    ["case(false, 'a', 'b')", 'b'],
    ['github.event', 'Object'],
  ]
  for (const [expression, value] of rows) t.equal(resultOf(expression), value, expression)
  t.equal(interpolate('Hello ${{ env.name }}, ${{env.name}}!', CONTEXTS), 'Hello World, World!')
  t.equal(interpolate("${{ '$' }}{{ env.name }}", CONTEXTS), '${{ env.name }}')
  t.equal(interpolate('no $expression {{ }}', CONTEXTS), 'no $expression {{ }}')
  const long = 'x'.repeat(30_000)
  t.equal(interpolate(long, CONTEXTS), long)
})

t.test('a text that is one expression has the value of it, of any type', async (t) => {
  const rows: ReadonlyArray<readonly [text: string, value: unknown]> = [
    ['${{ numbers.one }}', 1],
    ['${{ numbers.none }}', null],
    ['${{ fromJSON(\'[1, {"a": [true]}]\') }}', [1, { a: [true] }]],
    ['${{ github.event.commits }}', [{ id: 'a' }, { id: 'b' }]],
    ['${{ numbers.one }} ', '1 '],
    ['${{ numbers.one }}${{ numbers.one }}', '11'],
    ["${{ '}}' }}", '}}'],
    ['text', 'text'],
  ]
  for (const [text, value] of rows) t.strictSame(evaluate(text, CONTEXTS, newWork()), value, text)
})

t.test('an escaped text is evaluated to itself', async (t) => {
  const texts = [
    '${{ secrets.x }}',
    '${{',
    '$${{{ }}',
    '${{${{ }}',
    "${{ '$' }}{{",
    'plain $ {{ }}',
  ]
  for (const text of texts) t.equal(interpolate(escapeExpressions(text), {}), text)
})

t.test('a condition without a status function requires success', async (t) => {
  const rows: ReadonlyArray<readonly [text: string | undefined, met: string]> = [
    [undefined, 'succeeded'],
    ['', 'succeeded'],
    ["github.ref == 'refs/heads/main'", 'succeeded'],
    ["${{ github.ref == 'refs/heads/main' }}", 'succeeded'],
    ["github.ref == 'refs/heads/other'", ''],
    ["fromJSON(env.empty) == 'x' || true", ''],
    ["'success()'", 'succeeded'],
    ['always()', 'succeeded failed cancelled'],
    ['${{ always() }}', 'succeeded failed cancelled'],
    ['success()', 'succeeded'],
    ['failure()', 'failed'],
    ['CANCELLED()', 'cancelled'],
    ['!cancelled()', 'succeeded failed'],
    ["failure() && env.name == 'x'", ''],
    ['env.empty', ''],
    ['numbers.none', ''],
    ['numbers.one', 'succeeded'],
    ['github.event', 'succeeded'],
  ]
  for (const [text, met] of rows) {
    const outcomes = { succeeded: SUCCEEDED, failed: FAILED, cancelled: CANCELLED }
    const isMet = (outcome: typeof SUCCEEDED) => {
      try {
        return evaluateCondition(text, CONTEXTS, outcome)
      } catch (error) {
        if (error instanceof ExpressionFault) return false
        throw error
      }
    }
    const found = Object.entries(outcomes).flatMap(([name, outcome]) =>
      isMet(outcome) ? [name] : [],
    )
    t.equal(found.join(' '), met, String(text))
  }
})

t.test('a condition is not evaluated if an earlier step has failed', async (t) => {
  const text = 'fromJSON(env.empty).x'
  t.equal(evaluateCondition(text, CONTEXTS, FAILED), false)
  t.match(
    faultOf(() => evaluateCondition(text, CONTEXTS, SUCCEEDED)),
    'empty input',
  )
})

t.test('a malformed expression is a fault that names it', async (t) => {
  const rows: ReadonlyArray<readonly [expression: string, message: string]> = [
    ['secrets.x', "the context 'secrets' does not exist"],
    ['github.ref == main', "the context 'main' does not exist"],
    ['nothing()', "the function 'nothing' does not exist"],
    ['constructor(1)', "the function 'constructor' does not exist"],
    ['__proto__()', "the function '__proto__' does not exist"],
    ['success()', "the function 'success' does not exist"],
    ["hashFiles('*')", 'the function hashFiles is not supported yet'],
    ['', 'an expression is empty'],
    ['1 +', "the expression '1 +': Unexpected symbol: '+'. Located at position 4"],
    ['github.', "the expression 'github.': Unexpected symbol: 'EOF'"],
    ["format('{1}', 'a')", "the expression 'format('{1}', 'a')': The following format string"],
    ["fromJSON('{')", "the expression 'fromJSON('{')': Error parsing JSON"],
    ["'open", "the expression '${{ 'open }}' has no end '}}'"],
  ]
  for (const [expression, message] of rows) {
    t.match(
      faultOf(() => resultOf(expression)),
      message,
      expression,
    )
  }
  t.equal(
    faultOf(() => interpolate('a ${{ env.name', CONTEXTS)),
    "the expression '${{ env.name' has no end '}}'",
  )
  t.equal(
    faultOf(() => evaluateCondition('${{ env.name }} == 1', CONTEXTS, SUCCEEDED)),
    "the condition '${{ env.name }} == 1' is not one expression",
  )
})

t.test('a text with expressions has at most 21,000 characters', async (t) => {
  const longest = `\${{ env.name }}${'x'.repeat(21_000 - 15)}`
  t.equal(interpolate(longest, CONTEXTS).length, 21_000 - 15 + 5)
  t.match(
    faultOf(() => interpolate(`${longest}x`, CONTEXTS)),
    'is longer than 21000 characters',
  )
  t.match(
    faultOf(() => evaluateCondition(`true${' '.repeat(20_997)}`, CONTEXTS, SUCCEEDED)),
    'is longer than 21000 characters',
  )
})

/** A text of a million characters, which needs six million in JSON. */
const LONG = '\u001f'.repeat(1_000_000)

const HOSTILE: Readonly<Record<string, string>> = {
  'open brackets': '('.repeat(20_000),
  'open indexes': `github${'[github'.repeat(2_800)}`,
  negations: `${'!'.repeat(20_000)}true`,
  'calls in calls': 'toJSON('.repeat(2_500),
  comparisons: `1${'==1'.repeat(6_900)}`,
  'an open text': `github['${"''".repeat(10_000)}`,
  'properties of properties': `github${'.a'.repeat(10_000)}`,
  'formats in formats': `${"format('{0}{0}', ".repeat(40)}'xx'${')'.repeat(40)}`,
  'a format with many places': `format('${'{0}'.repeat(6_900)}', long.text)`,
  'JSON in JSON': `${'toJSON('.repeat(40)}'""'${')'.repeat(40)}`,
  'JSON of long texts': 'toJSON(long)',
  'deep JSON': `toJSON(fromJSON('${'['.repeat(10_000)}'))`,
  'malformed JSON': 'fromJSON(long.brackets)',
  'long texts compared often': `1==2${' || long.text == long.other'.repeat(700)}`,
  'long texts joined': 'join(long.list, long.text)',
  'a long text searched for': 'contains(long.list, long.text)',
}

t.test('a hostile expression is a fault', async (t) => {
  const contexts = {
    ...CONTEXTS,
    long: {
      text: LONG,
      other: `${LONG}x`,
      values: `[${'0,'.repeat(200_000)}0]`,
      brackets: `["${'\\"'.repeat(500_000)}`,
      list: Array.from({ length: 10_000 }, (_, at) => String(at)),
    },
  }
  for (const [name, expression] of Object.entries(HOSTILE)) {
    const fault = faultOf(() => interpolate(`\${{ ${expression} }}`, contexts))
    t.not(fault, 'no fault', name)
    t.ok(fault.length < 300, `${name}: ${fault}`)
  }
  t.match(
    faultOf(() => interpolate('${{ fromJSON(long.values) }}', contexts)),
    'expressions of a text handle more than 6291456 characters',
  )
  t.match(
    faultOf(() => interpolate('${{ long.text }}${{ long.text }}', contexts)),
    'is longer than 1048576 bytes with its values',
  )
})
