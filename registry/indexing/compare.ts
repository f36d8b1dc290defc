/** Comparison of an index with the files that its entries give now. */

import { findGenerationFile, listGenerationFiles } from '../../sql/packages/index-generations.js'
import { findIndex } from '../../sql/packages/package-indexes.js'
import { type FileContext, type IndexSource, withIndexFiles } from './generation.js'
import { LAYOUT_PATH, layoutRevision } from './layout.js'

/**
 * Builds the files of an index from its entries alone, and returns the paths of the files that
 * differ from the stored ones. Changes nothing. Returns no path if a new generation is due, or if
 * the stored files are of another revision of the maker: the next change builds them again.
 */
export async function differingFiles(
  context: FileContext,
  place: Omit<IndexSource, 'validMs'>,
): Promise<readonly string[]> {
  const { db } = context
  const index = await findIndex(db, place.namespace, place.subject)
  if (index === undefined || index.built !== index.wanted) return []
  const stored = await listGenerationFiles(db, index.id, index.built)
  if ((await storedRevision(context, index)) !== place.maker.revision) return []
  const source = { ...place, validMs: index.validMs }
  return await withIndexFiles(context, source, { index, isFromNothing: true }, async (written) => {
    const kept = new Map(stored.map(({ path, digests }) => [path, digests.sha256]))
    const paths = new Set([...kept.keys(), ...written.keys()])
    const differing = (path: string) => written.get(path)?.digests.sha256 !== kept.get(path)
    return [...paths].filter(differing).sort()
  })
}

/** Returns the revision of the maker that built the files; undefined if the layout is missing. */
async function storedRevision(
  { db, storage }: FileContext,
  { id, built }: { readonly id: number; readonly built: number },
): Promise<number | undefined> {
  const layout = await findGenerationFile(db, id, { generation: built, path: LAYOUT_PATH })
  if (layout === undefined) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of await storage.open(layout.blobKey, { start: 0, end: layout.bytes })) {
    chunks.push(Buffer.from(chunk))
  }
  return layoutRevision(Buffer.concat(chunks).toString())
}
