/** File of the socket for SSH: its permissions, and the removal of a stale one. */

import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessMissing } from '../../conf/lib/disk.js'

const OPEN_TO_OTHERS = 0o077

/** Maximum time for the workers of a killed supervisor to notice it and end. */
const ORPHANS_MS = 2_000

/**
 * Creates the folder of the socket, accessible only to its owner, and removes a stale socket. One
 * on which another gateway listens is kept. Throws an Error if other users may access the folder.
 */
export async function prepareSocket(path: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (((await stat(folder)).mode & OPEN_TO_OTHERS) !== 0) {
    throw new Error(`${folder} holds the socket for SSH and must be private: run chmod 0700 on it`)
  }
  const deadlineMs = Date.now() + ORPHANS_MS
  while (await isAnswered(path)) {
    if (Date.now() > deadlineMs) return
    await sleep(50)
  }
  await rm(path, { force: true })
}

/**
 * Removes the socket if no process accepts connections there. The socket is renamed before the
 * second look, so that of several gateways one removes it, and none removes a new one.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const isThere = async (file: string) => (await unlessMissing(stat(file))) !== undefined
  if (!(await isThere(path)) || (await isAnswered(path))) return
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  if ((await unlessMissing(rename(path, aside).then(() => true))) === undefined) return
  if (await isAnswered(aside)) await rename(aside, path)
  else await rm(aside, { force: true })
}

/** True if a process accepts connections at the socket. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
