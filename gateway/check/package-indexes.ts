/** Check I1: the files of each package index exist; if deep, they are those of its entries. */

import { findXz } from '../../cgi/process/xz.js'
import { findInstanceSecret } from '../../conf/instance-secret.js'
import { formatOf } from '../../registry/formats.js'
import { differingFiles } from '../../registry/indexing/compare.js'
import { LAYOUT_PATH } from '../../registry/indexing/layout.js'
import { createPrefixes } from '../../registry/indexing/prefixes.js'
import { createSigningKeys } from '../../registry/signing-keys.js'
import type { RowPage } from '../../sql/database/page.js'
import { listAllIndexes, rebuildIndex, type StoredIndex } from '../../sql/packages/all-indexes.js'
import { listGenerationFiles } from '../../sql/packages/index-generations.js'
import { examineRows } from './examine-all.js'
import type { CheckContext, CheckScope, CheckStep } from './finding.js'

/** Yields indexes with missing or differing files. The repair has them built again. */
export async function* checkPackageIndexes(
  context: CheckContext,
  { isDeep, repositories, cursor }: CheckScope,
): AsyncGenerator<CheckStep> {
  if (repositories !== undefined) return
  const read = (page: RowPage) => listAllIndexes(context.db, page)
  yield* examineRows(
    { list: 'indexes', read, cursor },
    {
      async examine(index) {
        const subject = `${index.ownerName}/${index.format} ${index.subject}`
        const problems = await problemsOf(context, index, isDeep)
        return problems.map((problem) => ({ code: 'I1', subject, problem, remedy: REBUILD }))
      },
      async repair(index) {
        // Missing bytes of an unchanged file would not be written again.
        if ((await problemsOfFiles(context, index)).length > 0) return
        await rebuildIndex(context.db, { ...index, layoutPath: LAYOUT_PATH })
      },
    },
  )
}

const REBUILD =
  "Run 'gatehouse check --only I1 --repair', after which the next reader builds it again"

/** Returns the problems of an index; none while a change waits for its next reader. */
async function problemsOf(
  context: CheckContext,
  index: StoredIndex,
  isDeep: boolean,
): Promise<readonly string[]> {
  if (index.built > index.wanted) return ['The files are of a later generation than the entries']
  if (index.built < index.wanted || index.built === 0) return []
  if (await lacksFiles(context, index)) return ['The index has packages, but no file']
  const problems = await problemsOfFiles(context, index)
  return isDeep && problems.length === 0 ? await differencesOf(context, index) : problems
}

async function lacksFiles({ db }: CheckContext, { id, built, hasEntries }: StoredIndex) {
  return hasEntries && (await listGenerationFiles(db, id, built)).length === 0
}

/** Returns the problems of the stored bytes. */
async function problemsOfFiles(
  { db, storage }: CheckContext,
  { id, built }: StoredIndex,
): Promise<readonly string[]> {
  const files = await listGenerationFiles(db, id, built)
  const problems: string[] = []
  for (const { path, bytes, blobKey } of files) {
    const stored = await storage.sizeOf(blobKey)
    if (stored === undefined) problems.push(`The bytes of the file ${path} are missing`)
    else if (stored !== bytes) problems.push(`The file ${path} has ${stored} bytes, not ${bytes}`)
  }
  return problems
}

async function differencesOf(
  { db, storage, settings }: CheckContext,
  { ownerId, format, subject }: StoredIndex,
): Promise<readonly string[]> {
  const maker = formatOf(format).index
  const secret = await findInstanceSecret(settings.data.dir)
  if (maker === undefined || secret === undefined) return []
  const namespace = { ownerId, format }
  const signingKeys = () =>
    createSigningKeys(db, secret).of(namespace, () => {
      throw new Error('the owner has no signing key')
    })
  const context = { db, storage, compressXz: findXz(), prefixes: createPrefixes() }
  try {
    const paths = await differingFiles(context, { namespace, subject, maker, signingKeys })
    return paths.map((path) => `The file ${path} differs from the packages of the database`)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return [`The index cannot be built (${error.message})`]
  }
}
