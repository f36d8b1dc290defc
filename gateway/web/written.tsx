/** Markdown that people write in forms: issues, comments, the notes of releases. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../sql/repositories.js'
import { renderMarkdown } from './markdown.js'

export interface WrittenProps {
  /** Of the repository. */
  readonly address: string
  readonly repository: Pick<Repository, 'defaultBranch'>
  readonly text: string
  /** The level of the heading that it stands under. */
  readonly headingsBelow: number
}

/** The text; links that say no host lead into the default branch. */
export function Written({ repository, text, ...from }: WrittenProps): JSX.Element {
  const place = { kind: 'branch', name: repository.defaultBranch, path: [] } as const
  const html = renderMarkdown(text, { ...from, place, hasLines: true })
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}
