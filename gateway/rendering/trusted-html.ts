/** HTML that is inserted in pages without escaping, because we generated or sanitized it. */

declare const isTrusted: unique symbol

export type TrustedHtml = string & { readonly [isTrusted]: true }

/**
 * Marks HTML as trusted. Only for HTML in which all user text is escaped or sanitized: icons,
 * Markdown, highlighted files.
 */
export function trustHtml(html: string): TrustedHtml {
  return html as TrustedHtml
}
