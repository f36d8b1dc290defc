/** A QR code, drawn here: what it says goes to no other service. */

import type { JSX } from 'preact/jsx-runtime'
import { encode } from 'uqr'
import { trustHtml } from '../../rendering/trusted-html.js'

/** The light margin that readers need, in modules. */
const MARGIN = 4

/** The text as a picture; the label is for who does not see it. */
export function QrCode({
  text,
  label,
}: {
  readonly text: string
  readonly label: string
}): JSX.Element {
  const { data, size } = encode(text, { ecc: 'M', border: MARGIN })
  const path = data
    .map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''))
    .join('')
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="200" height="200"` +
    ` shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/>` +
    `<path fill="#000" d="${path}"/></svg>`
  return (
    <div
      class="qr-code"
      role="img"
      aria-label={label}
      dangerouslySetInnerHTML={{ __html: trustHtml(svg) }}
    />
  )
}
