/** Client of another Gitea's REST API, which validates every answer. */

import { type Static, type TSchema, Type } from 'typebox'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { Failure } from '../../conf/failures.js'
import { checked, downloadFile, requestJson, type Source } from './source-calls.js'

/** Number of entries that are requested for each page: the default maximum of Gitea. */
const PAGE_ENTRIES = 50

/** Source whose `url` is the clone address of the repository. */
export interface GiteaSource extends Source {
  /** Maximum number of entries of all lists together. */
  readonly itemsMax: number
}

export interface GiteaApi {
  /** Returns the answer for a path below that of the repository. All methods throw RemoteError. */
  get<T extends TSchema>(path: string, schema: T): Promise<Static<T>>
  /** Yields the pages of a list. An entry that a changing list repeats is yielded once. */
  pages<T extends EntrySchema>(path: string, schema: T): AsyncGenerator<ReadonlyArray<Static<T>>>
  /** Streams a file at any public address to `use`, and returns its result. */
  download<T>(address: string, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T>
}

type EntrySchema = TSchema & { readonly static?: { readonly id: number } }

/** Creates a client for the repository at an address. Throws `invalid` if that is not of Gitea. */
export function openGiteaApi(source: GiteaSource): GiteaApi {
  const base = apiAddressOf(source.url)
  let items = 0
  const count = (more: number) => {
    items += more
    if (items <= source.itemsMax) return
    throw new RemoteError('failed', `the source has more than ${source.itemsMax} items`)
  }
  const request = (path: string) => requestJson(source, new URL(`${base}${path}`))
  return {
    get: async (path, schema) => checked(path, schema, await request(path)),
    async *pages(path, schema) {
      const seen = new Set<number>()
      for (let page = 1; ; page += 1) {
        const sign = path.includes('?') ? '&' : '?'
        const answer = await request(`${path}${sign}page=${page}&limit=${PAGE_ENTRIES}`)
        const entries = checked(path, listOf(schema), answer) as ReadonlyArray<{
          readonly id: number
        }>
        const fresh = entries.filter(({ id }) => !seen.has(id) && seen.add(id))
        // The source may send shorter pages than requested, so only an empty page is the end.
        if (fresh.length === 0) return
        count(fresh.length)
        yield fresh as never
      }
    },
    download: (address, use) => downloadFile(source, { address }, use),
  }
}

/** Maximum number of entries of one answer: a server without paging sends the whole list. */
const PAGE_ITEMS_MAX = 10_000

/** Converts `https://host/sub/owner/name.git` to `https://host/sub/api/v1/repos/owner/name`. */
function apiAddressOf(url: URL): string {
  const segments = url.pathname.split('/').filter((segment) => segment !== '')
  const [owner, name] = segments.splice(-2)
  if (owner === undefined || name === undefined) {
    throw new Failure('invalid', 'The clone address names no owner and no repository.')
  }
  const above = [url.origin, ...segments].join('/')
  return `${above}/api/v1/repos/${owner}/${name.replace(/\.git$/, '')}`
}

const LISTS = new WeakMap<TSchema, TSchema>()

/** Returns the schema of a page of entries; the same object each time, so it is compiled once. */
function listOf(entry: TSchema): TSchema {
  const list = LISTS.get(entry) ?? Type.Array(entry, { maxItems: PAGE_ITEMS_MAX })
  LISTS.set(entry, list)
  return list
}
