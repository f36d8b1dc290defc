/**
 * Signs of life of the writers of a data folder, for gateways of other machines and containers,
 * which cannot see their processes: a file for each process space, written while pushes run.
 */

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { processSpace } from '../process/process-space.js'

/** Time between two signs of a writer. */
const BEAT_MS = 10_000

/**
 * Time after which a writer without a sign counts as dead. It is longer than an nfs client keeps
 * attributes; opening the file asks the server anyway (close-to-open consistency, nfs(5)).
 */
const DEAD_AFTER_MS = 70_000

/** Time after which the sign of a writer is removed; its last push counts as ended by then. */
const KEPT_MS = 2 * 86_400_000

/** Writes the sign of this process space. */
export async function beat(dataDir: string): Promise<void> {
  const path = pathOf(dataDir, processSpace())
  const part = `${path}.${randomBytes(6).toString('hex')}`
  await mkdir(join(dataDir, FOLDER), { recursive: true })
  // A new file each time: the clock of the file server sets its time, and a command that an
  // administrator ran as root leaves none that the server could not write.
  await writeFile(part, '')
  await rename(part, path)
}

/** Returns true if a writer of another process space has given a sign of life recently. */
export async function hasBeaten(dataDir: string, space: string): Promise<boolean> {
  const last = await beatenAtMs(dataDir, space)
  if (last === undefined) return false
  await beat(dataDir)
  const nowMs = (await beatenAtMs(dataDir, processSpace())) ?? Date.now()
  return nowMs - last < DEAD_AFTER_MS
}

/** Removes the signs of writers that ended long ago, such as those of containers. */
export async function sweepBeats(dataDir: string): Promise<void> {
  const folder = join(dataDir, FOLDER)
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    const path = join(folder, name)
    const found = await unlessMissing(stat(path))
    if (found !== undefined && found.mtimeMs < Date.now() - KEPT_MS) await rm(path, { force: true })
  }
}

/** Gives signs of life while work is open, and at most one in `BEAT_MS`. */
export class Beats {
  readonly #dataDir: string
  #open = 0
  #timer: NodeJS.Timeout | undefined
  #beatenAtMs = Number.NEGATIVE_INFINITY

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** Begins work. Returns after a sign has been given; the returned function ends the work. */
  async begin(): Promise<() => void> {
    this.#open += 1
    this.#timer ??= setInterval(() => void this.#beat().catch(() => {}), BEAT_MS).unref()
    try {
      if (performance.now() - this.#beatenAtMs > BEAT_MS) await this.#beat()
    } catch (error) {
      this.#end()
      throw error
    }
    return () => this.#end()
  }

  async #beat(): Promise<void> {
    await beat(this.#dataDir)
    this.#beatenAtMs = performance.now()
  }

  #end(): void {
    this.#open -= 1
    if (this.#open > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

async function beatenAtMs(dataDir: string, space: string): Promise<number | undefined> {
  const file = await unlessMissing(open(pathOf(dataDir, space), 'r'))
  if (file === undefined) return undefined
  try {
    return (await file.stat()).mtimeMs
  } finally {
    await file.close()
  }
}

const FOLDER = 'writers'

function pathOf(dataDir: string, space: string): string {
  const name = createHash('sha256').update(space).digest('hex').slice(0, 32)
  return join(dataDir, FOLDER, name)
}
