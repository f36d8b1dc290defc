/** Debian packages (deb(5)) built from parts, also malformed ones. */

import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { type TarPiece, tarOf } from './tar-bytes.js'

export interface ArPiece {
  readonly name: string
  readonly body?: Uint8Array
  /** Size in the header, if it differs from the real one. */
  readonly size?: string
}

/** Returns an ar archive of these members. */
export function arOf(pieces: readonly ArPiece[]): Buffer {
  const members = pieces.flatMap(({ name, body = Buffer.alloc(0), size }) => {
    const bytes = (size ?? String(body.length)).padEnd(10)
    const header = `${name.padEnd(16)}${'0'.padEnd(12)}${'0     '.repeat(2)}${'100644  '}${bytes}\`\n`
    return [Buffer.from(header, 'latin1'), body, Buffer.from(body.length % 2 === 0 ? '' : '\n')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...members])
}

export type Packing = '' | '.gz' | '.xz' | '.zst'

/** Compresses bytes with the format of a file name suffix. */
export function pack(bytes: Uint8Array, packing: Packing, ...args: readonly string[]): Buffer {
  if (packing === '') return Buffer.from(bytes)
  if (packing === '.gz') return gzipSync(bytes)
  const program = packing === '.xz' ? 'xz' : 'zstd'
  return execFileSync(program, ['-q', '--stdout', ...args], { input: bytes, maxBuffer: 1 << 28 })
}

export interface DebPieces {
  /** Text of the control file. */
  readonly control: string | Uint8Array
  readonly packing?: Packing
  /** Files that the package installs. */
  readonly files?: readonly TarPiece[]
}

export const DEBIAN_BINARY: ArPiece = { name: 'debian-binary', body: Buffer.from('2.0\n') }

/** Returns a package; without compression its bytes are the same on every machine. */
export function debOf({ control, packing = '', files = [] }: DebPieces): Buffer {
  const tar = tarOf([{ path: './control', body: control }])
  return arOf([
    DEBIAN_BINARY,
    { name: `control.tar${packing}`, body: pack(tar, packing) },
    { name: `data.tar${packing}`, body: pack(tarOf(files), packing) },
  ])
}

/** Returns a control file with the mandatory fields, replaced or extended by `fields`. */
export function controlOf(fields: Readonly<Record<string, string>>): string {
  const all = {
    Package: 'hello-tool',
    Version: '1.0',
    Architecture: 'amd64',
    Maintainer: 'Ada Example <ada@example.test>',
    Description: 'says hello',
    ...fields,
  }
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}
