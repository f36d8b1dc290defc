/** Tasks that the runner runs in the test's process, at a stub of the server. */

import type { Test } from 'tap'
import { podmanEnvironment, searchPath } from '../../conf/load.js'
import { createLog } from '../../conf/log.js'
import { type Isolation, NO_ISOLATION } from '../../gateway/own-runner/isolation.js'
import type { PodmanInput } from '../../gateway/own-runner/podman.js'
import { runTask, type TaskContext } from '../../gateway/own-runner/run-task.js'
import { createServerClient } from '../../gateway/own-runner/server-client.js'
import { Result } from '../../gateway/runner-protocol/messages.js'
import {
  aTask,
  STUB_CREDENTIALS,
  type StubServer,
  stubRunnerServer,
  type TaskInput,
} from './stub-runner-server.js'
import { temporaryFolder } from './temporary.js'

const LOG = createLog({ level: 'silent', format: 'json' })

/** Returns what the runner needs to run tasks of the stub. */
export async function taskContext(t: Test, stub: StubServer): Promise<TaskContext> {
  return {
    client: createServerClient(stub.address, STUB_CREDENTIALS),
    instance: stub.address,
    runnerName: 'first',
    workFolder: await temporaryFolder(t),
    isolation: NO_ISOLATION,
    podman: {
      searchPath: searchPath(),
      environment: podmanEnvironment(),
      runnerId: STUB_CREDENTIALS.uuid,
    },
    searchPath: searchPath(),
    log: LOG,
    signal: new AbortController().signal,
  }
}

export interface RanTask {
  readonly stub: StubServer
  readonly context: TaskContext
  readonly result: keyof typeof Result
  /** Results of the steps. */
  readonly steps: readonly (keyof typeof Result)[]
  readonly outputs: Readonly<Record<string, string>>
}

export interface RunOptions extends TaskInput {
  readonly stub?: StubServer
  readonly signal?: AbortSignal
  readonly searchPath?: string
  readonly isolation?: Isolation
  readonly podman?: PodmanInput
}

/** Runs a task whose workflow file is the text, or that of a job with the given keys. */
export async function ranTask(
  t: Test,
  workflow: string,
  options: RunOptions = {},
): Promise<RanTask> {
  const stub = options.stub ?? (await stubRunnerServer(t))
  const context = { ...(await taskContext(t, stub)), ...givenParts(options) }
  const result = await runTask(aTask(workflow, options), context)
  const last = stub.updates.at(-1)
  const steps = (last?.state?.steps ?? []).map((step) => nameOf(step.result))
  return { stub, context, result: nameOf(result), steps, outputs: last?.outputs ?? {} }
}

function givenParts(options: RunOptions): Partial<TaskContext> {
  const { signal, searchPath, isolation, podman } = options
  return {
    ...(podman === undefined ? {} : { podman }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(signal === undefined ? {} : { signal }),
    ...(searchPath === undefined ? {} : { searchPath }),
  }
}

function nameOf(result: Result): keyof typeof Result {
  const names = Object.keys(Result) as (keyof typeof Result)[]
  return names.find((name) => Result[name] === result) ?? 'UNSPECIFIED'
}

/** Returns a workflow file with one job of the given steps, which are lines of YAML. */
export function jobOf(...steps: readonly string[]): string {
  const lines = steps.map((step) => `      - ${step.split('\n').join('\n        ')}\n`)
  return `on: push\njobs:\n  build:\n    runs-on: [linux]\n    steps:\n${lines.join('')}`
}

/** Returns a step that writes files into the workspace, by their paths. */
export function writeStep(files: Readonly<Record<string, string>>): string {
  const lines = Object.entries(files).flatMap(([path, text]) => [
    `mkdir -p "$(dirname '${path}')"`,
    `echo ${Buffer.from(text).toString('base64')} | base64 -d > '${path}'`,
  ])
  return `name: write files\nrun: |\n${lines.map((line) => `  ${line}\n`).join('')}`.trimEnd()
}
