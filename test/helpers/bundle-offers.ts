/** Requests for a server's bundle, as in protocol v2 (`command=bundle-uri`). */

import { setTimeout as sleep } from 'node:timers/promises'
import { type FetchReply, postFetch } from './fetch-answers.js'
import { packetLine } from './git-requests.js'

export interface OfferRequest {
  readonly port: number
  /** Path of the repository, as `/owner/name.git`. */
  readonly path: string
  readonly objectFormat?: 'sha1' | 'sha256'
  readonly authorization?: string
}

/** Returns the request body as git 2.47 sends it. */
export function bundleRequest(objectFormat: 'sha1' | 'sha256' = 'sha1'): Buffer {
  const lines = ['agent=git/2.47.3', `object-format=${objectFormat}`, 'command=bundle-uri\n']
  return Buffer.from(`${lines.map(packetLine).join('')}00010000`)
}

/** Sends the request; returns the complete reply. */
export function askOffer({ objectFormat, ...request }: OfferRequest): Promise<FetchReply> {
  return postFetch({ ...request, body: bundleRequest(objectFormat) })
}

/** Returns the path of the offered bundle; undefined if the server offers none. */
export async function offeredBundle(request: OfferRequest): Promise<string | undefined> {
  const { body } = await askOffer(request)
  const [, uri] = /bundle\.all\.uri=(bundles\/[0-9a-f]{64}\.bundle)0000$/.exec(`${body}`) ?? []
  return uri === undefined ? undefined : `${request.path}/${uri}`
}

/** Waits until a bundle is offered, which needs the repository's size; returns its path. */
export async function untilOffered(request: OfferRequest): Promise<string> {
  for (const deadlineMs = Date.now() + 60_000; Date.now() < deadlineMs; await sleep(50)) {
    const path = await offeredBundle(request)
    if (path !== undefined) return path
  }
  throw new Error('no bundle was offered within 60 s')
}

/** Requests a bundle until it is answered from the cache, shortly after its first download. */
export async function untilCached(url: string, headers: Record<string, string> = {}) {
  for (const deadlineMs = Date.now() + 60_000; Date.now() < deadlineMs; await sleep(50)) {
    const reply = await fetch(url, { headers })
    const bytes = Buffer.from(await reply.arrayBuffer())
    if (reply.headers.has('content-length')) return { reply, bytes }
  }
  throw new Error('the bundle was not cached within 60 s')
}
