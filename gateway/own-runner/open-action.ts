/** Finds the action that a step uses, and reads its file. */

import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FileFault } from '../workflows/yaml-value.js'
import { type ActionFile, readActionFile } from './action-file.js'
import { parseActionPlace, type SitePlace } from './action-place.js'
import { fetchAction } from './fetch-action.js'
import { JobFault } from './job-fault.js'
import { readPlainFile } from './read-plain-file.js'
import type { StepRun } from './step-program.js'

/** An action with its folder. */
export interface Action {
  readonly uses: string
  readonly file: ActionFile
  readonly folder: string
  /** Repository and ref of the action; absent if it is in the workspace. */
  readonly source?: Pick<SitePlace, 'repository' | 'ref'>
}

const FILE_NAMES = ['action.yml', 'action.yaml']
const FILE_BYTES_MAX = 524_288

/** Returns the action that `uses` names. Throws JobFault. */
export async function openAction(uses: string, run: StepRun): Promise<Action> {
  const { task, instance, folder } = run.scope.job.input
  const place = parseActionPlace(uses, [instance, String(task.context?.['server_url'] ?? '')])
  if (place.kind === 'local') {
    return { uses, ...(await readAction(uses, { root: folder.workspace, path: place.path })) }
  }
  const root = await fetchAction(place, run)
  return { uses, source: place, ...(await readAction(uses, { root, path: place.path })) }
}

interface ActionFolder {
  /** Folder that contains the action: the workspace, or the files of a repository. */
  readonly root: string
  readonly path: string
}

type FoundAction = Pick<Action, 'file' | 'folder'>

async function readAction(uses: string, { root, path }: ActionFolder): Promise<FoundAction> {
  const folder = join(root, path)
  // Steps can replace the root by a link, but not the folder of the task, which contains it.
  const realRoot = join(await realpath(dirname(root)), basename(root))
  for (const name of FILE_NAMES) {
    const file = await realpath(join(folder, name)).catch(() => undefined)
    if (file === undefined) continue
    if (!file.startsWith(`${realRoot}/`)) {
      throw new JobFault(`the file of the action '${uses}' is outside the ${placeOf(uses)}`)
    }
    const title = `the file of the action '${uses}'`
    const text = await readPlainFile(file, { name: title, bytesMax: FILE_BYTES_MAX })
    if (text !== undefined) return { folder, file: parseFile(text, title) }
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
