/** Markdown on a page: rendered, or as source text with the reason. */

import type { JSX } from 'preact/jsx-runtime'
import type { RenderingFailure } from '../../pool/renderings.js'
import type { TrustedHtml } from '../../rendering/trusted-html.js'
import { PlainText } from '../../rendering/visible-text.js'

/** Renders a block of HTML generated from Markdown. */
export function Markdown({ html }: { readonly html: TrustedHtml }): JSX.Element {
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}

const SENTENCES: Readonly<Record<RenderingFailure['why'], string>> = {
  slow: 'rendering it takes too long',
  long: 'it is too long to render',
  busy: 'the server is busy. Load the page again in a moment',
}

interface PlainMarkdownProps extends RenderingFailure {
  readonly what: 'text' | 'README'
  readonly text: string
}

/** Renders Markdown source as plain text, with the reason. */
export function PlainMarkdown({ what, text, why }: PlainMarkdownProps): JSX.Element {
  return (
    <>
      <p class="notice">{`This ${what} is shown as plain text: ${SENTENCES[why]}.`}</p>
      <PlainText text={text} />
    </>
  )
}
