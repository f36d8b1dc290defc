/** A check of the settings that decide which refs git shows to a push and to a fetch. */

import { type Git, tryGit } from '../process/git.js'

/** Prefixes of the names of refs that receive-pack shows, in their order. */
export const PUSHED_PREFIXES = ['refs/heads', 'refs/notes', 'refs/tags'] as const

/** Names of the refs that upload-pack shows under conf/git.config. */
export const VISIBLE_NAME = /^refs\/(?:heads|tags|notes|pull)\//

/** Settings by which the refs of receive-pack could differ from those of upload-pack. */
const SETTINGS = '^(transfer|receive|uploadpack)\\.hiderefs$|^core\\.alternaterefs'

/**
 * Values in conf/git.config. Receive-pack then shows branches, tags and notes, upload-pack shows
 * these and the heads of pull requests, and neither shows refs of alternates.
 */
const VALUES = [
  'core.alternaterefscommand true',
  'transfer.hiderefs refs',
  'transfer.hiderefs !refs/heads',
  'transfer.hiderefs !refs/tags',
  'transfer.hiderefs !refs/notes',
  'uploadpack.hiderefs !refs/pull',
]

/**
 * Returns true if `git receive-pack` advertises exactly those refs with one of `PUSHED_PREFIXES`
 * that `git upload-pack` lists. Reads the settings of the repository and of the system.
 */
export async function showsSameReferences(git: Git, repositoryPath: string): Promise<boolean> {
  const words = ['config', '--get-regexp', SETTINGS]
  const { exitCode, output } = await tryGit(git, words, { cwd: repositoryPath })
  return exitCode === 0 && output.toString() === `${VALUES.join('\n')}\n`
}
