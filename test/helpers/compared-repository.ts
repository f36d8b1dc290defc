/** A repository whose answers by the gateway are compared with those by git. */

import { readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import type { Question } from './fetch-questions.js'
import type { Gatehouse, Person } from './gatehouse.js'
import { tryGit } from './git-client.js'
import { succeeds } from './small-disk.js'

export interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly ours: Git
  /** Path of the URL, such as `/ada/r0.git`. */
  readonly address: string
  /** Path of the bare repository. */
  readonly path: string
  readonly work: string
  /** Path of a repository in which every object stays that this one ever had. */
  readonly archive: string
  /** Earlier requests, which are sent again because most clients send equal requests. */
  readonly requests: Question[]
  /** Commits that are or were the tip of a ref. */
  readonly tips: string[]
}

/** Runs git in the bare repository. Failures, such as a missing branch, are ignored. */
export function inBare({ path }: Scene, ...words: readonly string[]): Promise<unknown> {
  return tryGit(words, { cwd: path })
}

/** Output of git commands by command line, in one state of a repository's refs and settings. */
interface Outputs {
  readonly state: string
  readonly known: Map<string, Promise<string>>
}

const outputs = new WeakMap<Scene, Outputs>()

/**
 * Returns the output of a git command in the bare repository whose result depends only on refs and
 * settings. The command runs once for each state of their files.
 */
export async function readInBare(scene: Scene, ...words: readonly string[]): Promise<string> {
  const state = stateOf(scene.path)
  let last = outputs.get(scene)
  if (last?.state !== state) {
    last = { state, known: new Map() }
    outputs.set(scene, last)
  }
  const line = words.join(' ')
  const output = last.known.get(line) ?? outputOf(scene, words)
  last.known.set(line, output)
  return await output
}

async function outputOf({ path }: Scene, words: readonly string[]): Promise<string> {
  const { exitCode, output, errorText } = await tryGit(words, { cwd: path })
  // `git config` fails without a message if the setting is missing.
  if (exitCode !== 0 && errorText !== '') throw new Error(`git ${words.join(' ')}: ${errorText}`)
  return output
}

/** Returns the contents of the files in which git stores refs and settings. */
function stateOf(path: string): string {
  const refs = readdirSync(join(path, 'refs'), { recursive: true, withFileTypes: true })
  const names = refs.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  const files = [...names, ...['HEAD', 'config', 'packed-refs'].map((name) => join(path, name))]
  return files.map((name) => `${name}\n${contentOf(name)}`).join('\n')
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** Adds the present objects of the bare repository to the archive. */
export async function archiveObjects({ path, archive }: Scene): Promise<void> {
  const from = join(path, 'objects')
  // A folder of a push that has just ended may disappear.
  const folders = (await readdir(from)).filter((name) => /^(?:pack|[0-9a-f]{2})$/.test(name))
  const words = ['--recursive', '--update', '--force', ...folders.map((name) => join(from, name))]
  const isCopied = await succeeds('cp', ...words, join(archive, 'objects'))
  if (!isCopied) throw new Error('the objects were not copied')
}
