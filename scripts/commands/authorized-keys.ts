/** Block of keys in an authorized_keys file, for hosts without an AuthorizedKeysCommand. */

import { chmod, chown, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from './command.js'

const BEGIN = '# begin gatehouse: written by `gatehouse ssh authorized-keys`, changes get lost'
const END = '# end gatehouse'

/**
 * Replaces our block in a file, or appends one; all other bytes are kept. The file is replaced
 * atomically, and concurrent writers wait for each other.
 */
export async function writeBlock(file: string, lines: readonly string[]): Promise<void> {
  const release = await lock(`${file}.gatehouse-lock`)
  const fresh = `${file}.gatehouse-new`
  try {
    const found = await stat(file).catch(() => undefined)
    const before = found === undefined ? '' : await readFile(file, 'latin1')
    const after = replaceBlock(before, [BEGIN, ...lines, END])
    if (after === before) return
    await writeDurably(fresh, after)
    if (found !== undefined) {
      await chown(fresh, found.uid, found.gid)
      await chmod(fresh, found.mode & 0o7777)
    }
    await rename(fresh, file)
  } finally {
    await rm(fresh, { force: true })
    await release()
  }
}

/** Returns the text with its block replaced, or with the block appended. */
function replaceBlock(text: string, block: readonly string[]): string {
  const lines = text.split('\n')
  const begin = lines.indexOf(BEGIN)
  const end = lines.indexOf(END)
  if (begin < 0 && end < 0) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    return `${text}${gap}${block.join('\n')}\n`
  }
  if (begin < 0 || end < begin) {
    throw new CommandError(
      `the block has lost its first or last line: restore '${BEGIN}' and '${END}'`,
    )
  }
  return [...lines.slice(0, begin), ...block, ...lines.slice(end + 1)].join('\n')
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(text, 'latin1')
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const WAIT_MS = 30_000

/** Acquires the lock file; the returned function releases it. Throws after WAIT_MS. */
async function lock(file: string): Promise<() => Promise<void>> {
  const deadlineMs = Date.now() + WAIT_MS
  for (;;) {
    try {
      await (await open(file, 'wx')).close()
      return () => rm(file, { force: true })
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      if (!isTaken) throw error
    }
    if (Date.now() > deadlineMs) {
      throw new CommandError(
        `${file} is locked: another command writes, or was killed; if none is running, remove it`,
      )
    }
    await sleep(20)
  }
}
