/** Answers to fetches that need few objects, made without a git process. */

import { writeFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { Commit } from '../../cgi/objects/commit-object.js'
import { readCommit } from '../../cgi/objects/history-walk.js'
import { newCommits } from '../../cgi/objects/new-commits.js'
import { type PackedObjects, withPacks } from '../../cgi/objects/packed-objects.js'
import { type SmallContents, smallPack, UPDATE_LIMITS } from '../../cgi/objects/small-pack.js'
import { hasGrafts } from '../../cgi/repository/repository-state.js'
import { dependsOnAll, type WriteOptions } from './answer-names.js'
import type { FetchQuestion } from './extended-answers.js'
import type { FetchRequest } from './normal-fetch.js'
import { packetLine, sidebandPacket, sidebandPieces } from './pkt-line.js'

/** Limits of the packs of clones: git itself makes those of more objects at less cost. */
const CLONE_LIMITS = { objectsMax: 150, bytesMax: 1_048_576 } as const

/** Maximum number of commits that are read for an update. */
const COMMITS_MAX = 128

/** Maximum number of wanted or known commits. */
const OIDS_MAX = 16

/** Time for which the clones of a repository are left to git after one was too large. */
const LARGE_MS = 600_000
const LARGE_MAX = 1_000

/** Arguments that have no effect on which objects an answer has, except for tags. */
const NEUTRAL_ARGUMENTS: ReadonlySet<string> = new Set([
  'done',
  'include-tag',
  'no-progress',
  'ofs-delta',
  'thin-pack',
])

/** A fetch that may need few objects. */
interface SmallFetch {
  readonly wants: readonly string[]
  readonly haves: readonly string[]
  /** True for a clone of depth 1. */
  readonly isShallow: boolean
}

/** The answers of one process. */
export class SmallAnswers {
  /** Repositories whose clones are too large. */
  readonly #large = new LRUCache<string, true>({ max: LARGE_MAX, ttl: LARGE_MS })

  /**
   * Writes the answer to a clone of depth 1, or to a fetch by a client that has all of the history
   * below its commits. Returns false if git must make the answer; then nothing was written.
   */
  async write(
    { repositoryPath, wanted }: FetchQuestion,
    { file, signal }: Pick<WriteOptions, 'file' | 'signal'>,
  ): Promise<boolean> {
    if (wanted.writeSmall !== undefined) return await wanted.writeSmall({ file, signal })
    const { request, state, references } = wanted
    const fetch = smallFetchOf(request)
    if (fetch === undefined || dependsOnAll(request, state) || hasGrafts(repositoryPath)) {
      return false
    }
    if (fetch.isShallow && this.#large.has(repositoryPath)) return false
    const answer = await withPacks(repositoryPath, async (packs) => {
      const commits = await commitsOf(packs, fetch)
      if (commits === undefined || commits.length === 0) return undefined
      const pack = await smallPack(packs, contentsOf(fetch, commits))
      if (pack === undefined && fetch.isShallow) this.#large.set(repositoryPath, true)
      if (pack === undefined) return undefined
      // Git would add the tags of objects that it sends.
      if (request.includesTags && references.haveTagOf(pack.ids)) return undefined
      return writeAnswer(fetch, commits, pack.bytes)
    })
    if (answer !== undefined) writeFileSync(file, answer)
    return answer !== undefined
  }
}

/** Returns a fetch in a form that is answered here; undefined for others. */
function smallFetchOf({ version, text }: FetchRequest): SmallFetch | undefined {
  const [, , ...lines] = text.split('\n')
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length))
  const [wants, haves] = [valuesOf('want '), valuesOf('have ')]
  const others = lines.filter((line) => !/^(?:want|have) /.test(line))
  const unusual = others.filter((line) => !NEUTRAL_ARGUMENTS.has(line))
  if (version !== 2 || !others.includes('done')) return undefined
  if (wants.length > OIDS_MAX || haves.length > OIDS_MAX) return undefined
  if (haves.length > 0) return unusual.length > 0 ? undefined : { wants, haves, isShallow: false }
  return unusual.join() === 'deepen 1' ? { wants, haves, isShallow: true } : undefined
}

async function commitsOf(
  packs: PackedObjects,
  { wants, haves, isShallow }: SmallFetch,
): Promise<readonly Commit[] | undefined> {
  const { objects } = packs
  if (!isShallow) {
    return await newCommits(objects, { wanted: wants, known: haves, readsMax: COMMITS_MAX })
  }
  const commits: Commit[] = []
  for (const id of wants) {
    const commit = await readCommit(objects, id)
    // It may be a tag.
    if (commit === undefined) return undefined
    commits.push(commit)
  }
  return commits
}

function contentsOf({ isShallow }: SmallFetch, commits: readonly Commit[]): SmallContents {
  return {
    pairs: commits.map(({ id, parents }) => [id, isShallow ? undefined : parents[0]] as const),
    ...(isShallow ? CLONE_LIMITS : UPDATE_LIMITS),
  }
}

/** Writes the sections of an answer (gitprotocol-v2(5) "fetch"). */
function writeAnswer({ isShallow }: SmallFetch, commits: readonly Commit[], pack: Buffer): Buffer {
  // To git, also a commit without parents is shallow.
  const shallow = ['shallow-info\n', ...commits.map(({ id }) => `shallow ${id}`)].map(packetLine)
  const head = `${isShallow ? `${shallow.join('')}0001` : ''}${packetLine('packfile\n')}`
  const packets = [...sidebandPieces(pack)].flatMap(sidebandPacket)
  return Buffer.concat([Buffer.from(head), ...packets, Buffer.from('0000')])
}
