/** Versions are ordered as by R, and only those that R can represent are valid. */

import t from 'tap'
import { compareVersions, isVersion } from '../../../registry/cran/version.js'
import { askR } from '../../helpers/real-r.js'

const VERSIONS = [
  '0.1',
  '0.1.0.0',
  '0.9-7',
  '0.10',
  '1.0',
  '1.0.0',
  '1.0-0',
  '1.0-1',
  '1.0.1',
  '01.02',
  '1.2',
  '1.10',
  '1.2.3.4.5.6',
  '2023.1',
  '20231101.1',
  '1.2147483647',
  '10.0',
  '9.9.9.9',
]

t.test('two versions compare as in R', async (t) => {
  const pairs = VERSIONS.flatMap((one) => VERSIONS.map((other) => [one, other] as const))
  const program = `
    for (pair in strsplit(readLines(input), ' ')) {
      v <- package_version(pair)
      cat(if (v[1] == v[2]) 0 else if (v[1] > v[2]) 1 else -1, '\\n', sep = '')
    }`
  const wanted = askR(program, pairs.map((pair) => `${pair.join(' ')}\n`).join(''))
  t.equal(wanted.length, pairs.length)
  const own = pairs.map(([one, other]) => String(Math.sign(compareVersions(one, other))))
  t.strictSame(own, wanted)
})

const OTHERS = [
  '',
  '1',
  '1.',
  '.1',
  '1..2',
  '1.-2',
  '1.0a',
  'v1.0',
  '1.0 ',
  ' 1.0',
  '1_0',
  '1.0\n',
  '-1.0',
  '1.2147483648',
  '99999999999.1',
  '１.０',
  '1,0',
  '1.0+1',
  'r100',
]

t.test('exactly the versions that R accepts are valid', async (t) => {
  const program = `
    pattern <- paste0('^', .standard_regexps()$valid_package_version, '$')
    for (v in scan(input, '', sep = '|', quiet = TRUE, quote = '', strip.white = FALSE)) {
      counts <- !anyNA(suppressWarnings(unlist(package_version(v, strict = FALSE))))
      cat(grepl(pattern, v) && length(unlist(package_version(v, strict = FALSE))) > 0 && counts, '\\n', sep = '')
    }`
  const all = [...VERSIONS, ...OTHERS.filter((version) => !/[\n\s]/.test(version))]
  const wanted = askR(program, `${all.join('|')}\n`)
  t.strictSame(
    all.map((version) => String(isVersion(version)).toUpperCase()),
    wanted,
  )
  for (const version of OTHERS) t.equal(isVersion(version), false, JSON.stringify(version))
  t.equal(isVersion(`1.${'0'.repeat(253)}`), true)
  t.equal(isVersion(`1.${'0'.repeat(254)}`), false, 'longer than the column')
})
