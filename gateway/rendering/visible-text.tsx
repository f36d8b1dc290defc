/** Text of strangers, in which nothing hides: what would turn or conceal it is named instead. */

import type { JSX } from 'preact/jsx-runtime'
import { trustHtml } from './trusted-html.js'

/** Bidirectional controls, zero-width characters, and controls that are no white space. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu')

/** The text, with a mark in the place of each character that nobody sees. */
export function Shown({ text }: { readonly text: string }): JSX.Element {
  if (!HIDDEN.test(text)) return <>{text}</>
  // One element: an element for each mark would cost a hundred times as much.
  const html = trustHtml(markHidden(escapeHtml(text)))
  return <span dangerouslySetInnerHTML={{ __html: html }} />
}

const PLAIN_CHARACTERS_MAX = 65_536

/** The beginning of a text as it was written. */
export function PlainText({ text }: { readonly text: string }): JSX.Element {
  const html = trustHtml(markHidden(escapeHtml(text.slice(0, PLAIN_CHARACTERS_MAX))))
  return (
    <>
      <pre tabindex={0} dangerouslySetInnerHTML={{ __html: html }} />
      {text.length > PLAIN_CHARACTERS_MAX && (
        <p class="notice">The text is too long to show all of it.</p>
      )}
    </>
  )
}

/** The same in HTML that is already escaped. */
export function markHidden(html: string): string {
  if (!HIDDEN.test(html)) return html
  return html.replace(
    ALL_HIDDEN,
    (character) => `<mark class="hidden-character">${nameOf(character)}</mark>`,
  )
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Text as it may stand in HTML and in its attributes. */
export function escapeHtml(text: string): string {
  // Five passes with texts in place of a function are several times as fast as one with it.
  return text
    .replace(/&/g, '&#38;')
    .replace(/</g, '&#60;')
    .replace(/>/g, '&#62;')
    .replace(/"/g, '&#34;')
    .replace(/'/g, '&#39;')
}
