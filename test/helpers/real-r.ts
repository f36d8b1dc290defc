/** Programs in the real R, for comparison of versions, control files and repositories. */

import { execFileSync } from 'node:child_process'

/**
 * Runs an R program and returns the lines that it prints. The program can read the connection
 * `input`. It runs in a UTF-8 locale, without the user's settings.
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
