/** All branches and tags of a repository as one file (gitformat-bundle(5)), for bundle URIs. */

import { createHash } from 'node:crypto'
import { readPresentState } from '../../cgi/repository/repository-state.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { type ByteRange, cutRange, readByteRange } from '../../conf/lib/byte-range.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { Grants } from '../auth/authorize.js'
import { readCapabilities } from '../packs/normal-request.js'
import type { WarmRequest } from '../packs/pack-cache.js'
import { NoPack, readPackStream } from '../packs/pack-stream.js'
import { packetLine, readSections } from '../packs/pkt-line.js'
import type { WarmAnswer } from '../packs/warm-answer.js'
import type { Context } from '../request/context.js'

/** Minimum size of a repository, in KiB, for which clients are offered a bundle. */
export const BUNDLE_REPOSITORY_KIB_MIN = 4_096

const COMMAND = 'command=bundle-uri'

/** First version of git whose upload-pack has bundle URIs. */
const GIT_VERSION_MIN = [2, 40] as const

export interface BundleRequest {
  readonly grant: Grants['repository']
  readonly question: WarmRequest
}

/**
 * Returns the answer to `command=bundle-uri` (gitprotocol-v2(5)), or undefined if git must answer:
 * there is no bundle to offer, or the repository's settings name bundles. The bundle's address is
 * relative, so the client requests it from the same server, with the credentials in its own URL.
 */
export function offerBundle(
  context: Context,
  asked: BundleRequest,
  body: Buffer,
): Awaitable<Buffer | undefined> {
  return body.includes(COMMAND) ? answerOffer(context, asked, body) : undefined
}

async function answerOffer(
  context: Context,
  asked: BundleRequest,
  body: Buffer,
): Promise<Buffer | undefined> {
  const { repository } = asked.grant
  const sections = readSections(body)
  // For this command, git sends the line `command=` last; for others, first.
  const capabilities = sections?.head.filter((line) => line !== COMMAND) ?? []
  if (sections?.head.length !== capabilities.length + 1 || sections.tail.length > 0)
    return undefined
  if (readCapabilities(capabilities) !== repository.objectFormat) return undefined
  const [major, minor] = context.git.version
  if ((major - GIT_VERSION_MIN[0] || minor - GIT_VERSION_MIN[1]) < 0) return undefined
  if (repository.sizeKib < BUNDLE_REPOSITORY_KIB_MIN) return undefined
  if (context.settings.cache.diskBytesMax === 0) return undefined
  const state = readPresentState(asked.question.repositoryPath)
  if (state === undefined || /bundle/i.test(state.settingsText)) return undefined
  const bundle = await describeBundle(context, asked)
  if (bundle === undefined) return undefined
  const uri = `bundle.all.uri=bundles/${bundle.name}`
  const lines = ['bundle.version=1', 'bundle.mode=all', uri].map(packetLine)
  return Buffer.from(`${lines.join('')}0000`)
}

/**
 * Returns the bundle of that name, or the part of it that the header `Range` requests. Throws
 * `not_found` if the name is not that of the current bundle; the client then clones without it.
 */
export async function sendBundle(
  context: Context,
  asked: BundleRequest,
  { name, range: wantedRange }: { readonly name: string; readonly range: string | undefined },
): Promise<Reply> {
  const bundle = await describeBundle(context, asked)
  const answer = bundle?.name === name ? await openBundle(context, asked, bundle) : undefined
  if (answer === undefined) {
    throw new Failure('not_found', 'This bundle does not exist any more: clone without it.')
  }
  context.metrics.countPackCache(answer)
  const headers: Array<readonly [string, string]> = [
    ['Content-Type', 'application/x-git-bundle'],
    ['Cache-Control', 'no-cache'],
  ]
  const { body, bytes: totalBytes, file: bodyFile } = answer
  // The length is not known while git is still writing the pack.
  if (totalBytes === undefined) return { status: 200, headers, body }
  headers.push(['Accept-Ranges', 'bytes'])
  const range = readByteRange(wantedRange, totalBytes)
  // A client that requests a range outside the bundle gets all of it.
  if (range === undefined || range === 'outside') {
    return { status: 200, headers, body, bodyBytes: totalBytes, bodyFile }
  }
  const { start, end } = range
  headers.push(['Content-Range', `bytes ${start}-${end - 1}/${totalBytes}`])
  return { status: 206, headers, body: partOf(body, range), bodyBytes: end - start }
}

interface Bundle {
  /** Name derived from the refs, so it changes when one of them does. */
  readonly name: string
  readonly header: Buffer
  /** Body of the fetch request for the pack. */
  readonly fetchBody: Buffer
}

/** Returns the current bundle; undefined if there are no refs, or if only git can list them. */
async function describeBundle(context: Context, asked: BundleRequest): Promise<Bundle | undefined> {
  const { objectFormat } = asked.grant.repository
  const prefixes = ['ref-prefix refs/heads/\n', 'ref-prefix refs/tags/\n']
  const list = await cachedAnswer(context, asked, requestOf('ls-refs', objectFormat, prefixes))
  if (!(list?.body instanceof Uint8Array)) return undefined
  const references = readSections(Buffer.from(list.body))?.head ?? []
  if (references.length === 0) return undefined
  const version =
    objectFormat === 'sha1' ? '# v2 git bundle' : '# v3 git bundle\n@object-format=sha256'
  const header = Buffer.from(`${[version, ...references].join('\n')}\n\n`, 'latin1')
  const oids = new Set(references.map((line) => line.split(' ', 1)[0]))
  // The same arguments as those of `git clone`, so that both share one cached answer.
  const lines = ['thin-pack\n', 'no-progress\n', 'ofs-delta\n', 'done\n']
  const wants = [...oids].map((oid) => `want ${oid}\n`)
  return {
    name: `${createHash('sha256').update(header).digest('hex')}.bundle`,
    header,
    fetchBody: requestOf('fetch', objectFormat, [...lines, ...wants]),
  }
}

function requestOf(command: string, objectFormat: string, lines: readonly string[]): Buffer {
  const head = [`command=${command}\n`, `object-format=${objectFormat}`].map(packetLine).join('')
  return Buffer.from(`${head}0001${lines.map(packetLine).join('')}0000`)
}

async function cachedAnswer(
  { packCache }: Context,
  { question }: BundleRequest,
  body: Buffer,
): Promise<WarmAnswer | undefined> {
  try {
    return await packCache.answer(question, body, 2)
  } catch (error) {
    if (error instanceof UploadPackError) return undefined
    throw error
  }
}

/** Returns the stored bundle, or a new one, whose length is absent while it is not known. */
async function openBundle(
  context: Context,
  asked: BundleRequest,
  bundle: Bundle,
): Promise<WarmAnswer | undefined> {
  const { downloads } = context.packCache
  const { repositoryPath } = asked.question
  const presentKey = async () => downloads.keyOf({ repositoryPath, words: ['bundle', bundle.name] })
  const key = await presentKey()
  const stored = key === undefined ? undefined : await downloads.find(key)
  if (stored !== undefined) return { command: 'fetch', outcome: 'hit', ...stored }
  const pack = await openPack(context, asked, bundle)
  if (pack === undefined) return undefined
  const { command, outcome } = pack.answer
  const length = pack.bytes === undefined ? {} : { bytes: bundle.header.byteLength + pack.bytes }
  const chunks = streamBundle(bundle.header, pack.answer.body)
  const body = key === undefined ? chunks : downloads.keep(chunks, { key, presentKey, ...length })
  return { command, outcome, body, ...length }
}

interface Pack {
  /** Answer of git, in which the pack is split into packets. */
  readonly answer: WarmAnswer
  /** Length of the pack itself; absent while it is not known. */
  readonly bytes?: number
}

/** Lengths of packs that were read, by repository, bundle name and length of the answer. */
const bytesOfPacks = new Map<string, number>()
const PACKS_MAX = 1_000

async function openPack(
  context: Context,
  asked: BundleRequest,
  bundle: Bundle,
): Promise<Pack | undefined> {
  const answer = await cachedAnswer(context, asked, bundle.fetchBody)
  if (answer?.bytes === undefined) return answer && { answer }
  const key = `${asked.grant.repository.storage} ${bundle.name} ${answer.bytes}`
  const known = bytesOfPacks.get(key)
  if (known !== undefined) return { answer, bytes: known }
  let bytes = 0
  try {
    for await (const chunk of readPackStream(answer.body)) bytes += chunk.byteLength
  } catch (error) {
    if (error instanceof NoPack) return undefined
    throw error
  }
  if (bytesOfPacks.size >= PACKS_MAX) bytesOfPacks.clear()
  bytesOfPacks.set(key, bytes)
  // The answer was read to measure it, so it must be requested again.
  return openPack(context, asked, bundle)
}

/** Returns the bytes of the bundle. */
function streamBundle(header: Buffer, answer: WarmAnswer['body']): AsyncIterable<Uint8Array> {
  if (answer instanceof Uint8Array) return joined(header, answer)
  return closing(answer, (chunks) => joined(header, chunks))
}

async function* joined(header: Buffer, answer: WarmAnswer['body']): AsyncGenerator<Uint8Array> {
  yield header
  yield* readPackStream(answer)
}

function partOf(body: WarmAnswer['body'], range: ByteRange): WarmAnswer['body'] {
  if (body instanceof Uint8Array) return body.subarray(range.start, range.end)
  return closing(body, (chunks) => cutRange(chunks, range))
}

/** Returns the converted chunks. Closing them also closes their source, even if it is unread. */
function closing(
  chunks: AsyncIterable<Uint8Array>,
  convert: (source: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]()
  const converted = convert({ [Symbol.asyncIterator]: () => source })
  return readOnce(
    () => converted.next(),
    async () => {
      await converted.return(undefined)
      await source.return?.()
    },
  )
}
