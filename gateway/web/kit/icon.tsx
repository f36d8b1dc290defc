/** Icons of the Octicons set, hidden from assistive technology. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { JSX } from 'preact/jsx-runtime'
import { type TrustedHtml, trustHtml } from '../../rendering/trusted-html.js'

const NAMES = [
  ...(['book', 'code', 'copy', 'file', 'file-directory-fill', 'file-submodule'] as const),
  ...(['file-symlink-file', 'git-branch', 'git-commit', 'key', 'lock', 'package'] as const),
  ...(['plus', 'repo', 'repo-forked', 'tag', 'mirror', 'archive', 'trash'] as const),
  ...(['blocked', 'check-circle', 'circle-slash', 'clock', 'skip', 'stop'] as const),
  ...(['sync', 'x-circle', 'verified'] as const),
]

export type IconName = (typeof NAMES)[number]

const svgs = new Map<IconName, TrustedHtml>(
  NAMES.map((name) => {
    const path = import.meta.resolve(`@primer/octicons/build/svg/${name}-16.svg`)
    return [name, trustHtml(readFileSync(fileURLToPath(path), 'utf8').trim())]
  }),
)

/** Renders an icon next to a text with the same meaning. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  const svg = svgs.get(name) ?? trustHtml('')
  return <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />
}
