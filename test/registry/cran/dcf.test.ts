/** DCF files are read as by R, or refused. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { readRecord } from '../../../registry/cran/dcf.js'
import { askR } from '../../helpers/real-r.js'

/** Returns the fields, or the message of the refusal. */
function read(text: string): Readonly<Record<string, string>> | string {
  try {
    return Object.fromEntries(readRecord(Buffer.from(text)))
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

/** Returns `name=value` for each field that R reads, with white space reduced to one space. */
function readWithR(text: string): readonly string[] {
  const program = `
    bytes <- as.raw(strtoi(strsplit(readLines(input), ' ')[[1]], 16))
    path <- tempfile()
    writeBin(bytes, path)
    record <- tryCatch(read.dcf(path), error = function(e) NULL)
    if (!is.null(record)) for (name in colnames(record)) for (row in seq_len(nrow(record)))
      cat(name, '=', trimws(gsub('[[:space:]]+', ' ', record[row, name])), '\\n', sep = '')`
  const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16))
  return askR(program, `${bytes.join(' ')}\n`)
}

const READABLE = [
  'Package: toy\nVersion: 1.0\n',
  'Package:toy\nVersion:\n 1.0',
  '\n \t\nPackage: toy \nVersion:\t1.0\n\n \n',
  'Package: toy\r\nDepends: R (>= 3.5),\r\n\tutils\r\n',
  'Package: toy\nDescription: one\n  two: 2\n .\n\t. three\n http://x.test\nURL:\nVersion: 1.0\n',
  '#Package: toy\nAuthors@R: c(person("A: b"))\n',
]

t.test('a file that R reads gives the same fields', async (t) => {
  for (const text of READABLE) {
    const lines = Object.entries(read(text)).map(([name, value]) => `${name}=${value}`)
    t.strictSame(lines, readWithR(text), JSON.stringify(text))
  }
  t.strictSame(read(READABLE[4] ?? ''), {
    Package: 'toy',
    Description: 'one two: 2 . three http://x.test',
    URL: '',
    Version: '1.0',
  })
})

t.test('a malformed record is refused with its fault', async (t) => {
  const refused: Readonly<Record<string, string>> = {
    'Package: toy\nPackage: other\n': 'has the field "Package" twice',
    'Package: toy\nVersion : 1.0\n': 'has a line that is not a field: "Version : 1.0"',
    'Package: toy\nMy field: 1.0\n': 'has a line that is not a field: "My field: 1.0"',
    'Package: toy\n\nVersion: 1.0\n': 'has a blank line between its fields',
    'Package: toy\n \t \nVersion: 1.0\n': 'has a blank line between its fields',
    ' Package: toy\n': 'begins with white space',
    '\n\tPackage: toy\n': 'begins with white space',
    'Package: toy\nVersion 1.0\n': 'has a line that is not a field: "Version 1.0"',
    ': toy\n': 'has a line that is not a field: ": toy"',
    'Package: toy\rVersion: 1.0\n': 'has control characters in "Package: toy?Version: 1.0"',
    'Package: toy\r\r\nVersion: 1.0\n': 'has control characters in "Package: toy?"',
    'Package: to\0y\n': 'has control characters in "Package: to?y"',
    'Package: toy\n \x0b\n': 'has control characters in " ?"',
    'Package: toy\x1b[2J\n': 'has control characters in "Package: toy?[2J"',
    'Package: toy\x7f\n': 'has control characters in "Package: toy?"',
  }
  for (const [text, fault] of Object.entries(refused)) {
    t.equal(read(text), `The DESCRIPTION file ${fault}.`, JSON.stringify(text))
  }
  t.strictSame(read(''), {})
  t.strictSame(read('\n\n'), {})
})

t.test('field names may be names of JavaScript properties', async (t) => {
  const record = readRecord(Buffer.from('__proto__: x\nconstructor: y\nPackage: toy\n'))
  t.strictSame([...record.keys()], ['__proto__', 'constructor', 'Package'])
})

t.test('bytes that are not ASCII are unchanged', async (t) => {
  const record = readRecord(Buffer.from('Title: caf\xc3\xa9\nLicense: GPL\xa0\n', 'latin1'))
  t.strictSame(Object.fromEntries(record), { Title: 'caf\xc3\xa9', License: 'GPL\xa0' })
})
