/** The artifact clients of GitHub's toolkit, in a process with the environment of a job. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Task } from '../../gateway/runner-protocol/messages.js'
import { PLAIN_NODE } from './plain-node.js'
import { installProgram } from './programs.js'
import { temporaryFolder } from './temporary.js'

/** Folder of the clients. */
const CLIENTS = await installProgram('artifact-clients')

const PROGRAM = fileURLToPath(new URL('artifact-client-program.js', import.meta.url))

export interface ArtifactClientOptions {
  readonly version: 3 | 4
  /** Base URL of the server. */
  readonly url: string
  readonly task: Pick<Task, 'context'>
}

/** Calls methods of the client in their order. Returns their results, or `{ error }`. */
export async function callArtifactClient(
  t: Test,
  { version, url, task }: ArtifactClientOptions,
  ...calls: ReadonlyArray<readonly [method: string, ...args: readonly unknown[]]>
): Promise<readonly unknown[]> {
  const folder = await temporaryFolder(t)
  const results = join(folder, 'results.json')
  const child = spawn('env', [...PLAIN_NODE, PROGRAM, CLIENTS, String(version)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      RESULTS: results,
      ACTIONS_RUNTIME_TOKEN: String(task.context?.['gitea_runtime_token']),
      ACTIONS_RUNTIME_URL: `${url}/api/actions_pipeline/`,
      ACTIONS_RESULTS_URL: `${url}/`,
      GITHUB_API_URL: `${url}/api/v1`,
      GITHUB_RUN_ID: String(task.context?.['run_id']),
      // The client refuses other hosts, which it takes for GitHub Enterprise.
      GITHUB_SERVER_URL: 'http://gatehouse.localhost',
      GITHUB_WORKSPACE: folder,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  child.stdin.end(JSON.stringify(calls))
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`The client ended with status ${status}: ${output}`)
  return JSON.parse(await readFile(results, 'utf8'))
}
