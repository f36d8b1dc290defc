/** Markdown that people write in forms: issues, comments, the notes of releases. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../sql/repositories.js'
import { renderMarkdown } from './markdown.js'
import { Shown } from './visible-text.js'

export interface WrittenProps {
  /** Of the repository. */
  readonly address: string
  readonly repository: Pick<Repository, 'defaultBranch'>
  readonly text: string
  /** The level of the heading that it stands under. */
  readonly headingsBelow: number
  /** Whether it is shown as it was written. */
  readonly isPlain: boolean
}

/** The text; links that say no host lead into the default branch. */
export function Written({ repository, text, isPlain, ...from }: WrittenProps): JSX.Element {
  if (isPlain) return <Plain text={text} />
  const place = { kind: 'branch', name: repository.defaultBranch, path: [] } as const
  const html = renderMarkdown(text, { ...from, place, hasLines: true })
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}

/** Drawing more on one page would keep everybody else waiting. */
const DRAWN_CHARACTERS_MAX = 131_072

/** Which texts of a page are shown as they were written: those for which no time is left. */
export function plainOnes(texts: readonly string[]): readonly boolean[] {
  let left = DRAWN_CHARACTERS_MAX
  return texts.map(({ length }) => {
    if (length > left) return true
    left -= length
    return false
  })
}

const PLAIN_CHARACTERS_MAX = 65_536

function Plain({ text }: Pick<WrittenProps, 'text'>): JSX.Element {
  return (
    <>
      <pre tabindex={0}>
        <Shown text={text.slice(0, PLAIN_CHARACTERS_MAX)} />
      </pre>
      {text.length > PLAIN_CHARACTERS_MAX && (
        <p class="notice">The text is too long to show all of it.</p>
      )}
    </>
  )
}
