/** Source control files are read with and without a signature; ambiguous ones are refused. */

import t from 'tap'
import { readSourceControl } from '../../../registry/debian/source-control.js'
import { makeOpenpgpKey, openSigner } from '../../../registry/sign/openpgp.js'
import { sourceOf } from '../../helpers/byte-sources.js'

const HASH = 'ab'.repeat(32)
const DSC = [
  'Format: 3.0 (quilt)',
  'Source: hello',
  'Binary: hello',
  'Architecture: all',
  'Version: 1:1.0-1',
  'Maintainer: Ada Example <ada@example.test>',
  'Package-List:',
  ' hello deb misc optional arch=all',
  'Checksums-Sha1:',
  ` ${'a'.repeat(40)} 10 hello_1.0.orig.tar.gz`,
  'Checksums-Sha256:',
  ` ${HASH} 10 hello_1.0.orig.tar.gz`,
  ` ${HASH} 20 hello_1.0-1.debian.tar.xz`,
  'Files:',
  ` ${'a'.repeat(32)} 10 hello_1.0.orig.tar.gz`,
  '',
].join('\n')

const read = (text: string) => readSourceControl(sourceOf(Buffer.from(text)))

t.test('a signed file has the same fields and files as an unsigned one', async (t) => {
  const plain = await read(DSC)
  t.match(plain, { packageName: 'hello', version: '1:1.0-1' })
  t.strictSame(plain.files, [
    { name: 'hello_1.0.orig.tar.gz', bytes: 10, sha256: HASH },
    { name: 'hello_1.0-1.debian.tar.xz', bytes: 20, sha256: HASH },
  ])
  t.strictSame(
    plain.fields.map(([name]) => name),
    ['Format', 'Binary', 'Architecture', 'Version', 'Maintainer', 'Package-List'],
  )
  const signer = await openSigner([await makeOpenpgpKey('ada', 'ed25519')], { atMs: Date.now() })
  const signed = await signer.clearSign(DSC)
  t.strictSame(await read(signed), plain)
  for (const text of [
    signed.replace(/-----END.*/s, ''),
    signed.replace(/-----BEGIN PGP SIGNATURE.*/s, ''),
    `${signed}Source: evil\n`,
    `${signed}${signed}`,
  ]) {
    await t.rejects(read(text), { failure: 'bad_request', message: /signature is incomplete/ })
  }
})

t.test('a malformed file is refused', async (t) => {
  const hostile: Readonly<Record<string, readonly [string, RegExp]>> = {
    'no name': [DSC.replace('Source: hello\n', ''), /has no field Source/],
    'no version': [DSC.replace(/^Version:.*\n/m, ''), /has no field Version/],
    'no list': [DSC.replace(/^Checksums-Sha256:/m, 'X-List:'), /has no field Checksums-Sha256/],
    'a name that leads out of the folder': [
      DSC.replaceAll('hello_1.0.orig', '../hello_1.0.orig'),
      /package name is invalid|not a file of a source package/,
    ],
    'another file': [DSC.replaceAll('hello_1.0.orig.tar.gz', 'hello.txt'), /not a file of a/],
    'a .dsc file': [DSC.replaceAll('hello_1.0.orig.tar.gz', 'hello_1.0.dsc'), /not a file of a/],
    'a file twice': [DSC.replaceAll('hello_1.0-1.debian.tar.xz', 'hello_1.0.orig.tar.gz'), /twice/],
    'two paragraphs': [`${DSC}\n${DSC}`, /blank line/],
    'too large': [`${DSC}X: ${'x'.repeat(262_144)}\n`, /more than 262144 bytes/],
  }
  for (const [what, [text, message]] of Object.entries(hostile)) {
    await t.rejects(read(text), { failure: 'bad_request', message }, what)
  }
})
