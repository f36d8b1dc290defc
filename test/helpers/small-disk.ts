/** A disk of a few megabytes that a test fills, frees and makes read-only. */

import { chmod, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface SmallDisk {
  readonly path: string
  /** Writes a filler file until at most `leftBytes` are free. */
  fill(leftBytes: number): Promise<void>
  /** Removes the filler file. */
  free(): Promise<void>
  /** Mounts the disk again with these options: `ro` or `rw`. */
  remount(options: string): Promise<boolean>
}

/**
 * Mounts a tmpfs with these options (`size=48m`) until the test ends. Returns undefined if the
 * machine does not permit that.
 */
export async function mountSmallDisk(t: Teardown, options: string): Promise<SmallDisk | undefined> {
  const path = await temporaryFolder(t)
  if (!(await succeeds('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path))) return undefined
  t.teardown(() => succeeds('umount', '-l', path))
  await chmod(path, 0o755)
  const filler = join(path, 'filler')
  return {
    path,
    fill: (leftBytes) => fill(filler, leftBytes),
    free: () => rm(filler, { force: true }),
    remount: (wanted) => succeeds('mount', '-o', `remount,${wanted}`, path),
  }
}

const PIECES_BYTES = [1_048_576, 65_536, 4_096, 1]

async function fill(filler: string, leftBytes: number): Promise<void> {
  const file = await open(filler, 'a')
  try {
    for (const bytes of PIECES_BYTES) {
      const piece = Buffer.alloc(bytes)
      while ((await freeBytes(filler)) - bytes >= leftBytes && (await isWritten(file, piece))) {
        // The condition writes the pieces.
      }
    }
  } finally {
    await file.close()
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

async function isWritten(file: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<boolean> {
  return await file.write(piece).then(
    ({ bytesWritten }) => bytesWritten === piece.length,
    () => false,
  )
}

/** Runs a program; returns true if it exits with 0. */
export async function succeeds(program: string, ...args: readonly string[]): Promise<boolean> {
  const { exitCode } = await runToEnd(program, args, {
    cwd: '/',
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 60_000,
    outputBytesMax: 10_000,
  })
  return exitCode === 0
}
