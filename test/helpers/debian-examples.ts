/** Reproducible packages from which the expected Debian indexes are generated. */

import { parseControl } from '../../registry/debian/control.js'
import { poolFileName } from '../../registry/debian/names.js'
import { entryMetadata } from '../../registry/debian/packages-index.js'
import type { IndexEntry } from '../../registry/index-maker.js'
import { controlOf, debOf } from './debs.js'
import { anEntry } from './index-builds.js'

export interface ExampleDeb {
  readonly component: string
  readonly fileName: string
  readonly bytes: Buffer
  readonly entry: IndexEntry
}

const CONTROLS: ReadonlyArray<readonly [component: string, control: string]> = [
  [
    'main',
    controlOf({
      Version: '2.1.0-4',
      'Installed-Size': '8',
      Section: 'utils',
      Priority: 'optional',
      Homepage: 'https://example.test/hello',
      Depends: 'libc6 (>= 2.31),\n libhello1 (= 2.1.0-4)',
      Description: 'says hello\n A second line of text.\n .\n And a third: of another paragraph.',
    }),
  ],
  ['main', controlOf({ Version: '1:0.9~rc1+dfsg-1', Description: 'says hello, as of old' })],
  [
    'main',
    `Description: lists in any order\nXB-Colour: blue\nArchitecture: all\n${'Multi-Arch: foreign\n'}` +
      `Tag:\n role::program,\n use::viewing\nVersion: 3\nMaintainer: Ådå <a@example.test>\n` +
      'package: odd-order\n',
  ],
  ['contrib', controlOf({ Package: 'g++-extra', Architecture: 'arm64', Source: 'extra (1.0)' })],
]

export const EXAMPLE_DEBS: readonly ExampleDeb[] = CONTROLS.map(([component, text]) => {
  const control = parseControl(Buffer.from(text))
  const bytes = debOf({ control: text, files: [{ path: './usr/share/hello', body: text }] })
  const fileName = poolFileName(control)
  const { packageName, version, architecture } = control
  const entry = anEntry({
    part: `${component}/${architecture}`,
    metadata: entryMetadata(control),
    packageName,
    version,
    fileName,
    bytes,
  })
  return { component, fileName, bytes, entry }
})
