/** Calls of the routes for artifacts, in a gateway of the test's process. */

import type { Test } from 'tap'
import type { Task } from '../../gateway/runner-protocol/messages.js'
import { BASE_URL, type GatewayOptions } from './gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import type { Answer } from './requests.js'
import { type RegisteredRunner, registerClient } from './runner-client.js'
import { addWorkflowRepository } from './workflow-repository.js'

const WORKFLOW = `
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: 'true' }] }
  use: { runs-on: linux, needs: build, steps: [{ run: 'true' }] }
`

const SERVICE = '/twirp/github.actions.results.api.v1.ArtifactService'

export interface JobOfGateway {
  readonly task: Task
  readonly runtimeToken: string
  /** Calls a procedure of the service with the runtime token, for its own run. */
  call(procedure: string, fields?: object, runtimeToken?: string): Promise<Answer>
  /** Starts an upload; returns the path and query of its address. */
  begin(name: string): Promise<string>
  /** Uploads a file as a whole, and completes the artifact. Returns its id. */
  store(name: string, text: string): Promise<number>
}

export interface GatewayWithJob extends GatewayWithUsers, JobOfGateway {
  readonly runner: RegisteredRunner
  /** Fetches the next task. */
  nextJob(): Promise<JobOfGateway>
  /** Commits the workflow again, whose run is another one. */
  otherRun(): Promise<JobOfGateway>
  /** Sends bytes to an address. */
  put(address: string, body: string | Buffer): Promise<Answer>
}

/** Starts a gateway with a repository of ada, of which a runner has a job with a second one. */
export async function startGatewayWithJob(
  t: Test,
  { isPrivate = true, ...options }: GatewayOptions & { readonly isPrivate?: boolean } = {},
): Promise<GatewayWithJob> {
  return await addJob(await startGatewayWithUsers(t, options), isPrivate)
}

/** Creates a repository of ada, of which a runner has a job with a second one. */
export async function addJob(gateway: GatewayWithUsers, isPrivate = true): Promise<GatewayWithJob> {
  const { db, port, ask } = gateway
  const engine = await addWorkflowRepository(gateway, { isPrivate })
  const runner = await registerClient({ port, db })
  const put = (path: string, body: string | Buffer) =>
    ask({ method: 'PUT', path, body: Buffer.from(body) })
  const nextJob = async (): Promise<JobOfGateway> => {
    const task = await runner.fetchTask()
    const runtimeToken = String(task.context?.['gitea_runtime_token'])
    const ids = { workflow_run_backend_id: String(task.context?.['run_id']) }
    const call: JobOfGateway['call'] = (procedure, fields = {}, token = runtimeToken) =>
      ask({
        method: 'POST',
        path: `${SERVICE}/${procedure}`,
        authorization: `Bearer ${token}`,
        body: { ...ids, ...fields },
      })
    const begin = async (name: string) => {
      const { json, text } = await call('CreateArtifact', { name, version: 4 })
      const { signed_upload_url: url } = (json ?? {}) as { signed_upload_url?: string }
      if (url === undefined) throw new Error(text)
      return pathOf(url)
    }
    const store = async (name: string, content: string) => {
      const { status } = await put(await begin(name), content)
      const size = String(Buffer.byteLength(content))
      const { json, text } = await call('FinalizeArtifact', { name, size })
      if (status !== 201) throw new Error(text)
      return Number((json as { artifact_id: string }).artifact_id)
    }
    return { task, runtimeToken, call, begin, store }
  }
  await engine.commit(WORKFLOW)
  const job = await nextJob()
  const otherRun = async () => {
    await engine.commit(`${WORKFLOW}# again\n`)
    return await nextJob()
  }
  return { ...gateway, ...job, runner, put, nextJob, otherRun }
}

/** Returns the path and query of a URL of the server. */
export function pathOf(url: string): string {
  if (!url.startsWith(`${BASE_URL}/`)) throw new Error(`${url} is elsewhere`)
  return url.slice(BASE_URL.length)
}
