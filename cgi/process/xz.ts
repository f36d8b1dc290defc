/** The program xz, where this machine has it. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_FOLDERS } from './git.js'
import { runToEnd } from './run.js'

export type CompressXz = (bytes: Uint8Array) => Promise<Uint8Array>

/** A larger dictionary than the text is of no use, and the program would clear all of it. */
const ARGUMENTS = ['--compress', '--stdout', '--threads=1', '--lzma2=preset=4,dict=1MiB']
const TIMEOUT_MS = 60_000

/** What makes a stream of some bytes; undefined where there is no xz. Throws when it fails. */
export function findXz(folders: readonly string[] = PROGRAM_FOLDERS): CompressXz | undefined {
  const file = folders.map((folder) => join(folder, 'xz')).find((path) => existsSync(path))
  if (file === undefined) return undefined
  return async (bytes) => {
    const { exitCode, errorText, output } = await runToEnd(file, ARGUMENTS, {
      cwd: '/',
      environment: {},
      input: bytes,
      timeoutMs: TIMEOUT_MS,
      // What cannot be made smaller grows a little.
      outputBytesMax: 65_536 + 2 * bytes.byteLength,
    })
    if (exitCode !== 0) throw new Error(`xz failed: ${errorText}`)
    return output
  }
}
