/** Static files of pages, each with a digest of its content in the path. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findProgramFile } from '../../conf/lib/program-file.js'

export interface AssetFile {
  /** Path below the base URL; it changes with the content. */
  readonly path: string
  readonly type: string
  readonly bytes: Buffer
}

/** Stylesheet of all pages. */
export const STYLESHEET = readAsset('style', 'css', 'text/css; charset=utf-8')

/** Script of the two pages that use a security key; no other page has one. */
export const KEY_SCRIPT = readAsset('security-key', 'js', 'text/javascript; charset=utf-8')

function readAsset(name: string, extension: string, type: string): AssetFile {
  const bytes = readFileSync(findProgramFile(`gateway/web/${name}.${extension}`))
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return { path: `/assets/${name}.${digest}.${extension}`, type, bytes }
}
