/** Upgrades of git in tests: program files that are replaced, and a clock that advances. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { GitPrograms } from '../../cgi/process/git-identity.js'
import { temporaryFolder } from './temporary.js'

/** Returns a function that advances the clock of this process until the end of the test. */
export function advanceableClock(t: Test): (minutes: number) => void {
  const { now } = Date
  let passedMs = 0
  t.teardown(() => {
    Date.now = now
  })
  return (minutes) => {
    passedMs += minutes * 60_000
    Date.now = () => now() + passedMs
  }
}

export interface UpgradableGit {
  readonly programs: GitPrograms
  /** Replaces the content of git's program file, or of its configuration. */
  install(content: string, name?: 'git' | 'git.config'): Promise<void>
}

/** Creates files in the place of git's programs, which nothing runs. */
export async function upgradableGit(t: Test): Promise<UpgradableGit> {
  const folder = await temporaryFolder(t)
  const at = (name: string) => join(folder, name)
  const install: UpgradableGit['install'] = (content, name = 'git') => writeFile(at(name), content)
  await install('git')
  return {
    programs: {
      file: at('git'),
      execPath: folder,
      backend: at('git-http-backend'),
      configFile: at('git.config'),
    },
    install,
  }
}
