/** Fields of DESCRIPTION that the index has, and those that are refused. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import type { Description } from '../../../registry/cran/description.js'
import { parseDescription } from '../../../registry/cran/description.js'
import { descriptionOf } from '../../helpers/r-packages.js'

function parse(text: string): Description | string {
  try {
    return parseDescription(Buffer.from(text))
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

const LEAST = { Package: 'toy', Version: '1.0-2' }

t.test('the fields that an index has are kept', async (t) => {
  const given = {
    ...LEAST,
    Title: 'Caf\u00e9',
    Description: 'says\n  more:\n  than this',
    'Authors@R': 'person("A")',
    Priority: 'recommended',
    License: 'GPL-3 |\n  file LICENSE',
    License_is_FOSS: 'yes',
    License_restricts_use: 'no',
    OS_type: 'windows',
    Archs: 'i386, x64',
    Built: 'R 4.2.2',
    Depends: 'R (>= 3.5),\n  methods',
    Imports: 'utils,',
    LinkingTo: 'Rcpp',
    Suggests: '',
    Enhances: 'lattice (>= 0.2)',
    NeedsCompilation: 'yes',
    MD5sum: 'x',
    File: '../x',
  }
  t.strictSame(parse(descriptionOf(given)), {
    packageName: 'toy',
    version: '1.0-2',
    fields: {
      Priority: 'recommended',
      License: 'GPL-3 | file LICENSE',
      License_is_FOSS: 'yes',
      License_restricts_use: 'no',
      OS_type: 'windows',
      Archs: 'i386, x64',
      Depends: 'R (>= 3.5), methods',
      Imports: 'utils',
      LinkingTo: 'Rcpp',
      Enhances: 'lattice (>= 0.2)',
      NeedsCompilation: 'yes',
    },
    about: { Title: 'Caf\u00e9', Description: 'says more: than this' },
  })
})

t.test('only a name and a version are required', async (t) => {
  const fields = { NeedsCompilation: 'no' }
  const least = { packageName: 'toy', version: '1.0-2', fields, about: {} }
  t.strictSame(parse(descriptionOf(LEAST)), least)
  t.strictSame(parse(descriptionOf({ ...LEAST, NeedsCompilation: 'maybe' })), least)
})

t.test('the fields of the page are UTF-8 or Latin-1, and at most 4,000 characters', async (t) => {
  const text = descriptionOf({ ...LEAST, Title: 'Caf\u00e9', Author: 'x'.repeat(5_000) })
  t.match(parseDescription(Buffer.from(text, 'latin1')).about, { Title: 'Caf\u00e9' })
  t.equal(parseDescription(Buffer.from(text)).about['Author']?.length, 4_000)
})

t.test('a malformed DESCRIPTION is refused with a message', async (t) => {
  const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'The package name is invalid: the DESCRIPTION file has no field Package.': { Version: '1.0' },
    'The package version is invalid: the DESCRIPTION file has no field Version.': {
      Package: 'toy',
    },
    'The package name is invalid: the DESCRIPTION file has Package: "a/b".': {
      ...LEAST,
      Package: 'a/b',
    },
    'The package version is invalid: the DESCRIPTION file has Version: "1".': {
      ...LEAST,
      Version: '1',
    },
    'The DESCRIPTION file has non-ASCII characters in its field License.': {
      ...LEAST,
      License: 'CeCILL \u00a0',
    },
    'The DESCRIPTION file has an invalid "R (>= x)" in its field Depends.': {
      ...LEAST,
      Depends: 'R (>= x)',
    },
    'The DESCRIPTION file has an invalid "caf\u00c3\u00a9" in its field Suggests.': {
      ...LEAST,
      Suggests: 'caf\u00e9',
    },
  }
  for (const [sentence, fields] of Object.entries(wrong)) {
    t.equal(parse(descriptionOf(fields)), sentence)
  }
  const lower = { package: 'toy', VERSION: '1.0' }
  t.match(parse(descriptionOf(lower)), /has no field Package/, 'field names are case-sensitive')
})
