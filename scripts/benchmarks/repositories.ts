/** Repositories to clone: the project's own, and one made of text. */

import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runGitAsUser } from './load.js'

/** This project's own repository, with its history. */
export const PROJECT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url))

const FILES = 2_000
const FILE_WORDS = 1_400
const COMMITS = 200
const FILES_CHANGED = 5

/** Makes a bare repository of about 10 MB packed: 2,000 files of words and 200 changes to them. */
export async function makeMediumRepository(folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder)
  await runGitAsUser(['init', '--quiet', '--bare', '--initial-branch=main'], {
    cwd: folder,
    signal,
  })
  const input = Buffer.from([...history()].join(''))
  await runGitAsUser(['fast-import', '--quiet'], { cwd: folder, signal, input })
}

/** git-fast-import(1). The same at each call, so that figures of two days can be compared. */
function* history(): Generator<string> {
  const words = createWriter(1)
  for (let commit = 0; commit <= COMMITS; commit += 1) {
    const when = 1_700_000_000 + commit * 3_600
    yield `commit refs/heads/main\ncommitter Ada <ada@example.com> ${when} +0000\ndata 6\nchange\n`
    const count = commit === 0 ? FILES : FILES_CHANGED
    for (let index = 0; index < count; index += 1) {
      const file = (commit * 37 + index) % FILES
      const text = words(FILE_WORDS)
      yield `M 100644 inline folder-${file % 40}/file-${file}.txt\ndata ${text.length}\n${text}\n`
    }
  }
}

/** Words that repeat as those of people do, so that the pack compresses like text. */
function createWriter(seed: number): (count: number) => string {
  let state = seed
  const random = () => {
    // Numerical Recipes' generator: what it lacks in quality does not show in a text.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const vocabulary = Array.from({ length: 4_000 }, () =>
    Math.floor(random() * 36 ** 6)
      .toString(36)
      .slice(0, 3 + Math.floor(random() * 5)),
  )
  return (count) => {
    const text = Array.from({ length: count }, (_, index) => {
      const word = vocabulary[Math.floor(random() ** 2 * vocabulary.length)] ?? ''
      return index % 12 === 11 ? `${word}\n` : `${word} `
    })
    return text.join('')
  }
}
