/** Decision requests of pushes: a hook of git sends the changes and waits for the answer. */

import { randomBytes } from 'node:crypto'
import { close, constants, open, write } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unlessMissing } from '../../conf/lib/disk.js'
import { type Git, type GitSetting, PROGRAM_FOLDERS } from '../process/git.js'
import { GIT_COMMAND_MS } from '../process/git-limits.js'
import { runToEnd } from '../process/run.js'
import { idOf, type PushedChange } from './pushed-changes.js'

/** Changes that a push requests. */
export interface PushDecisionRequest {
  readonly changes: readonly PushedChange[]
  /** Environment with which git reads the objects of the push, which is not accepted yet. */
  readonly quarantine: Readonly<Record<string, string>>
}

/** Reasons for the client why the push is rejected; none if it is accepted. */
export type PushAnswer = readonly string[]

/** Options of a git process that make its hook send a decision request. */
export interface PushDecisionSetup {
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
  /** Closes the pipes. Must be called after git has ended, for whatever reason. Never rejects. */
  close(): Promise<void>
}

export interface PushOfRepository {
  readonly dataDir: string
  /** Path of the repository. */
  readonly path: string
  /** Decides about the push. Must not reject. */
  readonly decide: (question: PushDecisionRequest) => Promise<PushAnswer>
}

/** Maximum size of a decision request: enough for a hundred thousand references. */
const QUESTION_BYTES_MAX = 33_554_432

/**
 * Prepares for the decision request of one push, which is read and answered through two named pipes
 * in a new folder. After an error there is no answer, so git rejects the push.
 */
export async function expectPushDecisionRequest(
  git: Git,
  { dataDir, path, decide }: PushOfRepository,
): Promise<PushDecisionSetup> {
  const folder = join(folderOf(dataDir), randomBytes(12).toString('hex'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const [question, answer] = [join(folder, 'question'), join(folder, 'answer')]
  await makePipes(question, answer)
  // Opened for reading and writing, so that opening does not block and reads see no end of file.
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
      // The pipes are removed first, so that a hook that starts now fails instead of blocking.
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
 * Reads a request up to its last line; undefined if it is too large. The last line is the path of
 * the folder, which clients do not know: a client could send a ref name with a line break, because
 * git checks the names later.
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
      // A request that is too large is read to its end too, because the hook reads only after it.
      if (bytes <= QUESTION_BYTES_MAX) chunks.push(chunk)
      else chunks = []
      if (!tail.equals(mark)) return
      const isWhole = bytes <= QUESTION_BYTES_MAX
      const text = Buffer.concat(chunks).subarray(0, -mark.length).toString()
      resolve(isWhole ? text : undefined)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the hook sent no decision request')))
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

/** Returns the environment of a quarantine by its name: git's path may use other symbolic links. */
function quarantineOf(path: string, name: string): Readonly<Record<string, string>> {
  // A push without new objects has no quarantine.
  if (!QUARANTINE.test(name)) return {}
  const objects = join(path, 'objects')
  return {
    GIT_OBJECT_DIRECTORY: join(objects, name),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
  }
}

/** Maximum number of sentences: more would not be read, and could fill the pipe. */
const SENTENCES_MAX = 20

function textOf(sentences: PushAnswer): string {
  const lines = sentences.slice(0, SENTENCES_MAX).map((sentence) => `Gatehouse: ${sentence}`)
  return `${[...lines, sentences.length === 0 ? 'yes' : 'no'].join('\n')}\n`
}

/** Age after which the push of a folder has certainly ended. */
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
