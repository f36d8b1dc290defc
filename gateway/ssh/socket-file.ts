/**
 * Files of the sockets for SSH. Each gateway of a data folder listens at a path of its own, and one
 * of them also has the path that sshd's helper calls.
 */

import { createHash, randomBytes } from 'node:crypto'
import { link, readdir, rename, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { processSpace } from '../../cgi/process/process-space.js'
import { markProcess } from '../../cgi/process/process-table.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import { createFolder } from '../../conf/lib/folders.js'
import { formatMessage, HELPER_VERSION } from './message.js'

const OPEN_TO_OTHERS = 0o077

/** Name of a gateway's own socket, which is as long as the default name of the common one. */
const OWN_NAME = /^[0-9a-f]{8}$/

/** Age from which a socket without a listener is removed: a new one is about to get it. */
const LEFT_AFTER_MS = 60_000

export interface SshSocket {
  /** Path that sshd's helper calls. */
  readonly path: string
  /** Path of this gateway alone, in the same folder. */
  readonly own: string
}

/** Returns the paths of the gateway whose supervisor has the process id. */
export function sshSocketOf(path: string, supervisorPid: number): SshSocket {
  const mark = JSON.stringify([processSpace(), markProcess(supervisorPid)])
  const name = createHash('sha256').update(mark).digest('hex').slice(0, 8)
  return { path, own: join(dirname(path), name) }
}

/**
 * Creates the folder of the sockets, accessible only to its owner, and removes those that killed
 * gateways have left. Throws an Error if other users may access the folder.
 */
export async function prepareSocketFolder({ path }: Pick<SshSocket, 'path'>): Promise<void> {
  const folder = dirname(path)
  await createFolder(folder, { mode: 0o700, setting: 'ssh.socket' })
  if (((await stat(folder)).mode & OPEN_TO_OTHERS) !== 0) {
    throw new Error(`${folder} holds the socket for SSH and must be private: run chmod 0700 on it`)
  }
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const found = OWN_NAME.test(name) ? await unlessMissing(stat(file)) : undefined
    const isOld = found !== undefined && found.mtimeMs < Date.now() - LEFT_AFTER_MS
    if (isOld && !(await isAnswered(file))) await rm(file, { force: true })
  }
}

/**
 * Gives the gateway's own socket the common path, unless a gateway answers there. Returns who has
 * the path: this gateway since now, this one since before, or another one.
 */
export async function claimSocket({ path, own }: SshSocket): Promise<'claimed' | 'own' | 'other'> {
  const mine = await unlessMissing(stat(own))
  if (mine === undefined) return 'other'
  const present = await unlessMissing(stat(path))
  if (present?.ino === mine.ino) return 'own'
  if (present !== undefined && (await isAnswered(path))) return 'other'
  await place(own, path)
  return 'claimed'
}

/**
 * Gives the common path to another gateway of the folder that accepts connections, if this one has
 * it. Returns true if it was given away.
 */
export async function handOverSocket({ path, own }: SshSocket): Promise<boolean> {
  const [mine, present] = [await unlessMissing(stat(own)), await unlessMissing(stat(path))]
  if (mine === undefined || present?.ino !== mine.ino) return false
  const folder = dirname(path)
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (!OWN_NAME.test(name) || other === own || !(await isAnswered(other))) continue
    await place(other, path)
    return true
  }
  return false
}

/**
 * Waits until a worker has accepted all connections that were made before: they are accepted in
 * order, and a closing socket resets those that are not. Returns false after the time.
 */
export function untilAccepted({ own }: SshSocket, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(own)
    const timer = setTimeout(() => {
      resolve(false)
      socket.destroy()
    }, withinMs)
    // Without a listener, no connection waits.
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
    // The worker ends a connection whose request it does not know.
    socket.write(formatMessage([HELPER_VERSION, 'end']))
    socket.resume()
  })
}

/** Makes `path` another name of a socket, in one step. */
async function place(socket: string, path: string): Promise<void> {
  const incoming = `${socket}.${randomBytes(6).toString('hex')}`
  await link(socket, incoming)
  await rename(incoming, path)
  // A rename to a path of the same file does nothing.
  await rm(incoming, { force: true })
}

/** Removes the common path if no gateway answers there. */
export async function removeStaleSocket({ path }: Pick<SshSocket, 'path'>): Promise<void> {
  if (!(await isAnswered(path))) await rm(path, { force: true })
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
