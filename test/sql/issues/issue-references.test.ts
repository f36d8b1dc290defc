/** References in texts to issues: which places of a text name one. */

import { t } from 'tap'
import { namedIssues } from '../../../sql/issues/issue-references.js'

const NAMED: Readonly<Record<string, readonly string[]>> = {
  '#1': ['#1'],
  'see #1, #02 and #1.': ['#1', '#2'],
  'ada/engine#3 (ADA/Engine#3)': ['ada/engine#3'],
  'a-b/c.d_e#4': ['a-b/c.d_e#4'],
  '`#1` and `ada/x#2`, not #3': ['#3'],
  '```\n#1\n```\n#2\n~~~\n#3': ['#2'],
  'x#1 ##2 &#3; #4a #-5 https://h/a/b#6 a/b/c#7 #0x8': [],
  '': [],
}

t.test('a number after # outside of code names an issue', async (t) => {
  for (const [text, named] of Object.entries(NAMED)) {
    const found = namedIssues(text).map(({ repository, number }) =>
      repository === undefined ? `#${number}` : `${repository.owner}/${repository.name}#${number}`,
    )
    t.strictSame(found, named, text)
  }
})

t.test('at most 20 issues of a text are returned', async (t) => {
  const numbers = Array.from({ length: 50 }, (_, at) => `#${at}`)
  t.equal(namedIssues(numbers.join(' ')).length, 20)
  for (const part of ['a', '.', 'a#1', 'a/', 'a/#', '`', '```\n']) {
    t.strictSame(namedIssues(part.repeat(500_000)), [], 'no reference between the repetitions')
  }
})
