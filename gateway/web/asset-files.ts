/** What browsers fetch beside pages, each file under the name of its content. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface AssetFile {
  /** Below the base URL; another content has another path. */
  readonly path: string
  readonly type: string
  readonly bytes: Buffer
}

/** The one stylesheet of all pages. */
export const STYLESHEET = readAsset('style', 'css', 'text/css; charset=utf-8')

/** The one script, of the two pages that ask a security key. */
export const KEY_SCRIPT = readAsset('security-key', 'js', 'text/javascript; charset=utf-8')

function readAsset(name: string, extension: string, type: string): AssetFile {
  const bytes = readFileSync(findFile(`${name}.${extension}`))
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return { path: `/assets/${name}.${digest}.${extension}`, type, bytes }
}

/** It is not compiled: from the compiled room it is three floors up. */
function findFile(name: string): string {
  for (const relative of [`./${name}`, `../../../gateway/web/${name}`]) {
    const path = fileURLToPath(new URL(relative, import.meta.url))
    if (existsSync(path)) return path
  }
  throw new Error(`gateway/web/${name} is missing beside the program`)
}
