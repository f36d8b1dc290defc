/** What a push has changed, as git itself wrote it down in a hook that runs after it. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'
import type { Git, GitSetting } from '../process/git.js'

/** A reference that was made, moved or removed. */
export interface PushedChange {
  /** `refs/heads/…` */
  readonly name: string
  /** Absent: it was not there. */
  readonly before: string | undefined
  /** Absent: it is gone. */
  readonly after: string | undefined
}

/** What a git process has to be told, so that its push is written down. */
export interface ChangeNote {
  readonly file: string
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
}

/** A place for the changes of one push. `label` is part of the file's name, for who reads it. */
export async function prepareChangeNote(
  git: Git,
  dataDir: string,
  label: string,
): Promise<ChangeNote> {
  const folder = folderOf(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${label}-${randomBytes(12).toString('hex')}`)
  return {
    file,
    config: [['core.hooksPath', join(dirname(git.configFile), 'git-hooks')]],
    variables: { GATEHOUSE_CHANGES: file },
  }
}

export interface WrittenChanges {
  readonly changes: readonly PushedChange[]
  /** False: git, or the hook, is still at it, or was ended. */
  readonly isWhole: boolean
  readonly writtenAtMs: number
}

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (refs\/\S+)$/

/** What was written down; undefined where there is nothing: the push changed nothing. */
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

/** Writes what the hook of a killed git did not write, unless it had written all. */
export async function completeChangeNote(
  file: string,
  changes: readonly PushedChange[],
): Promise<void> {
  if ((await readChangeNote(file))?.isWhole) return
  const part = `${file}.part`
  await writeFile(part, [...changes.map(formatChange), 'end', ''].join('\n'), { mode: 0o600 })
  await rename(part, file)
}

/** A line as `parseChanges` reads it. */
export function formatChange({ name, before, after }: PushedChange): string {
  const zeros = '0'.repeat((before ?? after ?? '').length)
  return `${before ?? zeros} ${after ?? zeros} ${name}`
}

/** An id as git writes it down; undefined for the zeros that stand for nothing. */
export function idOf(text: string): string | undefined {
  return /^0+$/.test(text) ? undefined : text
}

/** It has been told of. */
export async function removeChangeNote(file: string): Promise<void> {
  await unlessMissing(unlink(file))
}

/** The files of all pushes that nobody has told of yet. */
export async function listChangeNotes(dataDir: string): Promise<readonly string[]> {
  const folder = folderOf(dataDir)
  const names = (await unlessMissing(readdir(folder))) ?? []
  return names.map((name) => join(folder, name))
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'changes')
}
