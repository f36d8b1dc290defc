/** What the real R makes of versions, control files and repositories: asked through Rscript. */

import { execFileSync } from 'node:child_process'

/**
 * The lines that a program in R writes, which reads `input` from a connection `input`. It runs in
 * a locale of UTF-8, without the settings of the user.
 */
export function askR(program: string, input = '', cwd?: string): readonly string[] {
  const script = `input <- file('stdin'); open(input)\n${program}\n`
  const output = execFileSync('Rscript', ['--vanilla', '-e', script], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    cwd,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return output.split('\n').slice(0, -1)
}
