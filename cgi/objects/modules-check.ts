/** Git's own check of `.gitmodules` files, for files that do not arrive by a push. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../conf/failures.js'
import { type Git, gitEnvironment, runGit, runGitToEnd } from '../process/git.js'
import { GIT_COMMAND_MS, GIT_OUTPUT_BYTES_MAX } from '../process/git-limits.js'
import { writeBlob, writeTree } from './write-objects.js'

/** A file that some file systems treat as `.gitmodules`. */
export interface ModulesFile {
  readonly name: string
  readonly mode: string
  readonly content: Buffer
}

/**
 * Throws `invalid` if the file could make a clone run a command or write outside of its folder. The
 * check runs in a temporary repository, because `git fsck` reads every object of a repository.
 */
export async function refuseBadModules(git: Git, file: ModulesFile): Promise<void> {
  // Git read a carriage return at the end of a path differently from how it wrote it
  // (CVE-2025-48384), and `git fsck` accepted it.
  if (/\r(?!\n)/.test(file.content.toString('latin1'))) throw refusal('carriage return')
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-modules-'))
  try {
    await runGit(git, ['init', '--quiet', '--bare', '--template=', folder], { cwd: folder })
    const id = await writeBlob(git, folder, file.content)
    await writeTree(git, folder, [{ ...file, id }])
    const { exitCode, errorText } = await runGitToEnd(git, 'read', ['fsck', '--strict'], {
      cwd: folder,
      environment: gitEnvironment(git, { config: [] }),
      timeoutMs: GIT_COMMAND_MS,
      outputBytesMax: GIT_OUTPUT_BYTES_MAX,
    })
    const [, reason] = /: (gitmodules\w+): /.exec(errorText) ?? []
    if (exitCode !== 0) throw refusal(reason ?? 'fsck')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function refusal(reason: string): Failure {
  return new Failure('invalid', `The file .gitmodules is unsafe to clone: ${reason}`)
}
