/** Finds the action that a step uses, and reads its file. */

import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { FileFault } from '../workflows/yaml-value.js'
import { type ActionFile, readActionFile } from './action-file.js'
import { JobFault } from './job-fault.js'
import { readPlainFile } from './read-plain-file.js'
import type { StepRun } from './step-program.js'

/** An action with its folder. */
export interface Action {
  readonly uses: string
  readonly file: ActionFile
  readonly folder: string
}

const FILE_NAMES = ['action.yml', 'action.yaml']
const FILE_BYTES_MAX = 524_288

/** Returns the action that `uses` names. Throws JobFault. */
export async function openAction(uses: string, { scope }: StepRun): Promise<Action> {
  const { workspace } = scope.job.input.folder
  if (!uses.startsWith('./')) {
    throw new JobFault(`the action '${uses}' is not supported by this runner yet`)
  }
  return readAction(uses, { root: workspace, path: uses })
}

interface ActionFolder {
  /** Folder that contains the action: the workspace, or the files of a repository. */
  readonly root: string
  readonly path: string
}

async function readAction(uses: string, { root, path }: ActionFolder): Promise<Action> {
  const folder = join(root, path)
  for (const name of FILE_NAMES) {
    const file = await realpath(join(folder, name)).catch(() => undefined)
    if (file === undefined) continue
    if (!file.startsWith(`${await realpath(root)}/`)) {
      throw new JobFault(`the file of the action '${uses}' is outside the ${placeOf(uses)}`)
    }
    const title = `the file of the action '${uses}'`
    const text = await readPlainFile(file, { name: title, bytesMax: FILE_BYTES_MAX })
    if (text !== undefined) return { uses, folder, file: parseFile(text, title) }
  }
  const hint = uses.startsWith('./') ? '; a step with actions/checkout has to come first' : ''
  throw new JobFault(`the action '${uses}' has no file ${FILE_NAMES.join(' or ')}${hint}`)
}

function placeOf(uses: string): string {
  return uses.startsWith('./') ? 'workspace' : 'repository'
}

/** Parses the file. Its faults name the action, because the log is that of a workflow. */
function parseFile(text: string, title: string): ActionFile {
  try {
    return readActionFile(text)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    throw new JobFault(`${title}, line ${line}, column ${column}: ${error.message}`)
  }
}
