/** File with the progress of `gatehouse check`, from which an interrupted check continues. */

import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { unlessMissing } from '../../conf/lib/disk.js'
import { type Position, Progress } from '../../gateway/check/progress.js'

export interface ProgressFile {
  readonly progress: Progress
  /** Counts a reported finding that was not repaired. */
  count(): void
  /** Removes the file. Returns the number of findings of all runs. */
  end(): Promise<number>
}

interface Content {
  /** Arguments of the check. */
  readonly call: string
  readonly position: Position
  readonly findings: number
}

/**
 * Opens the file of an interrupted check, or begins a new one. `call` describes the arguments.
 * Throws an Error if the file is that of another check, or of something else.
 */
export async function openProgress(path: string, call: string): Promise<ProgressFile> {
  const content = parseContent(path, await unlessMissing(readFile(path, 'utf8')))
  if (content !== undefined && content.call !== call) {
    throw new Error(
      `${path} is of a check with other arguments (${content.call}): repeat them, or remove the file`,
    )
  }
  let findings = content?.findings ?? 0
  const save = async (position: Position) => {
    const text = JSON.stringify({ call, position, findings } satisfies Content)
    await writeFile(`${path}.part`, `${text}\n`)
    await rename(`${path}.part`, path)
  }
  return {
    progress: new Progress(content?.position, save),
    count: () => {
      findings += 1
    },
    async end() {
      await rm(path, { force: true })
      return findings
    },
  }
}

function parseContent(path: string, text: string | undefined): Content | undefined {
  if (text === undefined) return undefined
  try {
    const content = JSON.parse(text) as Partial<Content>
    if (typeof content.call !== 'string' || content.position === undefined) throw new Error(text)
    return content as Content
  } catch {
    throw new Error(`${path} is not the progress of a check: name another file`)
  }
}
