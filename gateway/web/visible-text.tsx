/** Text of strangers, in which nothing hides: what would turn or conceal it is named instead. */

import type { JSX } from 'preact/jsx-runtime'

/** Bidirectional controls, zero-width characters, and controls that are no white space. */
const HIDDEN =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])/u

/** The text, with a mark in the place of each character that nobody sees. */
export function Shown({ text }: { readonly text: string }): JSX.Element {
  if (!HIDDEN.test(text)) return <>{text}</>
  return (
    <>
      {text
        .split(HIDDEN)
        .map((part, at) =>
          at % 2 === 0 ? part : <mark class="hidden-character">{nameOf(part)}</mark>,
        )}
    </>
  )
}

/** The same in HTML that is already escaped. */
export function markHidden(html: string): string {
  if (!HIDDEN.test(html)) return html
  const parts = html.split(HIDDEN)
  return parts
    .map((part, at) =>
      at % 2 === 0 ? part : `<mark class="hidden-character">${nameOf(part)}</mark>`,
    )
    .join('')
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
