/** Swift packages: conformance of the format, and requests of SwiftPM. */

import t from 'tap'
import { type FormatSubject, testFormat } from '../../conformance/package-format.js'
import { JSON_V1, sourceArchive, swiftForm } from '../../helpers/swift.js'
import { zipOf } from '../../helpers/zips.js'

const at = (version: string) => `/acme/Hello/${version}`

async function archiveAt(path: string) {
  return swiftForm(path, [['source-archive', await sourceArchive()]])
}

const SUBJECT: FormatSubject = {
  format: 'swift',
  publish: async (version, salt) =>
    swiftForm(at(version), [['source-archive', await sourceArchive({ 'salt.txt': salt })]]),
  version: (index) => `1.${index}.0`,
  file: (version) => `${at(version)}.zip`,
  list: {
    path: '/acme/Hello',
    headers: { accept: JSON_V1 },
    holds: ({ json }, version) =>
      Object.hasOwn((json as { readonly releases: object }).releases, version),
  },
  hostile: async () => ({
    'a scope with a dot': await archiveAt('/ac.me/Hello/1.0.0'),
    'a scope with two hyphens': await archiveAt('/ac--me/Hello/1.0.0'),
    'a scope that is too long': await archiveAt(`/${'a'.repeat(40)}/Hello/1.0.0`),
    'a name with a slash': await archiveAt('/acme/He%2Fllo/1.0.0'),
    'a name with a dot': await archiveAt('/acme/He.llo/1.0.0'),
    'a name beyond ASCII': await archiveAt('/acme/H%C3%A9llo/1.0.0'),
    'a name that is too long': await archiveAt(`/acme/${'a'.repeat(101)}/1.0.0`),
    'a version of two numbers': await archiveAt(at('1.0')),
    'a version with a v': await archiveAt(at('v1.0.0')),
    'a version with a line feed': await archiveAt(at('1.0.0%0A')),
    'a version that ends like an archive': await archiveAt(at('1.0.0-a.zip')),
    'a version that is too long': await archiveAt(at(`1.0.0-${'a'.repeat(250)}`)),
    'an unknown version of the protocol': {
      ...(await archiveAt(at('1.0.0'))),
      headers: { accept: 'application/vnd.swift.registry.v2+json' },
    },
    'no form': { method: 'PUT', path: at('1.0.0'), body: await sourceArchive() },
    'a form without an archive': swiftForm(at('1.0.0'), [['metadata', '{}']]),
    'an invalid archive': swiftForm(at('1.0.0'), [['source-archive', 'PK']]),
    'an empty archive': swiftForm(at('1.0.0'), [['source-archive', '']]),
    'an archive without a manifest': swiftForm(at('1.0.0'), [
      ['source-archive', await zipOf({ 'Hello/README.md': '' })],
    ]),
    'a manifest that is too large': swiftForm(at('1.0.0'), [
      ['source-archive', await sourceArchive({}, 'x'.repeat(131_073))],
    ]),
    'an archive in base64': swiftForm(at('1.0.0'), [
      ['source-archive', 'UEs=', 'Content-Transfer-Encoding: base64'],
    ]),
    'two archives': swiftForm(at('1.0.0'), [
      ['source-archive', await sourceArchive()],
      ['source-archive', await sourceArchive()],
    ]),
    'a signature of no format': swiftForm(at('1.0.0'), [
      ['source-archive', await sourceArchive()],
      ['source-archive-signature', 'sign'],
    ]),
    'a truncated form': {
      ...swiftForm(at('1.0.0'), []),
      body: Buffer.from('--5EBD7C6A-66B9-4B5D-9D7C-0B2A7A3F2C11\r\n'),
    },
  }),
}

await testFormat(t, SUBJECT)
