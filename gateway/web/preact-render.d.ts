/** Types of the part of preact-render-to-string that pages use. */

import type { JSX } from 'preact/jsx-runtime'

/** Renders the element as HTML; text and attributes are escaped. */
export function render(element: JSX.Element): string
