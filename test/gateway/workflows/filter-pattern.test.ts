/** Patterns of workflow filters: the examples of GitHub, faults, and texts that could be slow. */

import t from 'tap'
import {
  matchesPatterns,
  PatternError,
  parsePattern,
} from '../../../gateway/workflows/filter-pattern.js'

interface Row {
  readonly pattern: string
  readonly yes: readonly string[]
  readonly no: readonly string[]
}

/** The cheat sheet of GitHub's documentation, and the rules at its edges. */
const ROWS: readonly Row[] = [
  {
    pattern: 'feature/*',
    yes: ['feature/a', 'feature/'],
    no: ['feature/a/b', 'feature', 'xfeature/a'],
  },
  { pattern: 'feature/**', yes: ['feature/a', 'feature/a/b'], no: ['feature'] },
  { pattern: '*', yes: ['main', 'v1.0'], no: ['all/the/branches'] },
  { pattern: '**', yes: ['all/the/branches', 'main', ''], no: [] },
  { pattern: '*feature', yes: ['my-feature', 'feature'], no: ['ver-10/feature', 'features'] },
  { pattern: 'v2*', yes: ['v2', 'v2.0', 'v2.9'], no: ['v1', 'xv2'] },
  { pattern: 'v[12].[0-9]+.[0-9]+', yes: ['v1.10.1', 'v2.0.0'], no: ['v3.0.0', 'v1.x.0', 'v1..0'] },
  { pattern: '*.jsx?', yes: ['page.js', 'page.jsx'], no: ['page.jsxx', 'a/page.js'] },
  { pattern: '**.js', yes: ['index.js', 'js/index.js', 'src/js/app.js'], no: ['index.jsx'] },
  { pattern: 'docs/*', yes: ['docs/README.md'], no: ['docs/a/b.md'] },
  {
    pattern: 'docs/**/*.md',
    yes: ['docs/README.md', 'docs/a/markdown/file.md'],
    no: ['docs/README'],
  },
  { pattern: '**/docs/**', yes: ['docs/hello.md', 'dir/docs/my-file.txt'], no: ['dir/xdocs/a'] },
  { pattern: '**/README.md', yes: ['README.md', 'js/README.md', '/README.md'], no: ['xREADME.md'] },
  { pattern: '**/*src/**', yes: ['a/src/app.js', 'my-src/code/js/app.js'], no: ['a/srcs'] },
  { pattern: '**/*-post.md', yes: ['my-post.md', 'path/their-post.md'], no: ['post.md'] },
  {
    pattern: '**/migrate-*.sql',
    yes: ['migrate-10909.sql', 'db/migrate-v1.0.sql'],
    no: ['migrate.sql'],
  },
  { pattern: 'ab?c+', yes: ['ac', 'abc', 'abccc'], no: ['abbc', 'ab', 'a'] },
  { pattern: 'a\\*[+?]\\\\', yes: ['a*+\\', 'a*?\\'], no: ['ab+\\'] },
  { pattern: 'a**/b', yes: ['a/b', 'ax/y/b'], no: ['ab'] },
  { pattern: '[a-c-]', yes: ['a', 'b', 'c', '-'], no: ['d', 'ab'] },
  { pattern: 'Main', yes: ['Main'], no: ['main'] },
  { pattern: '🚀+', yes: ['🚀', '🚀🚀'], no: [''] },
]

t.test('a pattern matches the whole text or not at all', async (t) => {
  for (const { pattern, yes, no } of ROWS) {
    const { matches } = parsePattern(pattern)
    t.strictSame(
      yes.filter((text) => matches(text)),
      yes,
      `${pattern} matches`,
    )
    t.strictSame(
      no.filter((text) => matches(text)),
      [],
      `${pattern} does not match`,
    )
  }
})

t.test(
  'the last pattern that matches decides, and negative ones match nothing alone',
  async (t) => {
    const cases: ReadonlyArray<readonly [string, string, boolean]> = [
      ['releases/** !releases/**-alpha', 'releases/10', true],
      ['releases/** !releases/**-alpha', 'releases/beta/3-alpha', false],
      ['!releases/**-alpha releases/**', 'releases/3-alpha', true],
      ['!main', 'work', false],
      ['!main', 'main', false],
      ['a b', 'c', false],
    ]
    for (const [patterns, text, expected] of cases) {
      const parsed = patterns.split(' ').map(parsePattern)
      t.equal(matchesPatterns(parsed, text), expected, `${patterns}: ${text}`)
    }
  },
)

t.test('a malformed pattern is refused with its fault', async (t) => {
  const faults: Readonly<Record<string, string>> = {
    '': 'is empty',
    '!': 'is empty',
    '+a': "has nothing before its '+'",
    'a??': "has nothing before its '?'",
    '[ab': "has a '[' without a ']'",
    'a[]': "has an empty '[]'",
    'a\\': "ends with '\\'",
    [`${'a'.repeat(257)}`]: 'is longer than 256 characters',
  }
  for (const [pattern, message] of Object.entries(faults)) {
    t.throws(() => parsePattern(pattern), new PatternError(message), pattern.slice(0, 10))
  }
})

t.test('each character of a text is read once, whatever the pattern', async (t) => {
  const patterns = ['**a'.repeat(85), '*'.repeat(256), '**/'.repeat(85), `${'a?'.repeat(120)}**`]
  for (const pattern of patterns) {
    let reads = 0
    const text = {
      *[Symbol.iterator]() {
        for (; reads < 1_024; reads += 1) yield 'a'
      },
    }
    parsePattern(pattern).matches(text as unknown as string)
    t.equal(reads, 1_024, pattern.slice(0, 6))
  }
})
