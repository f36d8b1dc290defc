/**
 * Clones and fetches of protocol v0 and v1 over SSH (gitprotocol-pack(5)). The gateway answers
 * those without negotiation from the pack cache; git answers the others.
 */

import { createHash } from 'node:crypto'
import { firstLine } from '../../cgi/process/git.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import { KeptBytes } from '../packs/kept-bytes.js'
import { isLine, type Packet, packetLine, readPackets } from '../packs/pkt-line.js'
import { answerUploadPack, FETCH_REQUEST_BYTES_MAX, runUploadPack } from '../packs/upload-pack.js'
import { tooManyObjects } from '../packs/whole-fetch.js'
import type { Context } from '../request/context.js'
import type { Channel } from './channel.js'
import {
  advertise,
  type FetchEnd,
  type FetchOptions,
  type FetchTalk,
  holdTalk,
} from './fetch-talk.js'
import { isFlush, PacketStream, type Packets, textOf } from './packet-stream.js'
import { answerAfter, shallowSection, statefulAdvertisement } from './stateful-answer.js'

/** Bytes that each line of a client counts in addition to its own. */
const LINE_BYTES = 64

/** Length of an empty line, which git reads as a line. */
const EMPTY_LENGTH = 4

/** Answers a client until it has its pack, or wants none. Never rejects. */
export function serveStatefulFetch(
  context: Context,
  channel: Channel,
  options: FetchOptions,
): Promise<FetchEnd> {
  const converse = async (talk: FetchTalk) => {
    const packets = new PacketStream({
      read: talk.read,
      isMark: (length) => length === 0 || length === EMPTY_LENGTH,
    })
    await talk.say(statefulAdvertisement(await advertise(context, channel, options)))
    const request = new KeptBytes()
    try {
      await readRequest(packets, request)
      await answer({ context, channel, options, talk, packets, request })
    } finally {
      request.close()
    }
  }
  return holdTalk(context, channel, { options, converse })
}

/** Reads the wants and the limits of the history, up to the flush. */
async function readRequest(packets: PacketStream, request: KeptBytes): Promise<void> {
  const count = boundRound()
  for (;;) {
    const part = await packets.take(isFlush)
    if (part === undefined) throw new Failure('bad_request', 'The request is incomplete.')
    count(part)
    request.append(part.bytes)
    if (part.end !== undefined) return
  }
}

/** Returns a function that throws `payload_too_large` if the packets of a round are too many. */
function boundRound(): (packets: Packets) => void {
  let bytes = 0
  return (packets) => {
    bytes += packets.bytes.byteLength + packets.count * LINE_BYTES
    if (bytes > FETCH_REQUEST_BYTES_MAX) throw tooManyObjects()
  }
}

interface Fetch {
  readonly context: Context
  readonly channel: Channel
  readonly options: FetchOptions
  readonly talk: FetchTalk
  /** The client's packets after the request. */
  readonly packets: PacketStream
  /** Packets up to the first flush. */
  readonly request: KeptBytes
}

async function answer(fetch: Fetch): Promise<void> {
  const { packets, talk } = fetch
  const request = fetch.request.inMemory
  const lines = (request && readPackets(request)) ?? []
  // A flush alone: the client wants nothing, as `git ls-remote`.
  if (lines.length === 1) return
  const [first] = lines
  // Git answers requests that the pack cache would leave to it, and reports errors.
  if (request === undefined || !isLineOf('want ', first)) return answerByGit(fetch, undefined)
  const isLimited = lines.some((line) => isLineOf('deepen', line))
  const section = isLimited ? await sendSection(fetch, request) : undefined
  const next = await packets.peek()
  if (next === undefined) throw new Failure('bad_request', 'The request is incomplete.')
  if (textOf(next) !== 'done') return answerByGit(fetch, section)
  const body = await askStateless(fetch, [request, Buffer.from(packetLine('done\n'))])
  await talk.say(answerAfter(body, { hasRefs: false, section }))
}

function isLineOf(prefix: string, packet: Packet | undefined): boolean {
  return packet !== undefined && isLine(packet) && packet.startsWith(prefix)
}

/** Sends the shallow section, without which the client does not go on; returns its digest. */
async function sendSection(fetch: Fetch, request: Buffer): Promise<string> {
  const hash = createHash('sha256')
  await fetch.talk.say(shallowSection(await askStateless(fetch, [request]), hash))
  return hash.digest('hex')
}

/** Returns the answer to a request in the form of HTTP, so that both share stored answers. */
async function askStateless({ context, channel, options, talk }: Fetch, parts: readonly Buffer[]) {
  await talk.authorize()
  const body = (async function* () {
    yield* parts
  })()
  const { body: answer } = await answerUploadPack(context, {
    ...options,
    request: channel,
    gitProtocol: undefined,
    body,
    client: () => options.client,
  })
  return answer
}

/** Connects the client with git, which gets the request again and negotiates. */
async function answerByGit(fetch: Fetch, section: string | undefined): Promise<void> {
  const { context, channel, options, talk } = fetch
  await talk.authorize()
  const { body, ended } = await runUploadPack(context, {
    ...options,
    request: channel,
    body: clientRounds(fetch),
    client: () => options.client,
    isStateful: true,
  })
  await talk.say(answerAfter(body, { hasRefs: true, section }))
  const { exitCode, errorText } = await ended
  if (exitCode !== 0) throw new UploadPackError(firstLine(errorText))
}

/**
 * Yields the request and then the rounds of the negotiation. Each round is bounded, as each request
 * over HTTP; their number is not, because a client may have any number of unknown commits.
 */
async function* clientRounds({ request, packets, talk }: Fetch): AsyncGenerator<Uint8Array> {
  yield* request.replay()
  let count = boundRound()
  for (;;) {
    const part = await packets.take(isRoundEnd)
    if (part === undefined) return
    count(part)
    if (part.end !== undefined) {
      await talk.authorize()
      count = boundRound()
    }
    yield part.bytes
  }
}

function isRoundEnd(packet: Buffer): boolean {
  return isFlush(packet) || textOf(packet) === 'done'
}
