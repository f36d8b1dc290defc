/** QR code rendered on this server, so that its secret is not sent to another service. */

import type { JSX } from 'preact/jsx-runtime'
import { encode } from 'uqr'
import { trustHtml } from '../../rendering/trusted-html.js'

/** Width of the light margin that readers need, in modules. */
const MARGIN = 4

/** Renders the text as a QR code with a label for assistive technology. */
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
