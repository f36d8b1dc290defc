/** Readiness notification for systemd: a unit of `Type=notify` is active when the server serves. */

import { runToEnd } from './run.js'

const NOTIFY_MS = 5_000

/**
 * Sends READY=1 to the socket in NOTIFY_SOCKET (sd_notify(3)) through systemd-notify, because
 * Node.js has no datagram sockets of Unix. Throws an Error if the program cannot be run.
 */
export async function notifyReady(socket: string, path: string): Promise<void> {
  const { exitCode, errorText } = await runToEnd('systemd-notify', ['--ready'], {
    environment: { PATH: path, NOTIFY_SOCKET: socket },
    timeoutMs: NOTIFY_MS,
    outputBytesMax: 4_096,
  })
  if (exitCode !== 0) throw new Error(`systemd-notify failed: ${errorText.trim()}`)
}
