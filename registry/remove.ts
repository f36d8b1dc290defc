/**
 * Removal of files, versions and packages by users, which refuses protected versions. Files that a
 * cleanup rule has removed, and that are still served, are removed too.
 */

import { Failure } from '../conf/failures.js'
import { findFile, type PackageFileName } from '../sql/packages/package-files.js'
import { findVersion, listVersions } from '../sql/packages/package-versions.js'
import { findPackage, type PackageNamespace } from '../sql/packages/packages.js'
import { listPackageProtections } from '../sql/packages/protections.js'
import * as publications from '../sql/packages/publications.js'
import { forgetRetired } from '../sql/packages/retired-versions.js'
import type { Registry } from './registry.js'

type Remover = Pick<Registry, 'db' | 'matchPatterns'>

/** Number of texts that one call of the pool matches. */
const BATCH = 200

/**
 * Removes a file, and its version with the last one. Returns false if there is no such file. Throws
 * `conflict` if the version is protected.
 */
export async function removeFile(
  registry: Remover,
  namespace: PackageNamespace,
  name: PackageFileName,
): Promise<boolean> {
  const { db } = registry
  const isForgotten = await forgetRetired(db, namespace, name)
  if ((await findFile(db, namespace, name)) === undefined) return isForgotten
  await refuseProtected(registry, namespace, { ...name, versions: [name.version] })
  return await publications.removeFile(db, namespace, name)
}

/**
 * Removes a version with all of its files. Returns false if there is no such version. Throws
 * `conflict` if it is protected.
 */
export async function removeVersion(
  registry: Remover,
  namespace: PackageNamespace,
  name: { readonly packageName: string; readonly version: string },
): Promise<boolean> {
  const { db } = registry
  const isForgotten = await forgetRetired(db, namespace, name)
  const found = await findPackage(db, namespace, name.packageName)
  if (found === undefined || !(await findVersion(db, found.id, name.version))) return isForgotten
  await refuseProtected(registry, namespace, { ...name, versions: [name.version] })
  return await publications.removeVersion(db, namespace, name)
}

/**
 * Removes all versions of a package. Returns false if it has none. Throws `conflict` if one of them
 * is protected; then none is removed. Versions that are published meanwhile are kept.
 */
export async function removePackage(
  registry: Remover,
  namespace: PackageNamespace,
  packageName: string,
): Promise<boolean> {
  const { db } = registry
  const isForgotten = await forgetRetired(db, namespace, { packageName })
  const found = await findPackage(db, namespace, packageName)
  const checked = found === undefined ? [] : await listVersions(db, found.id)
  const [newest] = checked
  if (newest === undefined) return isForgotten
  const versions = checked.map(({ version }) => version)
  await refuseProtected(registry, namespace, { packageName, versions })
  return await publications.removePackage(db, namespace, { packageName, lastId: newest.id })
}

async function refuseProtected(
  { db, matchPatterns }: Remover,
  namespace: PackageNamespace,
  { packageName, versions }: { readonly packageName: string; readonly versions: readonly string[] },
): Promise<void> {
  const protections = await listPackageProtections(db, namespace)
  if (protections.length === 0) return
  const patterns = protections.map(({ pattern }) => pattern)
  for (let start = 0; start < versions.length; start += BATCH) {
    const texts = versions.slice(start, start + BATCH).map((version) => `${packageName}/${version}`)
    const matches = await matchPatterns({ patterns, texts }, namespace.ownerId)
    const at = matches.findIndex((index) => index >= 0)
    if (at < 0) continue
    const pattern = JSON.stringify(patterns[matches[at] ?? 0])
    throw new Failure(
      'conflict',
      `${JSON.stringify(texts[at])} is protected by the pattern ${pattern}: remove the pattern first`,
    )
  }
}
