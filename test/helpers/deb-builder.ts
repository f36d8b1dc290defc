/** Debian packages, built with dpkg-deb. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { controlOf } from './debs.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface DebToBuild {
  /** Fields of its control file, besides the mandatory ones. */
  readonly fields: Readonly<Record<string, string>>
  /** Compression by dpkg-deb. */
  readonly packing?: 'none' | 'gzip' | 'xz' | 'zstd'
  /** Contents of the installed files, by path. */
  readonly files?: Readonly<Record<string, string>>
}

/** Builds the package; returns its bytes. */
export async function buildDeb(t: Teardown, deb: DebToBuild): Promise<Buffer> {
  const { fields, packing = 'xz', files = {} } = deb
  const folder = await temporaryFolder(t)
  const all = { 'DEBIAN/control': controlOf(fields), ...files }
  for (const [path, text] of Object.entries(all)) {
    const file = join(folder, 'package', path)
    await mkdir(dirname(file), { recursive: true, mode: 0o755 })
    await writeFile(file, text, { mode: 0o644 })
  }
  const args = ['--root-owner-group', `-Z${packing}`, '--build', 'package', 'package.deb']
  const { exitCode, errorText } = await runToEnd('dpkg-deb', args, {
    cwd: folder,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    timeoutMs: 60_000,
    outputBytesMax: 65_536,
  })
  if (exitCode !== 0) throw new Error(`dpkg-deb: ${errorText}`)
  return await readFile(join(folder, 'package.deb'))
}
