/** The one stylesheet of the pages, under the name of its content. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const STYLESHEET: Buffer = readFileSync(findStylesheet())

const digest = createHash('sha256').update(STYLESHEET).digest('hex').slice(0, 16)

/** Below the base URL; another content has another path. */
export const STYLESHEET_PATH = `/assets/style.${digest}.css`

/** It is not compiled: from the compiled room it is three floors up. */
function findStylesheet(): string {
  for (const relative of ['./style.css', '../../../gateway/web/style.css']) {
    const path = fileURLToPath(new URL(relative, import.meta.url))
    if (existsSync(path)) return path
  }
  throw new Error('gateway/web/style.css is missing beside the program')
}
