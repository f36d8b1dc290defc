/** What git asks before it takes a push: a hook tells what would change, and waits for a word. */

import { randomBytes } from 'node:crypto'
import { close, constants, open, write } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unlessMissing } from '../../conf/disk.js'
import { GIT_COMMAND_MS } from '../../conf/limits.js'
import { type Git, type GitSetting, PROGRAM_FOLDERS } from '../process/git.js'
import { runToEnd } from '../process/run.js'
import { idOf, type PushedChange } from './pushed-changes.js'

/** What a push would change. */
export interface PushDecisionRequest {
  readonly changes: readonly PushedChange[]
  /** Variables with which git sees the objects of the push, which are not in the repository yet. */
  readonly quarantine: Readonly<Record<string, string>>
}

/** Sentences for the client that say why not; none where the push may be taken. */
export type PushAnswer = readonly string[]

/** What a git process has to be told, so that it asks. */
export interface PushDecisionSetup {
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
  /** To be called when git has ended, however it did. Never rejects. */
  close(): Promise<void>
}

export interface PushOfRepository {
  readonly dataDir: string
  /** The folder of the repository. */
  readonly path: string
  /** Must not reject. */
  readonly decide: (question: PushDecisionRequest) => Promise<PushAnswer>
}

/** What may be asked at once, in bytes: a hundred thousand references. */
const QUESTION_BYTES_MAX = 33_554_432

/**
 * Prepares for the question of one push. It comes and is answered through two named pipes in a
 * folder of its own. Whatever goes wrong, git hears no word, and with that takes nothing.
 */
export async function expectPushDecisionRequest(
  git: Git,
  { dataDir, path, decide }: PushOfRepository,
): Promise<PushDecisionSetup> {
  const folder = join(folderOf(dataDir), randomBytes(12).toString('hex'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const [question, answer] = [join(folder, 'question'), join(folder, 'answer')]
  await makePipes(question, answer)
  // Open for both directions, so that neither waits for the other side, nor sees an end of it.
  const flags = constants.O_RDWR | constants.O_NONBLOCK
  const answerFile = await openFile(answer, flags)
  const socket = new Socket({ fd: await openFile(question, flags), readable: true })
  const work = readRequest(socket, folder)
    .then(async (text) => textOf(await sentencesFor(text, { path, decide })))
    .then((text) => writeFile(answerFile, text))
    .catch(() => {})
  return {
    config: [['core.hooksPath', join(dirname(git.configFile), 'git-hooks')]],
    variables: { GATEHOUSE_RULES: folder },
    async close() {
      // First of all the names: a hook that comes now must not wait for an end that was before it.
      await rm(folder, { recursive: true, force: true }).catch(() => {})
      socket.destroy()
      await work
      await closeFile(answerFile).catch(() => {})
    },
  }
}

const openFile = promisify(open)
const writeFile = promisify<number, string, unknown>(write)
const closeFile = promisify(close)

async function makePipes(...files: readonly string[]): Promise<void> {
  const { exitCode, errorText } = await runToEnd('mkfifo', ['-m', '600', ...files], {
    environment: { PATH: PROGRAM_FOLDERS.join(':'), LC_ALL: 'C' },
    timeoutMs: GIT_COMMAND_MS,
    outputBytesMax: 4_096,
  })
  if (exitCode !== 0) throw new Error(`mkfifo failed: ${errorText}`)
}

/**
 * What comes before the line that ends it; undefined where that is too much. That line is the path
 * of the folder, which no client knows: git checks only later that names hold no line break.
 */
function readRequest(socket: Socket, folder: string): Promise<string | undefined> {
  const mark = Buffer.from(`\n${folder}\n`)
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let bytes = 0
    let tail = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      tail = Buffer.concat([tail, chunk]).subarray(-mark.length)
      // What is too much is read all the same: the hook listens only when it has asked.
      if (bytes <= QUESTION_BYTES_MAX) chunks.push(chunk)
      else chunks = []
      if (!tail.equals(mark)) return
      const isWhole = bytes <= QUESTION_BYTES_MAX
      const text = Buffer.concat(chunks).subarray(0, -mark.length).toString()
      resolve(isWhole ? text : undefined)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('nobody asked')))
  })
}

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (refs\/.+)$/s
const QUARANTINE = /^(?:tmp_objdir-)?incoming-[A-Za-z0-9]+$/

async function sentencesFor(
  text: string | undefined,
  { path, decide }: Pick<PushOfRepository, 'path' | 'decide'>,
): Promise<PushAnswer> {
  if (text === undefined) return ['The push names too many references.']
  const [folder = '', ...lines] = text.split('\n')
  const changes = lines.flatMap((line) => {
    const [, before = '', after = '', name] = LINE.exec(line) ?? []
    return name === undefined ? [] : [{ name, before: idOf(before), after: idOf(after) }]
  })
  if (changes.length < lines.length) return ['A reference of the push has no valid name.']
  return await decide({ changes, quarantine: quarantineOf(path, basename(folder)) })
}

/** Git names the folder by a path of its own, which may lead through other links than ours. */
function quarantineOf(path: string, name: string): Readonly<Record<string, string>> {
  // A push that brings no objects has none.
  if (!QUARANTINE.test(name)) return {}
  const objects = join(path, 'objects')
  return {
    GIT_OBJECT_DIRECTORY: join(objects, name),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
  }
}

/** As much as is read, and as a pipe holds without waiting for its reader. */
const SENTENCES_MAX = 20

function textOf(sentences: PushAnswer): string {
  const told = sentences.slice(0, SENTENCES_MAX).map((sentence) => `Gatehouse: ${sentence}`)
  return `${[...told, sentences.length === 0 ? 'yes' : 'no'].join('\n')}\n`
}

/** Longer than any push lasts. */
const AGE_MS_MAX = 2 * 86_400_000

/** Removes the pipes of pushes whose gateway was killed. */
export async function sweepPushDecisionRequests(dataDir: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(folderOf(dataDir)))) ?? []) {
    const folder = join(folderOf(dataDir), name)
    const found = await unlessMissing(stat(folder))
    if (found === undefined || found.mtimeMs > Date.now() - AGE_MS_MAX) continue
    await rm(folder, { recursive: true, force: true })
  }
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'questions')
}
