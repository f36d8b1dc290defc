/** Debian packages, built with dpkg-deb, and source packages, built with dpkg-source. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
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

/**
 * Builds a source package of the format 3.0 (quilt) with an original archive. Returns its files by
 * name.
 */
export async function buildSource(
  t: Teardown,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<ReadonlyMap<string, Buffer>> {
  const folder = await temporaryFolder(t)
  const upstream = version.replace(/^\d+:/, '').replace(/-[^-]*$/, '')
  const maintainer = 'Ada Example <ada@example.test>'
  const date = 'Thu, 05 Jun 2025 12:00:00 +0000'
  const files = {
    'hello.txt': `hello from ${upstream}\n`,
    'debian/source/format': '3.0 (quilt)\n',
    'debian/control': `Source: ${name}\nMaintainer: ${maintainer}\nStandards-Version: 4.6.2\n\nPackage: ${name}\nArchitecture: all\nDescription: says hello\n`,
    'debian/changelog': `${name} (${version}) unstable; urgency=medium\n\n  * New.\n\n -- ${maintainer}  ${date}\n`,
    'debian/rules': '#!/usr/bin/make -f\n',
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'source', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  const run = async (program: string, ...args: readonly string[]) => {
    const { exitCode, errorText } = await runToEnd(program, args, {
      cwd: folder,
      environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      timeoutMs: 60_000,
      outputBytesMax: 65_536,
    })
    if (exitCode !== 0) throw new Error(`${program}: ${errorText}`)
  }
  const original = `${name}_${upstream}.orig.tar.gz`
  await run('tar', '--exclude=debian', '--sort=name', '--mtime=@0', '-czf', original, 'source')
  await run('dpkg-source', '--build', 'source')
  const names = (await readdir(folder)).filter((file) => file !== 'source')
  const read = names.map(async (file) => [file, await readFile(join(folder, file))] as const)
  return new Map(await Promise.all(read))
}
