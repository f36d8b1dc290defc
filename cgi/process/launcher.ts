/**
 * The launcher: a small process that starts commands for this one. fork(2) copies the page tables
 * of the process that calls it, which takes 10 ms of CPU time for 200 MiB of memory and blocks the
 * event loop meanwhile. A command by the launcher takes 3 ms, whatever the size of this process.
 *
 * The standard streams of a command are connections to a socket in a folder of this user alone;
 * git reads and writes them itself. Requests and exits are messages of the launcher.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A command to start. */
export interface LaunchRequest {
  /** Random name of the command, of `ID_CHARACTERS` characters. */
  readonly id: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly environment: Readonly<Record<string, string>>
}

/** Message about a command. */
export type LaunchEvent =
  | { readonly id: string; readonly kind: 'started'; readonly pid: number }
  | { readonly id: string; readonly kind: 'failed'; readonly reason: string }
  | {
      readonly id: string
      readonly kind: 'ended'
      readonly code: number | null
      readonly signal: string | null
    }

/** A command that runs. */
export interface Launched {
  readonly pid: number
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
  /** Settles with the exit. Never rejects. */
  readonly exit: Promise<LaunchedExit>
}

export type LaunchedExit =
  | { readonly code: number | null; readonly signal: string | null }
  | { readonly lost: string }

const ID_CHARACTERS = 32
/** Length of the name that a connection begins with: the id and the number of the stream. */
const NAME_CHARACTERS = ID_CHARACTERS + 1

/** Time in which the streams of a command arrive after its end. */
const STREAMS_MS = 5_000

/** Module of the launcher, in the folder of this one, also after bundling. */
const PROGRAM = fileURLToPath(new URL('./launcher-process.js', import.meta.url))

/** A command of which a message or a connection is to come. */
interface Waiting {
  readonly streams: Map<number, Socket>
  pid: number | undefined
  hasEnded: boolean
  readonly exit: Promise<LaunchedExit>
  readonly onExit: (exit: LaunchedExit) => void
  readonly onStarted: (launched: Launched) => void
  readonly onFailed: (error: Error) => void
}

/** The launcher of this process, once it was needed; undefined in it if it cannot run here. */
let opened: Promise<Launcher | undefined> | undefined
let running: Launcher | undefined

/**
 * Starts a command by the launcher of this process. Returns undefined if there can be none. Throws
 * if the command cannot be started.
 */
export async function launch(request: Omit<LaunchRequest, 'id'>): Promise<Launched | undefined> {
  opened ??= openLauncher()
  return await (await opened)?.launch(request)
}

/** Returns the process id of the launcher, if there is one. */
export function launcherPid(): number | undefined {
  return running?.pid
}

/** Returns undefined if a folder, socket or process cannot be created. */
async function openLauncher(): Promise<Launcher | undefined> {
  let folder: string | undefined
  try {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-launcher-'))
    const path = join(folder, 'socket')
    const server = createServer().listen(path).unref()
    await once(server, 'listening')
    const child = spawn(process.execPath, [PROGRAM, path], {
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    await once(child, 'spawn')
    running = new Launcher(folder, server, child)
    return running
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

class Launcher {
  readonly #waiting = new Map<string, Waiting>()
  readonly #child: ChildProcess

  constructor(folder: string, server: Server, child: ChildProcess) {
    this.#child = child
    server.on('connection', (socket) => this.#receive(socket))
    child.on('message', (event: LaunchEvent) => this.#handle(event))
    child.once('exit', () => {
      opened = running = undefined
      server.close()
      // A launcher that ends with this process removes it itself.
      rmSync(folder, { recursive: true, force: true })
      for (const id of this.#waiting.keys()) this.#lose(id, 'the launcher ended')
    })
    child.unref()
    this.#keepAlive()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  launch(request: Omit<LaunchRequest, 'id'>): Promise<Launched> {
    const id = randomBytes(ID_CHARACTERS / 2).toString('hex')
    return new Promise((onStarted, onFailed) => {
      let onExit: Waiting['onExit'] = () => {}
      const exit = new Promise<LaunchedExit>((resolve) => {
        onExit = resolve
      })
      const state = { streams: new Map(), pid: undefined, hasEnded: false }
      this.#waiting.set(id, { ...state, exit, onExit, onStarted, onFailed })
      this.#keepAlive()
      this.#child.send({ ...request, id } satisfies LaunchRequest, (error) => {
        if (error) this.#lose(id, error.message)
      })
    })
  }

  /** Reads the name at the start of a connection. */
  #receive(socket: Socket): void {
    socket.on('error', () => {})
    const read = () => {
      const name: Buffer | null = socket.read(NAME_CHARACTERS)
      if (name === null) {
        socket.once('readable', read)
        return
      }
      const id = name.toString('latin1', 0, ID_CHARACTERS)
      const waiting = this.#waiting.get(id)
      waiting?.streams.set(Number(name.toString('latin1', ID_CHARACTERS)), socket)
      if (waiting === undefined) socket.destroy()
      else this.#proceed(id, waiting)
    }
    read()
  }

  #handle(event: LaunchEvent): void {
    const waiting = this.#waiting.get(event.id)
    if (waiting === undefined) return
    if (event.kind === 'failed') {
      this.#lose(event.id, event.reason)
      return
    }
    if (event.kind === 'started') waiting.pid = event.pid
    else {
      waiting.hasEnded = true
      waiting.onExit({ code: event.code, signal: event.signal })
    }
    this.#proceed(event.id, waiting)
    // Out of file descriptors, this process accepts no connections.
    if (waiting.hasEnded && this.#waiting.has(event.id)) {
      setTimeout(() => this.#lose(event.id, 'its streams did not arrive'), STREAMS_MS)
    }
  }

  /** Messages and connections arrive in any order, also after the end of a short command. */
  #proceed(id: string, { pid, hasEnded, streams, exit, onStarted }: Waiting): void {
    const [stdin, stdout, stderr] = [0, 1, 2].map((number) => streams.get(number))
    if (pid === undefined || !stdin || !stdout || !stderr) return
    onStarted({ pid, stdin, stdout, stderr, exit })
    if (!hasEnded) return
    stdin.destroy()
    this.#forget(id)
  }

  #lose(id: string, reason: string): void {
    const waiting = this.#waiting.get(id)
    for (const socket of waiting?.streams.values() ?? []) socket.destroy()
    waiting?.onFailed(new Error(reason))
    waiting?.onExit({ lost: reason })
    this.#forget(id)
  }

  #forget(id: string): void {
    this.#waiting.delete(id)
    this.#keepAlive()
  }

  /** Lets this process end by itself unless a command runs. */
  #keepAlive(): void {
    if (this.#waiting.size > 0) this.#child.channel?.ref()
    else this.#child.channel?.unref()
  }
}
