/** Runs a task from its receipt to the report of its result. */

import type { Log } from '../../conf/log.js'
import { Masker } from '../runner-protocol/masker.js'
import { Result, type Task } from '../runner-protocol/messages.js'
import { Cancellation } from './cancellation.js'
import type { Isolation } from './isolation.js'
import { faultSentence } from './job-fault.js'
import { type JobFile, readJobFile } from './job-file.js'
import { RESULT_NAMES } from './job-state.js'
import { LogSender } from './log-sender.js'
import type { PodmanInput } from './podman.js'
import { CANCEL_GRACE_MS, runJob } from './run-job.js'
import type { ServerClient } from './server-client.js'
import { StepSummary } from './step-summary.js'
import { createTaskFolder, removeTaskFolder } from './task-folder.js'
import { TaskLog } from './task-log.js'
import { TaskReport, type TaskResult } from './task-report.js'

/** Parts of a runner that its tasks use. */
export interface TaskContext {
  readonly client: ServerClient
  readonly instance: string
  readonly runnerName: string
  /** Folder in which the folders of tasks are created. */
  readonly workFolder: string
  readonly isolation: Isolation
  /** Containers of jobs. */
  readonly podman: PodmanInput
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
  readonly log: Log
  /** Ends the runner: the running task is cancelled and reported. */
  readonly signal: AbortSignal
}

/** Time that steps with `always()` have after the runner got SIGTERM. */
const SHUTDOWN_GRACE_MS = 5_000

/** Runs a task, and reports its log and its result. Returns the result. */
export async function runTask(task: Task, context: TaskContext): Promise<Result> {
  const { client, log, signal } = context
  const cancellation = new Cancellation()
  const stop = () => cancellation.cancel(SHUTDOWN_GRACE_MS)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const report = new TaskReport(client, task.id, () => cancellation.cancel(CANCEL_GRACE_MS))
  const sender = new LogSender(client, task.id)
  const tokens = [task.context?.['token'], task.context?.['gitea_runtime_token']]
  const secrets = [...Object.values(task.secrets), ...tokens.map((token) => String(token ?? ''))]
  const taskLog = new TaskLog(sender, new Masker(secrets))
  const fields = { task: String(task.id) }
  log.info(fields, 'task was started')
  const end = await runInFolder(task, { context, cancellation, report, taskLog })
  signal.removeEventListener('abort', stop)
  try {
    await sender.close()
  } catch (error) {
    log.warn({ ...fields, error }, 'log of the task was not sent completely')
  }
  try {
    await report.finish(end)
  } catch (error) {
    log.warn({ ...fields, error }, 'result of the task was not accepted')
  }
  log.info({ ...fields, result: RESULT_NAMES[end.result] }, 'task has ended')
  return end.result
}

interface TaskParts {
  readonly context: TaskContext
  readonly cancellation: Cancellation
  readonly report: TaskReport
  readonly taskLog: TaskLog
}

/** Runs the job of a task in a new folder, and removes the folder. Never rejects. */
async function runInFolder(task: Task, parts: TaskParts): Promise<TaskResult> {
  const { context, cancellation, report, taskLog } = parts
  const { instance, runnerName, searchPath, workFolder, podman, log } = context
  try {
    const job = readJob(task, report)
    const folder = await createTaskFolder(workFolder, task.context?.['event'])
    const input = {
      task,
      job,
      folder,
      workFolder,
      podman,
      isolate: context.isolation(folder),
      log: taskLog,
      summary: new StepSummary(context.client, task.id, taskLog),
      cancellation,
      instance,
      runnerName,
      searchPath,
    }
    try {
      return await runJob(input, report.steps)
    } finally {
      await removeTaskFolder(folder).catch((error: unknown) => {
        log.warn({ folder: folder.path, error }, 'folder of the task was not removed')
      })
    }
  } catch (error) {
    taskLog.add(sentenceOf(error, log))
    return { result: Result.FAILURE, outputs: {} }
  } finally {
    for (const step of report.steps) {
      if (step.result === Result.UNSPECIFIED) step.result = Result.CANCELLED
    }
  }
}

/** Reads the job of a task, and makes an entry for the progress of each step. */
function readJob(task: Task, report: TaskReport): JobFile {
  const job = readJobFile(new TextDecoder().decode(task.workflowPayload))
  for (const _ of job.steps) {
    report.steps.push({ result: Result.UNSPECIFIED, logIndex: 0, logLength: 0 })
  }
  return job
}

function sentenceOf(error: unknown, log: Log): string {
  try {
    return faultSentence(error)
  } catch {
    log.error({ error }, 'task has failed in the runner')
    return `Error: the runner has failed: ${error instanceof Error ? error.message : error}.`
  }
}
