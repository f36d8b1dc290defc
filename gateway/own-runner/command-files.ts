/** Files in which a step writes variables, outputs and folders of programs for later steps. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { JobFault } from './job-fault.js'
import { readPlainFile } from './read-plain-file.js'
import { inStepFolder, writeNewFile } from './step-folder.js'

/** Maximum number of bytes of a file. */
const FILE_BYTES_MAX = 1_048_576

/** Files by the variables with which steps find them. */
const FILES = {
  GITHUB_ENV: 'env',
  GITHUB_OUTPUT: 'output',
  GITHUB_PATH: 'path',
  GITHUB_STATE: 'state',
  GITHUB_STEP_SUMMARY: 'summary',
} as const

/** Contents of the files after a step. */
export interface StepValues {
  readonly env: ReadonlyMap<string, string>
  readonly outputs: ReadonlyMap<string, string>
  /** Values for the later scripts of the same action. */
  readonly state: ReadonlyMap<string, string>
  readonly paths: readonly string[]
}

/** Creates the empty files of a step in a new folder. Returns their paths by variable. */
export async function createCommandFiles(folder: string): Promise<Record<string, string>> {
  await mkdir(folder)
  const paths: Record<string, string> = {}
  for (const [variable, name] of Object.entries(FILES)) {
    paths[variable] = join(folder, name)
    await writeNewFile(folder, name, '')
  }
  return paths
}

/** Reads the files of a step. Throws JobFault. */
export async function readCommandFiles(folder: string): Promise<StepValues> {
  const read = (variable: keyof typeof FILES) =>
    inStepFolder(folder, (path) => readFileOf(join(path, FILES[variable]), variable))
  const paths = (await read('GITHUB_PATH')).split(/\r?\n/).filter((line) => line !== '')
  return {
    env: parseAssignments(await read('GITHUB_ENV'), 'GITHUB_ENV'),
    outputs: parseAssignments(await read('GITHUB_OUTPUT'), 'GITHUB_OUTPUT'),
    state: parseAssignments(await read('GITHUB_STATE'), 'GITHUB_STATE'),
    paths,
  }
}

async function readFileOf(path: string, variable: string): Promise<string> {
  const name = `the file of ${variable}`
  const text = await readPlainFile(path, { name, bytesMax: FILE_BYTES_MAX })
  if (text === undefined) throw new JobFault(`${name} cannot be read`)
  return text
}

/**
 * Parses lines `NAME=VALUE`, and values of several lines: `NAME<<END`, the lines, and a line `END`.
 * Throws JobFault.
 */
export function parseAssignments(text: string, variable: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line === '') continue
    const [, name = '', sign = '', rest = ''] = /^([^=]*?)(<<|=)(.*)$/s.exec(line) ?? []
    if (name === '') throw new JobFault(`a line of ${variable} is not NAME=VALUE: ${line}`)
    if (sign === '=') {
      values.set(name, rest)
      continue
    }
    const end = lines.indexOf(rest, at + 1)
    if (end === -1) throw new JobFault(`${variable} has no line '${rest}' after ${name}`)
    values.set(name, lines.slice(at + 1, end).join('\n'))
    at = end
  }
  return values
}
