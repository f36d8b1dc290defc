/** Control files are parsed field by field, and refused where two programs might differ. */

import t from 'tap'
import { parseControl } from '../../../registry/debian/control.js'
import { controlOf } from '../../helpers/debs.js'

const parse = (text: string) => parseControl(Buffer.from(text))
const refused = (message: RegExp) => ({ failure: 'bad_request', message })

const WHOLE = [
  'Package: hello-tool',
  'version:   1:2.1.0-4  ',
  'Architecture: amd64',
  'X-Own-Field: kept',
  'Description: says hello',
  ' A second line.',
  ' .',
  '\tAnd one after a tab.  ',
  'Depends:',
  ' libc6 (>= 2.31),',
  ' libgcc-s1',
  '__proto__: nothing',
  'Maintainer: Ada Éxample <ada@example.test>',
  '7: seven',
  '',
].join('\n')

t.test("fields are in Debian's order and spelling, followed by all others", async (t) => {
  t.strictSame(parse(WHOLE), {
    packageName: 'hello-tool',
    version: '1:2.1.0-4',
    architecture: 'amd64',
    fields: [
      ['Package', 'hello-tool'],
      ['Version', '1:2.1.0-4'],
      ['Architecture', 'amd64'],
      ['Maintainer', 'Ada Éxample <ada@example.test>'],
      ['Depends', '\n libc6 (>= 2.31),\n libgcc-s1'],
      ['Description', 'says hello\n A second line.\n .\n\tAnd one after a tab.'],
      ['X-Own-Field', 'kept'],
      ['__proto__', 'nothing'],
      ['7', 'seven'],
    ],
  })
})

t.test('blank lines around the paragraph are ignored', async (t) => {
  t.strictSame(parse(`\n\n${WHOLE}\n \n\n`), parse(WHOLE))
})

t.test('a control file without a required field is refused', async (t) => {
  t.doesNotThrow(() => parse('Package: ab\nVersion: 1\nArchitecture: all\n'))
  t.throws(() => parse('Version: 1\nArchitecture: all\n'), refused(/has no field Package/))
  t.throws(
    () => parse('Package: ab\nVersion:\nArchitecture: all\n'),
    refused(/has no field Version/),
  )
  t.throws(() => parse('Package: ab\nVersion: 1\n'), refused(/has no field Architecture/))
  t.throws(() => parse(''), refused(/has no field Package/))
  t.throws(() => parse('\n \n'), refused(/has no field Package/))
})

t.test('a control file that could inject another paragraph is refused', async (t) => {
  const fine = controlOf({})
  const evil = 'Package: evil\nVersion: 1\nArchitecture: all\nFilename: pool/evil.deb\n'
  const hostile: Readonly<Record<string, readonly [string, RegExp]>> = {
    'a second paragraph': [`${fine}\n${evil}`, /blank line/],
    'a second paragraph after a line of spaces': [`${fine}  \n${evil}`, /blank line/],
    'a second paragraph after a tab': [`${fine}\t\n${evil}`, /blank line/],
    'a second paragraph after CR LF': [`${fine}\r\n${evil}`, /control characters/],
    'lines that end in CR LF': [fine.replaceAll('\n', '\r\n'), /control characters/],
    'a lone CR': [controlOf({ Section: `x\rFilename: y` }), /control characters/],
    NUL: [controlOf({ Section: 'x\0y' }), /control characters/],
    'a vertical tab': [controlOf({ Section: 'x\vy' }), /control characters/],
    'a form feed': [controlOf({ Section: 'x\fy' }), /control characters/],
    'a next line (C1)': [controlOf({ Section: 'x\u0085y' }), /control characters/],
    'a line separator': [controlOf({ Section: 'x\u2028y' }), /control characters/],
    'an escape': [controlOf({ Section: '\x1b[2J' }), /control characters/],
    'a package on two lines': [controlOf({ Package: 'ab\n cd' }), /package name is invalid/],
    'a version on two lines': [controlOf({ Version: '1\n 2' }), /package version is invalid/],
    'a field twice': [`${fine}Package: other\n`, /"Package" twice/],
    'a field twice, in another case': [`${fine}PACKAGE: other\n`, /"PACKAGE" twice/],
    'a field of the index': [
      controlOf({ Filename: 'pool/other.deb' }),
      /is not allowed in a package/,
    ],
    'its size': [controlOf({ size: '1' }), /is not allowed in a package/],
    'its MD5': [controlOf({ MD5Sum: '00' }), /is not allowed in a package/],
    'its SHA-256': [controlOf({ sha256: '00' }), /is not allowed in a package/],
    'a status': [controlOf({ Status: 'install ok installed' }), /is not allowed in a package/],
    'a name with a space': [`${fine}File name: x\n`, /is not a field/],
    'a name and a space': [`${fine}Filename : x\n`, /is not a field/],
    'a name beyond ASCII': [`${fine}Größe: x\n`, /is not a field/],
    'a comment': [`${fine}# x: y\n`, /is not a field/],
    'a signature around it': [`-----BEGIN PGP SIGNED MESSAGE-----\n${fine}`, /is not a field/],
    'a name that begins with a hyphen': [`${fine}-x: y\n`, /is not a field/],
    'a line without a name': [`${fine}: x\n`, /is not a field/],
    'a line without a colon': [`${fine}text\n`, /is not a field/],
    'a continuation line at the start': [` x\n${fine}`, /with a continuation line/],
    'a byte order mark': [`\ufeff${fine}`, /is not a field/],
  }
  for (const [what, [text, why]] of Object.entries(hostile)) {
    t.throws(() => parse(text), refused(why), what)
  }
  const latin1 = Buffer.from(controlOf({ Maintainer: 'Ren\xe9' }), 'latin1')
  t.throws(() => parseControl(latin1), refused(/not valid UTF-8/))
})

t.test(
  'a file of white space or of one repeated character is parsed in bounded time',
  async (t) => {
    for (const sign of [' ', '\n', ' \n', '\t', 'a', ':', 'a: ', '-', ' .\n', 'a:\n']) {
      const text = controlOf({ Section: `x${sign.repeat(100_000)}y` })
      for (const hostile of [text, sign.repeat(100_000)]) {
        const startedMs = performance.now()
        try {
          parse(hostile)
        } catch (error) {
          t.match(error, { failure: 'bad_request' })
        }
        // A backtracking pattern would need minutes.
        t.ok(performance.now() - startedMs < 20_000, JSON.stringify(sign))
      }
    }
  },
)
