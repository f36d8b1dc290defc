/** Search for refs that git cannot read, or whose objects are missing. */

import type { Git } from '../process/git.js'
import { gitEnvironment, gitError, NO_REPLACEMENTS, runGit, startGit } from '../process/git.js'
import { GIT_COMMAND_MS, MAINTENANCE_STEP_MS } from '../process/git-limits.js'
import { gitRecords } from '../process/git-output.js'

/** Yields a sentence without a period for each faulty ref. Throws if git cannot list the refs. */
export async function* listReferenceFaults(git: Git, path: string): AsyncGenerator<string> {
  const running = await startGit(
    git,
    'read',
    [git.file, 'for-each-ref', '--format=%(objecttype) %(refname)'],
    {
      cwd: path,
      timeoutMs: GIT_COMMAND_MS,
      environment: gitEnvironment(git, { config: [] }),
    },
  )
  running.input.end()
  let rest = ''
  for await (const chunk of running.output) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [type = '', name = ''] = splitOnce(line)
      const fault = faultOf(type, name)
      if (fault !== undefined) yield fault
    }
  }
  const end = await running.ended
  for (const [, name] of end.errorText.matchAll(BROKEN)) yield `The ref ${name} is damaged`
  if (end.exitCode === 0) return
  // Git ends at the first missing object.
  if (!end.errorText.includes('missing object')) throw gitError('for-each-ref', end)
  yield* listMissingTargets(git, path)
}

const BROKEN = /^(?:warning|error): ignoring (?:broken ref|dangling symref) (.+)$/gm

/** Namespaces that clients see, and in which administrators expect refs. */
const KNOWN = /^refs\/(?:heads|tags|notes|pull)\//

function faultOf(type: string, name: string): string | undefined {
  if (!KNOWN.test(name)) return `The ref ${name} is outside of the namespaces that are served`
  const isCommit = type === 'commit' || !name.startsWith('refs/heads/')
  return isCommit ? undefined : `The branch ${name} names a ${type} and not a commit`
}

const REFERENCES_AT_ONCE = 1_000

async function* listMissingTargets(git: Git, path: string): AsyncGenerator<string> {
  let batch: (readonly [id: string, name: string])[] = []
  const args = ['for-each-ref', '--format=%(objectname) %(refname)']
  for await (const line of gitRecords(git, args, { cwd: path, separator: '\n' })) {
    batch.push(splitOnce(line))
    if (batch.length < REFERENCES_AT_ONCE) continue
    yield* missingOf(git, path, batch)
    batch = []
  }
  yield* missingOf(git, path, batch)
}

async function* missingOf(
  git: Git,
  path: string,
  references: ReadonlyArray<readonly [id: string, name: string]>,
): AsyncGenerator<string> {
  const ids = references.map(([id]) => id)
  const missing = await findMissing(git, path, ids)
  for (const [id, name] of references) {
    if (missing.has(id)) yield `The object ${id} of ${name} is missing`
  }
}

/**
 * Returns those of up to a thousand revisions, such as `refs/tags/v1` or the id of an object, that
 * name no object of the repository. They must not contain line breaks.
 */
export async function findMissing(
  git: Git,
  path: string,
  revisions: readonly string[],
): Promise<ReadonlySet<string>> {
  if (revisions.length === 0) return new Set()
  const output = await runGit(git, ['cat-file', '--batch-check=%(objectname)'], {
    cwd: path,
    input: revisions.map((revision) => `${revision}\n`).join(''),
    environment: NO_REPLACEMENTS,
  })
  const lines = output.toString().split('\n')
  return new Set(revisions.filter((_, at) => !OBJECT_ID.test(lines[at] ?? '')))
}

const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/**
 * Returns what git finds wrong with the objects of a repository; undefined if all are whole.
 * `isConnectivityOnly` leaves out the content of files.
 */
export async function findObjectFault(
  git: Git,
  path: string,
  { isConnectivityOnly }: { readonly isConnectivityOnly: boolean },
): Promise<string | undefined> {
  const depth = isConnectivityOnly ? ['--connectivity-only'] : ['--full']
  const args = ['fsck', ...depth, '--no-dangling', '--no-reflogs', '--no-progress']
  const running = await startGit(git, 'upkeep', [git.file, ...args], {
    cwd: path,
    timeoutMs: MAINTENANCE_STEP_MS,
    environment: { ...gitEnvironment(git, { config: [] }), ...NO_REPLACEMENTS },
  })
  running.input.end()
  let first = ''
  for await (const chunk of running.output) first ||= Buffer.from(chunk).toString()
  const end = await running.ended
  if (end.exitCode === 0) return undefined
  const text = end.errorText || first
  return text.trimStart().split('\n')[0]
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf(' ')
  return [line.slice(0, at), line.slice(at + 1)]
}
