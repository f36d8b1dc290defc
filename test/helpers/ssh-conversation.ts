/** A client of git's protocol over the real ssh, whose requests the test writes. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from './server-processes.js'
import type { Caller, SshGatehouse } from './ssh-gatehouse.js'

const WITHIN_MS = 60_000

export interface SshConversation {
  readonly client: ChildProcessWithoutNullStreams
  /** Returns the output of the server so far. */
  output(): string
  errorText(): string
  /** Sends bytes, and waits until the output after that matches `end`; returns this output. */
  send(words: string | Uint8Array, end: RegExp): Promise<string>
  readonly ended: Promise<number | null>
}

/** Opens `git-upload-pack` of a repository in protocol v2 and reads the capabilities. */
export async function converse(
  fixture: SshGatehouse,
  caller: Caller,
  path: string,
): Promise<SshConversation> {
  const conversation = open(fixture, caller, { path, gitProtocol: 'version=2' })
  await conversation.send('', /^000eversion 2\n[\s\S]*0000$/)
  return conversation
}

/** Opens `git-upload-pack` of a repository in protocol v0 or v1 and reads the refs. */
export async function converseStateful(
  fixture: SshGatehouse,
  caller: Caller,
  { path, gitProtocol = '' }: { readonly path: string; readonly gitProtocol?: string },
): Promise<SshConversation> {
  const conversation = open(fixture, caller, { path, gitProtocol })
  await conversation.send('', /\n0000$/)
  return conversation
}

function open(
  { sshd }: SshGatehouse,
  { keyFile }: Caller,
  { path, gitProtocol }: { readonly path: string; readonly gitProtocol: string },
): SshConversation {
  const [ssh = '', ...words] = sshd.clientOf(keyFile, '-o', 'SendEnv=GIT_PROTOCOL')
  const client = spawn(ssh, [...words, sshd.host, `git-upload-pack '${path}'`], {
    stdio: 'pipe',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', GIT_PROTOCOL: gitProtocol },
  })
  let output = ''
  let errorText = ''
  client.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('latin1')
  })
  client.stderr.on('data', (chunk: Buffer) => {
    errorText += chunk.toString()
  })
  client.stdin.on('error', () => {})
  const ended = once(client, 'close').then(() => client.exitCode)
  return {
    client,
    ended,
    output: () => output,
    errorText: () => errorText,
    async send(words, end) {
      const from = output.length
      client.stdin.write(words)
      return await until(
        async () => output.slice(from),
        (text) => end.test(text),
        WITHIN_MS,
      )
    },
  }
}
