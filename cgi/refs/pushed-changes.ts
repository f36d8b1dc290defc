/** Change notes: files in which a hook of git lists the refs that a push has changed. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Git, GitSetting } from '../process/git.js'

/** A reference that was created, changed or deleted. */
export interface PushedChange {
  /** Full name, such as `refs/heads/main`. */
  readonly name: string
  /** Old id; undefined if the reference was created. */
  readonly before: string | undefined
  /** New id; undefined if the reference was deleted. */
  readonly after: string | undefined
}

/** Options of a git process that make its hook write a change note. */
export interface ChangeNote {
  readonly file: string
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
}

/** Chooses the file of a change note. `label` becomes part of its name, for the reader. */
export function chooseChangeNote(dataDir: string, label: string): string {
  return join(folderOf(dataDir), `${label}-${randomBytes(12).toString('hex')}`)
}

/** Prepares a change note that git's hooks write. */
export async function prepareChangeNote(git: Git, file: string): Promise<ChangeNote> {
  await makeFolder(file)
  return {
    file,
    config: [['core.hooksPath', join(dirname(git.configFile), 'git-hooks')]],
    variables: { GATEHOUSE_CHANGES: file },
  }
}

export interface WrittenChanges {
  readonly changes: readonly PushedChange[]
  /** False if git or its hook is still running or was ended. */
  readonly isWhole: boolean
  readonly writtenAtMs: number
}

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (refs\/\S+)$/

/** Reads a change note; undefined if there is none, because the push changed nothing. */
export async function readChangeNote(file: string): Promise<WrittenChanges | undefined> {
  const text = await unlessMissing(readFile(file, 'utf8'))
  const found = await unlessMissing(stat(file))
  if (text === undefined || found === undefined) return undefined
  const lines = text.split('\n')
  const changes = parseChanges(lines.slice(0, -1))
  return { changes, isWhole: lines.at(-2) === 'end', writtenAtMs: found.mtimeMs }
}

/** Parses lines of githooks(5), "pre-receive": id before, id after, name. Skips all other lines. */
export function parseChanges(lines: readonly string[]): readonly PushedChange[] {
  return lines.flatMap((line) => {
    const [, before = '', after = '', name] = LINE.exec(line) ?? []
    return name === undefined ? [] : [{ name, before: idOf(before), after: idOf(after) }]
  })
}

async function makeFolder(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
}

/** Writes the change note of a push whose hook did not, unless it is complete. */
export async function completeChangeNote(
  file: string,
  changes: readonly PushedChange[],
): Promise<void> {
  if ((await readChangeNote(file))?.isWhole) return
  await makeFolder(file)
  const part = `${file}.part`
  await writeFile(part, [...changes.map(formatChange), 'end', ''].join('\n'), { mode: 0o600 })
  await rename(part, file)
}

/** Formats a line for `parseChanges`. */
export function formatChange({ name, before, after }: PushedChange): string {
  const zeros = '0'.repeat((before ?? after ?? '').length)
  return `${before ?? zeros} ${after ?? zeros} ${name}`
}

/** Returns an id that git wrote; undefined for zeros, which mean that there is no object. */
export function idOf(text: string): string | undefined {
  return /^0+$/.test(text) ? undefined : text
}

/** Removes a change note whose notifications were sent. */
export async function removeChangeNote(file: string): Promise<void> {
  await unlessMissing(unlink(file))
}

/** Lists the change notes whose notifications were not sent yet. */
export async function listChangeNotes(dataDir: string): Promise<readonly string[]> {
  const folder = folderOf(dataDir)
  const names = (await unlessMissing(readdir(folder))) ?? []
  return names.map((name) => join(folder, name))
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'changes')
}
