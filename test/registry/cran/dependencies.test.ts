/** Dependency lists that R can read are accepted, and others are refused. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { tidyDependencies } from '../../../registry/cran/dependencies.js'
import { askR } from '../../helpers/real-r.js'

function tidy(list: string): string {
  try {
    return tidyDependencies('Depends', list)
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

t.test('a list is normalized to one line, with a space before each version', async (t) => {
  const lists: Readonly<Record<string, string>> = {
    '': '',
    ' , ': '',
    utils: 'utils',
    'R (>= 3.5), methods,': 'R (>= 3.5), methods',
    'R(>=3.5),Rcpp( < 1.0-12 )': 'R (>= 3.5), Rcpp (< 1.0-12)',
    'ab (== 1.0), cd (!= 2.0), ef (<= 1.2.3.4), gh (> 0.1)':
      'ab (== 1.0), cd (!= 2.0), ef (<= 1.2.3.4), gh (> 0.1)',
  }
  for (const [list, tidied] of Object.entries(lists)) t.equal(tidy(list), tidied, list)
  // R parses all of them together, because one unreadable entry makes it reject the whole index.
  const program = `
    lists <- readLines(input)
    db <- cbind(Package = 'toy', Version = '1.0', Depends = lists)
    kept <- utils:::available_packages_filters_db$R_version(db)
    cat(nrow(kept), length(tools:::.split_dependencies(lists)), '\\n')`
  const all = Object.values(lists).filter((list) => list !== '')
  t.strictSame(askR(program, `${all.join('\n')}\n`), ['4 8 '])
})

t.test('a list that stops R is refused', async (t) => {
  const malformed = [
    'R (>= foo)',
    'R (~ 4.0)',
    'R (=> 4.0)',
    'R (4.0)',
    'R (>= 4)',
    'R (>= r100)',
    'R (>= 4.0',
    'R >= 4.0',
    'R (>= 4.0))',
    'a',
    '1a',
    'ab-cd',
    'ab cd',
    'ab;',
    'ab (>= 1.0) (< 2.0)',
    '.a',
    'ab\ncd',
    'ab (>= 1.99999999999)',
    'é1',
    'ab ()',
    '()',
    'ab (>=)',
    'a'.repeat(500_000),
  ]
  for (const list of malformed.slice(0, -1)) {
    const wanted = `The DESCRIPTION file has an invalid ${JSON.stringify(list)} in its field Depends.`
    t.equal(tidy(list), wanted.replace('\\n', '?'), list)
  }
  t.equal(tidy(`${'a'.repeat(500_000)}!`).length < 400, true, 'the message is short')
})
