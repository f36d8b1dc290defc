/** Readers of uploaded files, by format. The uploader determines what reading a file costs. */

import type { ByteSource } from './archive/byte-source.js'

/** Each throws `bad_request` for a file that is not a package of the format. */
export const INSPECTIONS = {
  alpine: async (file: ByteSource) =>
    (await import('./alpine/package-archive.js')).readPackage(file),
  composer: async (file: ByteSource) =>
    (await import('./composer/package-archive.js')).readPackageArchive(file),
  cran: async (file: ByteSource) =>
    (await import('./cran/package-archive.js')).readPackageArchive(file),
  debian: async (file: ByteSource) => (await import('./debian/deb-file.js')).readDebFile(file),
  debianContents: async (file: ByteSource) =>
    (await import('./debian/contents.js')).readContents(file),
  debianSource: async (file: ByteSource) =>
    (await import('./debian/source-control.js')).readSourceControl(file),
  go: async (file: ByteSource) => (await import('./go/module-zip.js')).readModuleZip(file),
  swift: async (file: ByteSource) => {
    const { openZip } = await import('./archive/zip.js')
    return (await import('./swift/manifests.js')).readSourceArchive(await openZip(file))
  },
} as const

export type InspectedFormat = keyof typeof INSPECTIONS

/** Data read from a file of that format. */
export type Inspected<F extends InspectedFormat> = Awaited<ReturnType<(typeof INSPECTIONS)[F]>>

/**
 * Reads a file of a format outside of the event loop. Throws `bad_request` for a file that is not a
 * package of the format or takes too long to read, `unavailable` if too many files are being read.
 */
export type Inspect = <F extends InspectedFormat>(
  format: F,
  file: { readonly path: string; readonly bytes: number },
  ownerId: number,
) => Promise<Inspected<F>>
