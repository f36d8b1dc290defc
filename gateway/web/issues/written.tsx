/** Markdown that people write in forms: issues, comments, the notes of releases. */

import type { JSX } from 'preact/jsx-runtime'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isRendered, type Rendering, type RenderingFailure } from '../../pool/renderings.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { Markdown, PlainMarkdown } from '../kit/markdown-view.js'

/** The drawings of a page by their texts. */
export type WrittenTexts = ReadonlyMap<string, Rendering>

interface WrittenOptions {
  readonly texts: readonly string[]
  /** The level of the heading above the texts. */
  readonly headingsBelow: number
}

/** Milliseconds that the texts of one page may take together. */
const PAGE_MS = 3_000

/**
 * Draws the texts of a page, one after the other, so that one page takes one place in the pool.
 * Links that name no host lead into the default branch of the repository.
 */
export async function drawWritten(
  context: Context,
  grant: RepositoryGrant,
  { texts, headingsBelow }: WrittenOptions,
): Promise<WrittenTexts> {
  const { id, defaultBranch } = grant.repository
  const place = { kind: 'branch', name: defaultBranch, path: [] } as const
  const from = { address: repositoryUrl(context, grant), place, hasLines: true, headingsBelow }
  const drawn = new Map<string, Rendering>()
  const startedMs = performance.now()
  for (const text of new Set(texts)) {
    const isLate = performance.now() - startedMs > PAGE_MS
    drawn.set(text, isLate ? LATE : await context.renderings.markdown({ text, from }, id))
  }
  return drawn
}

const LATE: RenderingFailure = { why: 'busy' }

export interface WrittenProps {
  readonly text: string
  readonly drawn: WrittenTexts
}

/** The text, or what was written if it is not drawn. */
export function Written({ text, drawn }: WrittenProps): JSX.Element {
  const drawing = drawn.get(text) ?? LATE
  if (isRendered(drawing)) return <Markdown html={drawing} />
  return <PlainMarkdown what="text" text={text} why={drawing.why} />
}
