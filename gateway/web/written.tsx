/** Markdown that people write in forms: issues, comments, the notes of releases. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../sql/repositories.js'
import { renderMarkdown } from './markdown.js'

export interface WrittenProps {
  /** Of the repository. */
  readonly address: string
  readonly repository: Pick<Repository, 'defaultBranch'>
  readonly text: string
}

/** The text; links that say no host lead into the default branch. */
export function Written({ address, repository, text }: WrittenProps): JSX.Element {
  const place = { kind: 'branch', name: repository.defaultBranch, path: [] } as const
  const html = renderMarkdown(text, { address, place, hasLines: true })
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}
