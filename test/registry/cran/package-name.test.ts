/** Package names that R accepts. */

import t from 'tap'
import { isPackageName } from '../../../registry/cran/package-name.js'

t.test(
  'a name consists of letters, digits and dots, begins with a letter and does not end with a dot',
  async (t) => {
    const proper = ['ab', 'data.table', 'R6', 'A1', 'a..b', 'ggplot2', 'x'.repeat(200)]
    for (const name of proper) t.equal(isPackageName(name), true, name)
    const others = [
      '',
      'R',
      'a',
      '1a',
      '.a',
      'a.',
      'a-b',
      'a_b',
      'a b',
      'a/b',
      'é1',
      'ab\n',
      ' ab',
      '..',
      'a\0',
    ]
    for (const name of others) t.equal(isPackageName(name), false, JSON.stringify(name))
  },
)
