/** Reads the pages of a wiki from the tip of its branch. */

import type { Commit } from '../../../cgi/objects/commit-object.js'
import { lastCommitOf, pageOfHistory } from '../../../cgi/objects/history.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { findEntry, readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import { readHeadBranch } from '../../../cgi/refs/head-branch.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { type WikiName, wikiFilesOf, wikiNameOf, wikiNameOfFile } from '../../../conf/wiki-name.js'
import { offsetOf, type Page } from '../../../sql/database/page.js'
import { wikiOf } from '../../../sql/repositories/wikis.js'
import type { Context } from '../../request/context.js'
import { type Caller, inQueue } from '../code/git-queue.js'
import { type GitReader, readBlob, readCommit, readCommits, readGit } from '../code/git-reader.js'
import { requireWiki, WIKI_BRANCH } from './wiki-folder.js'

/** Wiki that is open for one request. */
export interface WikiReader extends GitReader {
  readonly branch: string
  /** Full id of the newest commit. */
  readonly tip: string
  readonly signal: AbortSignal
}

/** Runs `use` with a reader of the wiki. Throws `not_found` if the wiki has no commit. */
export async function readWiki<T>(
  context: Context,
  { request, grant }: Caller,
  use: (wiki: WikiReader) => Promise<T>,
): Promise<T> {
  const wiki = wikiOf(grant.repository)
  await requireWiki(context, wiki)
  const caller = { request, grant: { ...grant, repository: wiki } }
  return await inQueue(context, caller, () =>
    readGit(context, caller.grant, async (reader) => {
      const branch = await findWikiBranch(reader)
      const tip = await reader.objects.read(`refs/heads/${branch}^{commit}`)
      if (tip === undefined) throw notFound()
      return await use({ ...reader, branch, tip: tip.id, signal: request.signal })
    }),
  )
}

/**
 * Returns the branch of the pages: that of HEAD or, if only that is missing, the branch that older
 * versions of git create.
 */
export async function findWikiBranch({
  objects,
  path,
}: Pick<GitReader, 'objects' | 'path'>): Promise<string> {
  const head = (await readHeadBranch(path)) ?? WIKI_BRANCH
  for (const branch of [head, WIKI_BRANCH, 'master']) {
    if ((await objects.read(`refs/heads/${branch}^{commit}`)) !== undefined) return branch
  }
  return head
}

/** A wiki page's name, with the path at which its file is, and the file's id. */
export interface FoundPage extends WikiName {
  readonly id: string
}

/** Finds a page in the tree of a commit; undefined if there is none. */
export async function findWikiPage(
  objects: ObjectReader,
  tip: string,
  name: WikiName,
): Promise<FoundPage | undefined> {
  const tree = await objects.read(`${tip}^{tree}`)
  if (tree === undefined) return undefined
  for (const file of wikiFilesOf(name)) {
    const entry = await findEntry(objects, tree.id, file.split('/'))
    if (entry?.kind === 'file') return { ...name, file, id: entry.id }
  }
  return undefined
}

/** Finds the page of a path segment. Throws `not_found` if there is none. */
export async function requireWikiPage(wiki: WikiReader, segment: string): Promise<FoundPage> {
  const found = await findWikiPage(wiki.objects, wiki.tip, wikiNameOf(segment))
  if (found === undefined) throw notFound()
  return found
}

/** Returns the content of a page; empty if it is too large to be returned. */
export async function readWikiPage(wiki: WikiReader, { id }: FoundPage): Promise<Buffer> {
  return (await readBlob(wiki, id, wiki.signal))?.content ?? Buffer.alloc(0)
}

/** Maximum size of a page that is shown, or edited in a form. */
const TEXT_BYTES_MAX = 524_288

/** Returns the text of a page. Throws `payload_too_large` if it is larger than TEXT_BYTES_MAX. */
export async function readWikiText(wiki: WikiReader, { id }: FoundPage): Promise<string> {
  const blob = await readBlob(wiki, id, wiki.signal)
  if (blob?.content !== undefined && blob.sizeBytes <= TEXT_BYTES_MAX) {
    return blob.content.toString()
  }
  throw new Failure(
    'payload_too_large',
    `The page is larger than ${TEXT_BYTES_MAX} bytes. Read and change it with git.`,
  )
}

/** Returns the content of the sidebar or the footer; undefined if there is none. */
export async function readWikiPart(
  wiki: WikiReader,
  segment: '_Sidebar' | '_Footer',
): Promise<Buffer | undefined> {
  const found = await findWikiPage(wiki.objects, wiki.tip, wikiNameOf(segment))
  return found && (await readWikiPage(wiki, found))
}

/** A page of the commits that changed a wiki page, newest first. */
export interface WikiHistory {
  readonly commits: readonly Commit[]
  readonly total: number
}

/** Reads the history of a page. */
export async function readWikiHistory(
  wiki: WikiReader,
  { file }: FoundPage,
  page: Page,
): Promise<WikiHistory> {
  const { tip: from, signal } = wiki
  const { limit } = page
  const input = { from, file, signal, offset: offsetOf(page), limit }
  const part = await pageOfHistory(wiki, input)
  return { commits: await readCommits(wiki, part.ids), total: await part.total() }
}

/** A wiki page of a list, with its last commit. */
export interface ListedPage extends WikiName {
  readonly lastCommit: Commit
}

/** Lists the pages in the order of the tree, and counts them all. */
export async function listWikiPages(
  wiki: WikiReader,
  page: Page,
): Promise<{ readonly entries: readonly ListedPage[]; readonly total: number }> {
  const { objects, tip } = wiki
  const tree = await objects.read(`${tip}^{tree}`)
  const names = (tree === undefined ? [] : await readTree(objects, tree.id)).flatMap(pageOf)
  const offset = offsetOf(page)
  const shown = names.slice(offset, offset + page.limit)
  const files = new Set(shown.map(({ file }) => file))
  const recent = await lastCommits(wiki, {
    from: tip,
    folder: [],
    names: files,
    isWhole: false,
    signal: wiki.signal,
  })
  const entries: ListedPage[] = []
  for (const name of shown) {
    const { signal } = wiki
    const { file } = name
    const last = recent.get(file) ?? (await lastCommitOf(wiki, { from: tip, file, signal }))
    entries.push({ ...name, lastCommit: await readCommit(wiki, last ?? tip) })
  }
  return { entries, total: names.length }
}

function pageOf({ kind, name }: TreeEntry): readonly WikiName[] {
  const page = kind === 'file' ? wikiNameOfFile(name) : undefined
  return page === undefined ? [] : [page]
}
