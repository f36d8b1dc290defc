/** Debian packages for benchmarks: small files with metadata of usual length. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface DebFile {
  readonly packageName: string
  readonly version: string
  readonly path: string
}

/** Writes packages (deb(5)) into a new folder; a number always produces the same bytes. */
export async function writeDebs(
  folder: string,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<readonly DebFile[]> {
  await mkdir(folder)
  const debs: DebFile[] = []
  for (let number = first; number < first + count; number += 1) {
    const { packageName, version, control } = describe(number)
    const path = join(folder, `${packageName}_${version}_amd64.deb`)
    await writeFile(path, debOf(control))
    debs.push({ packageName, version, path })
  }
  return debs
}

const SUBJECTS: readonly string[] = [
  'archive',
  'audio',
  'cache',
  'colour',
  'compiler',
  'crypto',
  'database',
  'editor',
  'font',
  'graph',
  'image',
  'kernel',
  'layout',
  'mail',
  'network',
  'parser',
  'printer',
  'queue',
  'render',
  'search',
  'shell',
  'storage',
  'terminal',
  'video',
  'widget',
]

const WORDS: readonly string[] = [
  'and',
  'for',
  'with',
  'from',
  'this',
  'package',
  'contains',
  'provides',
  'library',
  'files',
  'development',
  'headers',
  'shared',
  'small',
  'fast',
  'portable',
  'interface',
  'programs',
  'which',
  'reading',
  'writing',
  'common',
  'formats',
  'several',
  'tools',
  'command',
  'line',
  'support',
  'support',
  'documents',
  'protocol',
  'server',
  'client',
  'data',
  'documentation',
]

function describe(number: number) {
  const random = createRandom(number + 1)
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? ''
  const text = (words: number) => Array.from({ length: words }, () => pick(WORDS)).join(' ')
  const subject = pick(SUBJECTS)
  const packageName = `lib${subject}-${pick(SUBJECTS)}${number}`
  const version = `${1 + (number % 7)}.${number % 23}.${number % 11}-${1 + (number % 3)}`
  const depends = Array.from(
    { length: 3 },
    () => `lib${pick(SUBJECTS)}${Math.floor(random() * 90)} (>= 1.${Math.floor(random() * 30)})`,
  )
  const control = [
    `Package: ${packageName}`,
    `Source: ${subject}-${number}`,
    `Version: ${version}`,
    'Architecture: amd64',
    `Maintainer: Debian ${subject} maintainers <${subject}@lists.example.org>`,
    `Installed-Size: ${20 + Math.floor(random() * 9_000)}`,
    `Depends: libc6 (>= 2.34), ${depends.join(', ')}`,
    'Section: libs',
    'Priority: optional',
    'Multi-Arch: same',
    `Homepage: https://${subject}.example.org/${number}`,
    `Description: ${text(5)}`,
    ` ${text(8)}`,
    ' .',
    ` ${text(5)}`,
  ]
  return { packageName, version, control: `${control.join('\n')}\n` }
}

/** Generator of Numerical Recipes; the seed is spread so that neighbouring seeds differ. */
function createRandom(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function debOf(control: string): Buffer {
  const members = [
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', gzipSync(tarOf('./control', Buffer.from(control)))],
    // An empty archive, because the package installs no files.
    ['data.tar', TAR_END],
  ] as const
  return Buffer.concat([
    Buffer.from('!<arch>\n'),
    ...members.flatMap(([name, body]) => [
      Buffer.from(`${name.padEnd(16)}${'0'.padEnd(12)}0     0     100644  `),
      Buffer.from(`${String(body.length).padEnd(10)}\`\n`),
      body,
      Buffer.alloc(body.length % 2, '\n'),
    ]),
  ])
}

const TAR_BLOCK = 512
const TAR_END = Buffer.alloc(2 * TAR_BLOCK)
const CHECKSUM_AT = 148

/** Returns an archive of one file in the ustar format (POSIX.1-1988). */
function tarOf(path: string, body: Buffer): Buffer {
  const header = Buffer.alloc(TAR_BLOCK)
  const fields = [
    path.padEnd(100, NUL),
    octal(0o644, 8),
    octal(0, 8),
    octal(0, 8),
    octal(body.length, 12),
    octal(0, 12),
  ]
  header.write(fields.join(''))
  header.write(`ustar${NUL}00`, 257)
  // The checksum field counts as spaces; the type flag after it is a regular file.
  header.write('        0', CHECKSUM_AT)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(octal(sum, 7), CHECKSUM_AT)
  const padding = Buffer.alloc(-body.length & (TAR_BLOCK - 1))
  return Buffer.concat([header, body, padding, TAR_END])
}

const NUL = '\x00'

function octal(value: number, length: number): string {
  return value.toString(8).padStart(length - 1, '0') + NUL
}
