/** Headers of form parts: those that clients send are parsed, malformed ones are refused. */

import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { parsePartHeader, parseValue } from '../../registry/form-header.js'

const named = (parameters: string) => [`Content-Disposition: form-data; ${parameters}`]

t.test('a part has the values of its header lines, and defaults without them', async (t) => {
  t.strictSame(parsePartHeader(named('name="a b"')), {
    name: 'a b',
    fileName: undefined,
    contentType: 'text/plain',
    transferEncoding: 'binary',
  })
  const lines = [
    'content-type:Application/ZIP; charset="x"',
    'CONTENT-TRANSFER-ENCODING:\tBase64 ',
    'content-disposition: Form-Data;name=a;filename=b',
  ]
  t.strictSame(parsePartHeader(lines), {
    name: 'a',
    fileName: 'b',
    contentType: 'application/zip',
    transferEncoding: 'base64',
  })
})

t.test('a file name loses its folders, and an empty one counts as missing', async (t) => {
  const names: Readonly<Record<string, string | undefined>> = {
    'filename="../../etc/passwd"': 'passwd',
    'filename="C:\\dir\\new.zip"': 'new.zip',
    'filename="a\\"b\\".zip"': 'a"b".zip',
    'filename="häuser; x=y.zip"': 'häuser; x=y.zip',
    "filename=old.zip; filename*=UTF-8''n%C3%A9w.zip": 'néw.zip',
    "filename*=UTF-8'en'..%2F..%2Fa.zip": 'a.zip',
    "filename=old.zip; filename*=iso-8859-1''new.zip": 'old.zip',
    'filename=""': undefined,
    'filename="a/"': undefined,
    'filename=.': '.',
  }
  for (const [parameters, name] of Object.entries(names)) {
    t.equal(parsePartHeader(named(`name=a; ${parameters}`)).fileName, name, parameters)
  }
})

t.test('a malformed header is refused with its fault', async (t) => {
  const refused = [
    [[], /no Content-Disposition: form-data with a name/],
    [named('filename=a'), /no Content-Disposition/],
    [named('name'), /no Content-Disposition/],
    [named('name="a'), /no Content-Disposition/],
    [named('name=a b'), /no Content-Disposition/],
    [['Content-Disposition: attachment; name=a'], /no Content-Disposition/],
    [['Content-Disposition : form-data; name=a'], /not have the form "Name: value"/],
    [[...named('name=a'), ' folded'], /not have the form "Name: value"/],
    [[...named('name=a'), ...named('name=b')], /has the field Content-Disposition twice/],
    [named("name=a; filename*=UTF-8''%ff"), /not valid UTF-8/],
  ] as const
  for (const [lines, message] of refused) {
    t.throws(() => parsePartHeader(lines), { failure: 'bad_request', message }, lines.join())
  }
})

t.test('of repeated parameters the first counts', async (t) => {
  const value = parseValue('multipart/form-data;boundary="a";Boundary=b; ;x=')
  t.equal(value?.value, 'multipart/form-data')
  t.strictSame(
    [...(value?.parameters ?? [])],
    [
      ['boundary', 'a'],
      ['x', ''],
    ],
  )
})

t.test('every header is parsed or refused in bounded time', async (t) => {
  const hostile = [
    '"\\'.repeat(8_000),
    '; '.repeat(8_000),
    ';a="'.repeat(4_000),
    ' '.repeat(16_000),
  ]
  for (const text of hostile) parseValue(`form-data; name=a; b="${text}`)
  const word = constantFrom(';', '"', '\\', '=', ' ', 'a', '/', 'name', 'filename*', "utf-8''", '%')
  const settles = property(array(word, { maxLength: 30 }), (words) => {
    try {
      parsePartHeader(named(words.join('')))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
  })
  t.doesNotThrow(() => assert(settles, { numRuns: 5_000 }))
})
