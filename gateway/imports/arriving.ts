/** Issues, releases and other contents of an imported repository, apart from its Git data. */

import type { ImportedContents } from '../../sql/repositories/imported-contents.js'
import type { Context } from '../request/context.js'
import { type ContentsInput, gatherContents } from './gather-contents.js'
import { openGiteaApi } from './gitea-api.js'
import { settleContents } from './settle-contents.js'
import { withDeadline } from './source-calls.js'
import { openSpool } from './spool.js'

export interface ArrivingInput {
  readonly url: URL
  readonly authorization: string | undefined
  /** Contents to import, and the user who becomes the author of issues and releases. */
  readonly contents: ContentsInput & { readonly authorId: number }
  /** Id of the row of the import. */
  readonly importId: number
  /** Aborts the import. */
  readonly signal: AbortSignal
}

export interface ContentsImport {
  /** True if git must fetch the heads of pull requests. */
  readonly hasPulls: boolean
  /**
   * Fetches all contents. Must be called before git fetches, so that the commits to which the
   * contents refer are fetched too. Throws RemoteError.
   */
  gather(): Promise<void>
  /** Adapts the contents to the fetched repository at a path. */
  settle(path: string): Promise<ImportedContents>
  close(): Promise<void>
}

/** Opens an import of contents, which the caller must close. Throws `invalid` for a bad address. */
export async function openContentsImport(
  context: Context,
  input: ArrivingInput,
): Promise<ContentsImport> {
  const { settings, registry, git, journal } = context
  const { idleMs, timeoutMs, itemsMax, packBytesMax } = settings.migrations
  const late = new AbortController()
  const api = openGiteaApi({
    url: input.url,
    authorization: input.authorization,
    idleMs,
    timeoutMs,
    itemsMax,
    signal: AbortSignal.any([input.signal, late.signal]),
    allowPrivate: settings.outbound.allow,
  })
  const { incomingFolder } = registry.storage
  const [from, to] = [await openSpool(incomingFolder), await openSpool(incomingFolder)]
  const { contents, importId } = input
  const bounds = { fileBytesMax: settings.attachments.sizeBytesMax, filesBytesMax: packBytesMax }
  return {
    hasPulls: contents.pulls,
    async gather() {
      await withDeadline(late, timeoutMs, () =>
        gatherContents({ ...bounds, api, spool: from, registry, importId, input: contents }),
      )
    },
    async settle(path) {
      await settleContents({ git, journal, path, from, to })
      return { authorId: contents.authorId, batches: () => to.batches() }
    },
    async close() {
      await Promise.all([from.close(), to.close()])
    },
  }
}
