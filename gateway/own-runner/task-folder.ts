/** The folder of a task: its workspace, home, temporary files, programs and the event. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'

/** Paths of a task's folder. */
export interface TaskFolder {
  readonly path: string
  readonly workspace: string
  readonly home: string
  readonly temp: string
  /** Folder in which actions keep programs for later steps. */
  readonly toolCache: string
  /** Folder that isolated steps have as /tmp. */
  readonly privateTemp: string
  readonly eventFile: string
}

/** Creates the folder of a task below another one, readable by this user only. */
export async function createTaskFolder(parent: string, event: unknown): Promise<TaskFolder> {
  const path = await mkdtemp(join(parent, 'gatehouse-task-'))
  const folder = {
    path,
    workspace: join(path, 'workspace'),
    home: join(path, 'home'),
    temp: join(path, 'temp'),
    toolCache: join(path, 'tools'),
    privateTemp: join(path, 'tmp'),
    eventFile: join(path, 'event.json'),
  }
  const { workspace, home, temp, toolCache, privateTemp } = folder
  for (const part of [workspace, home, temp, toolCache, privateTemp]) await mkdir(part)
  await writeFile(folder.eventFile, JSON.stringify(event ?? {}))
  return folder
}

const CHMOD_WITHIN_MS = 60_000

/** Removes the folder. Steps may have made parts of it read-only, as Go does with its modules. */
export async function removeTaskFolder({ path }: TaskFolder): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await runToEnd('/bin/chmod', ['-R', 'u+rwX', path], {
      environment: {},
      timeoutMs: CHMOD_WITHIN_MS,
      outputBytesMax: 65_536,
    })
    await remove()
  })
}
