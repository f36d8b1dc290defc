/** The description of a Go module, from its go.mod (go.dev/ref/mod#go-mod-file-grammar). */

import { type Describe, groupsOf, textOf } from '../description.js'

export const describe: Describe = (metadata) => {
  const direct: string[] = []
  const indirect: string[] = []
  let isInBlock = false
  for (const line of (textOf(metadata['goMod']) ?? '').split('\n')) {
    const [code = '', comment = ''] = line.split('//', 2).map((part) => part.trim())
    const single = /^require\s+([^()]+)$/.exec(code)?.[1]
    const required = single ?? (isInBlock && code !== ')' ? code : '')
    if (required !== '') (comment.startsWith('indirect') ? indirect : direct).push(required)
    if (/^require\s*\($/.test(code)) isInBlock = true
    else if (code === ')') isInBlock = false
  }
  return { dependencies: groupsOf({ require: direct, 'require (indirect)': indirect }) }
}
