/** Compression by the program xz, if this machine has it. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_FOLDERS } from './git.js'
import { runToEnd } from './run.js'

export type CompressXz = (bytes: Uint8Array) => Promise<Uint8Array>

/** Uses a small dictionary: one that is larger than the text is useless, and xz would clear it. */
const ARGUMENTS = ['--compress', '--stdout', '--threads=1', '--lzma2=preset=4,dict=1MiB']
const TIMEOUT_MS = 60_000

/** Returns a function that compresses bytes; undefined if there is no xz. */
export function findXz(folders: readonly string[] = PROGRAM_FOLDERS): CompressXz | undefined {
  const file = folders.map((folder) => join(folder, 'xz')).find((path) => existsSync(path))
  if (file === undefined) return undefined
  return async (bytes) => {
    const { exitCode, errorText, output } = await runToEnd(file, ARGUMENTS, {
      cwd: '/',
      environment: {},
      input: bytes,
      timeoutMs: TIMEOUT_MS,
      // Incompressible input grows a little.
      outputBytesMax: 65_536 + 2 * bytes.byteLength,
    })
    if (exitCode !== 0) throw new Error(`xz failed: ${errorText}`)
    return output
  }
}
