/**
 * Program of the launcher: starts commands for the process that started it, and ends with it. The
 * arguments are the path of that process's socket. See `launcher.ts`.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { LaunchEvent, LaunchRequest } from './launcher.js'

const socketPath = process.argv[2] ?? ''

// The gateway decides when its processes end; a terminal and systemd signal all of them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => {
  rmSync(dirname(socketPath), { recursive: true, force: true })
  process.exit()
})
process.on('message', (request: LaunchRequest) => void launch(request))

/** Starts a command whose standard streams are connections to the socket. */
async function launch(request: LaunchRequest): Promise<void> {
  const { id, file, args, cwd, environment } = request
  const streams: Socket[] = []
  try {
    for (const number of [0, 1, 2]) streams.push(await connectStream(`${id}${number}`))
    const child = spawn(file, args, { cwd, env: environment, detached: true, stdio: streams })
    follow(id, child)
  } catch (error) {
    send({ id, kind: 'failed', reason: String(error) })
  } finally {
    // The command has its own copies.
    for (const stream of streams) stream.destroy()
  }
}

/** Opens a connection that begins with the stream's name. */
async function connectStream(name: string): Promise<Socket> {
  const socket = connect(socketPath)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(name, () => resolve())
  })
  return socket
}

function follow(id: string, child: ChildProcess): void {
  if (child.pid !== undefined) send({ id, kind: 'started', pid: child.pid })
  child.once('error', ({ message }) => send({ id, kind: 'failed', reason: message }))
  child.once('exit', (code, signal) => send({ id, kind: 'ended', code, signal }))
}

function send(event: LaunchEvent): void {
  process.send?.(event, undefined, undefined, () => {})
}
