/** Checks of `gatehouse doctor` on http.base_url, as clients see it, and on the clock. */

import { isIP } from 'node:net'
import { connect, type PeerCertificate } from 'node:tls'
import { findInstanceSecret } from '../../conf/instance-secret.js'
import { reasonOf } from '../../conf/lib/reason-of.js'
import type { Settings } from '../../conf/settings.js'
import { countListeners } from '../http/port-listeners.js'
import { resolveHost } from '../outbound/address.js'
import { askSite } from './ask-site.js'
import { SITE_HEADER } from './site-identity.js'

const ANSWER_MS = 10_000
const DAY_MS = 86_400_000
/** Time before the end of a certificate from which its renewal is overdue. */
const RENEWAL_MS = 7 * DAY_MS
/** Maximum difference of clocks: one-time codes are valid for 30 seconds before and after. */
const CLOCK_MS_MAX = 30_000

/**
 * Requests http.base_url as a client does. Throws an Error that names the fault, or if `stopped` is
 * aborted.
 */
export async function checkAddress(
  { http, data }: Settings,
  stopped?: AbortSignal,
): Promise<string> {
  const url = new URL(http.baseUrl)
  if (['0.0.0.0', '[::]'].includes(url.hostname)) {
    throw new Error(
      `clone URLs begin with ${http.baseUrl}, which no client can open: set http.base_url to the name of the server`,
    )
  }
  const listeners = await Promise.all(http.listen.map(({ port }) => countListeners(port)))
  if (!listeners.some((count) => count > 0)) {
    await resolveHost(url.hostname).catch((error: unknown) => {
      throw new Error(
        `${http.baseUrl} cannot be requested (${reasonOf(error)}): correct http.base_url or the name server`,
      )
    })
    return `${http.baseUrl} was not requested, because the server does not run`
  }
  if (url.protocol === 'https:') await checkCertificate(url, stopped)
  const probe = `${http.baseUrl}/livez`
  const { status, headers } = await askSite(probe, stopped)
  const own = (await findInstanceSecret(data.dir))?.fingerprint
  if (headers[SITE_HEADER.toLowerCase()] !== own) {
    throw new Error(
      `${probe} answered ${status}, but not from this server: correct http.base_url or the proxy`,
    )
  }
  refuseClockOf(`the answer of ${probe}`, Date.parse(headers['date'] ?? ''))
  return `${http.baseUrl} is answered by this server`
}

/** Throws an Error if the time, which another machine has just returned, is not the local time. */
export function refuseClockOf(source: string, timeMs: number): void {
  const differenceMs = Date.now() - timeMs
  if (!(Math.abs(differenceMs) > CLOCK_MS_MAX)) return
  const seconds = Math.round(Math.abs(differenceMs) / 1_000)
  const side = differenceMs > 0 ? 'ahead of' : 'behind'
  throw new Error(
    `the clock of this machine is ${seconds} s ${side} that of ${source}: synchronize both clocks (systemd-timesyncd or chrony)`,
  )
}

/** Throws an Error if clients refuse the certificate, or if it ends soon. */
async function checkCertificate(url: URL, stopped?: AbortSignal): Promise<void> {
  const { certificate, refusal } = await readCertificate(url, stopped)
  const endsAtMs = Date.parse(certificate.valid_to)
  const day = Number.isNaN(endsAtMs) ? '' : new Date(endsAtMs).toISOString().slice(0, 10)
  if (endsAtMs < Date.now()) {
    throw new Error(`the certificate of ${url.host} expired on ${day}: renew it`)
  }
  if (refusal !== undefined) {
    throw new Error(
      `clients refuse the certificate of ${url.host} (${refusal}): install one of a known authority, with all intermediate certificates`,
    )
  }
  if (endsAtMs < Date.now() + RENEWAL_MS) {
    throw new Error(`the certificate of ${url.host} expires on ${day}: renew it`)
  }
}

interface ServerCertificate {
  readonly certificate: PeerCertificate
  /** Reason why a client of this machine refuses it. */
  readonly refusal: string | undefined
}

function readCertificate(url: URL, stopped?: AbortSignal): Promise<ServerCertificate> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(url.port || 443), rejectUnauthorized: false }
    const socket = connect({ ...options, ...servername }, () => {
      const { authorizationError: error } = socket
      const refusal = socket.authorized ? undefined : String(error)
      resolve({ certificate: socket.getPeerCertificate(), refusal })
      socket.destroy()
    })
    const fail = (reason: string) => {
      socket.destroy()
      reject(new Error(`${url.origin} does not accept TLS (${reason}): correct http.base_url`))
    }
    socket.setTimeout(ANSWER_MS, () => fail('no answer'))
    stopped?.addEventListener('abort', () => fail('stopped'))
    socket.on('error', (error) => fail(reasonOf(error)))
  })
}
