/** Untrusted text with invisible and direction-changing characters replaced by visible marks. */

import type { JSX } from 'preact/jsx-runtime'
import { trustHtml } from './trusted-html.js'

/** Bidirectional controls, zero-width characters, and controls other than white space. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu')

/** Renders text with a mark in place of each hidden character. */
export function Shown({ text }: { readonly text: string }): JSX.Element {
  if (!HIDDEN.test(text)) return <>{text}</>
  // Rendering an element for each mark would take a hundred times as long as one HTML string.
  const html = trustHtml(markHidden(escapeHtml(text)))
  return <span dangerouslySetInnerHTML={{ __html: html }} />
}

const PLAIN_CHARACTERS_MAX = 65_536

/** Renders the beginning of a text, preformatted. */
export function PlainText({ text }: { readonly text: string }): JSX.Element {
  const html = trustHtml(markHidden(escapeHtml(text.slice(0, PLAIN_CHARACTERS_MAX))))
  return (
    <>
      <pre tabindex={0} dangerouslySetInnerHTML={{ __html: html }} />
      {text.length > PLAIN_CHARACTERS_MAX && (
        <p class="notice">The text is too long: only its beginning is shown.</p>
      )}
    </>
  )
}

/** Replaces hidden characters by marks in HTML that is already escaped. */
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

/** Escapes text for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  // Five passes with constant replacements are several times as fast as one with a function.
  return text
    .replace(/&/g, '&#38;')
    .replace(/</g, '&#60;')
    .replace(/>/g, '&#62;')
    .replace(/"/g, '&#34;')
    .replace(/'/g, '&#39;')
}
