/** What comes with a repository from elsewhere besides its Git, from the first page to the rows. */

import { RemoteError } from '../../cgi/transfer/remote.js'
import type { ImportedContents } from '../../sql/repositories/imported-contents.js'
import type { Context } from '../request/context.js'
import { type ContentsInput, gatherContents } from './gather-contents.js'
import { openGiteaApi } from './gitea-api.js'
import { settleContents } from './settle-contents.js'
import { openSpool } from './spool.js'

export interface ArrivingInput {
  readonly url: URL
  readonly authorization: string | undefined
  /** What, and to whom issues and releases belong from now on. */
  readonly contents: ContentsInput & { readonly authorId: number }
  /** Of the row that carries the import. */
  readonly importId: number
  /** The import ends with it. */
  readonly signal: AbortSignal
}

export interface ContentsImport {
  /** Whether the heads of pull requests are wanted of Git. */
  readonly hasPulls: boolean
  /** Fetches everything, before Git: so Git has what is told of here. Throws RemoteError. */
  gather(): Promise<void>
  /** Compares it with the repository that came. */
  settle(path: string): Promise<ImportedContents>
  close(): Promise<void>
}

/** Begins; whoever asks for it closes it in the end. Throws `invalid` for an odd address. */
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
      const slow = new RemoteError('failed', 'the source took too long')
      const timer = setTimeout(() => late.abort(slow), timeoutMs)
      try {
        await gatherContents({ ...bounds, api, spool: from, registry, importId, input: contents })
      } finally {
        clearTimeout(timer)
      }
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
