/** Markdown that users write in forms: issues, comments, release notes, wiki pages. */

import type { JSX } from 'preact/jsx-runtime'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isRendered, type Rendering, type RenderingFailure } from '../../pool/renderings.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { Markdown, PlainMarkdown } from '../kit/markdown-view.js'

/** Rendered texts of a page, by source text. */
export type WrittenTexts = ReadonlyMap<string, Rendering>

interface WrittenOptions {
  readonly texts: readonly string[]
  /** Level of the heading above the texts. */
  readonly headingsBelow: number
  /** True for pages of the wiki, whose line ends are spaces. */
  readonly isWiki?: true
}

/** Time limit for all texts of a page together. */
const PAGE_MS = 3_000

/**
 * Renders the texts of a page one after the other, so that a page occupies one worker of the pool.
 * Relative links refer to the default branch of the repository, or to pages of its wiki.
 */
export async function drawWritten(
  context: Context,
  grant: RepositoryGrant,
  { texts, headingsBelow, isWiki }: WrittenOptions,
): Promise<WrittenTexts> {
  const { id, defaultBranch } = grant.repository
  const branch = { kind: 'branch', name: defaultBranch, path: [] } as const
  const place = isWiki ? ({ kind: 'wiki' } as const) : branch
  const address = repositoryUrl(context, grant)
  const from = { address, place, hasLines: !isWiki, headingsBelow }
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

/** Renders a text, or its source if it was not rendered. */
export function Written({ text, drawn }: WrittenProps): JSX.Element {
  const drawing = drawn.get(text) ?? LATE
  if (isRendered(drawing)) return <Markdown html={drawing} />
  return <PlainMarkdown what="text" text={text} why={drawing.why} />
}
