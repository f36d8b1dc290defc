/** What browsers fetch beside pages, each file under the name of its content. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findProgramFile } from '../../conf/program-file.js'

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
  const bytes = readFileSync(findProgramFile(`gateway/web/${name}.${extension}`))
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return { path: `/assets/${name}.${digest}.${extension}`, type, bytes }
}
