/** Release files list the contents of a distribution and their checksums. */

import t from 'tap'
import { releaseText } from '../../../registry/debian/release.js'
import { anEntry } from '../../helpers/index-builds.js'

function aFile(path: string, text: string) {
  const bytes = Buffer.from(text)
  const { digests } = anEntry({
    part: '',
    metadata: {},
    packageName: '',
    version: '',
    fileName: '',
    bytes,
  }).file
  return { path, bytes: bytes.length, digests }
}

const WHOLE = {
  name: 'bookworm',
  changedAtMs: Date.UTC(2025, 5, 5, 12, 0, 0, 999),
  validMs: undefined,
  parts: ['main/arm64', 'contrib/all', 'main/amd64', 'contrib/amd64'],
  files: [aFile('main/binary-amd64/Packages', 'text')],
}

t.test('components and architectures are listed once each, in order', async (t) => {
  const text = releaseText(WHOLE)
  t.equal(
    text,
    [
      'Origin: Gatehouse',
      'Label: Gatehouse',
      'Suite: bookworm',
      'Codename: bookworm',
      'Components: contrib main',
      'Architectures: all amd64 arm64',
      'Date: Thu, 05 Jun 2025 12:00:00 UTC',
      'Acquire-By-Hash: yes',
      'SHA256:',
      ' 982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1 4 main/binary-amd64/Packages',
      'SHA512:',
      ' eaf2c12742cb8c161bcbd84b032b9bb98999a23282542672ca01cc6edd268f7dce9987ad6b2bc79305634f89d90b90102bcd59a57e7135b8e3ceb93c0597117b 4 main/binary-amd64/Packages',
      '',
    ].join('\n'),
  )
})

t.test('a limited validity is counted from the date', async (t) => {
  const text = releaseText({ ...WHOLE, validMs: 7 * 86_400_000 })
  const dates = 'Date: Thu, 05 Jun 2025 12:00:00 UTC\nValid-Until: Thu, 12 Jun 2025 12:00:00 UTC\n'
  t.match(text, dates)
})
