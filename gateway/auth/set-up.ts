/** Authorization to create the first account, for clients on this machine or with the code. */

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAddressSet } from '../../conf/addresses.js'
import { notFound } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Settings } from '../../conf/settings.js'
import { hasUsers } from '../../sql/admin/site.js'
import type { Database } from '../../sql/database/database.js'
import type { Throttle } from './throttle.js'
import { newToken } from './token.js'

const FILE = 'set-up.code'

/** Time for which a code is given out; another gateway may have shown it at its start. */
const GIVEN_OUT_MS = 86_400_000

/**
 * Returns the code, which is valid in all workers of all gateways. Stores a new one if there is
 * none yet, or if it is a day old.
 */
export async function setUpCodeOf(dataDir: string): Promise<string> {
  const path = join(dataDir, FILE)
  const found = await unlessMissing(stat(path))
  if (found !== undefined && found.mtimeMs > Date.now() - GIVEN_OUT_MS) {
    const code = await unlessMissing(readFile(path, 'utf8'))
    if (code !== undefined) return code
  }
  const part = `${path}.${randomUUID()}`
  await writeFile(part, newToken(), { mode: 0o600 })
  if (found === undefined) {
    // Fails if another gateway has just stored a code, which is then the one that is valid.
    await link(part, path).catch(() => {})
    await rm(part, { force: true })
  } else {
    await rename(part, path)
  }
  return await readFile(path, 'utf8')
}

/** Deletes the code, which has no use once there is an account. */
export async function forgetSetUpCode(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true })
}

interface SetUpContext {
  readonly db: Database
  readonly settings: Settings
  readonly throttle: Throttle
}

/**
 * Authorizes the creation of the first account. Throws `not_found` for a client on another machine
 * without the code and if there is an account already, and `throttled` after too many codes.
 */
export async function authorizeSetUp(
  { db, settings, throttle }: SetUpContext,
  request: Request,
  code: string,
): Promise<void> {
  if (await hasUsers(db)) throw notFound()
  if (isAtMachine(request, settings)) return
  if (code === '') throw notFound()
  await throttle.makeAccount(request.address)
  const kept = await unlessMissing(readFile(join(settings.data.dir, FILE), 'utf8'))
  if (kept === undefined || !isSame(code, kept)) throw notFound()
}

const LOOPBACK = parseAddressSet(['127.0.0.0/8', '::1'])
const FORWARDING = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/

/**
 * True if a program on this machine sent the request directly. A proxy on this machine sends other
 * machines' requests from here, so none may have forwarding headers. A browser on this machine
 * sends requests of any site whose name resolves to this address (DNS rebinding), so the header
 * Host must be a loopback name.
 */
export function isAtMachine(request: Request, { http }: Pick<Settings, 'http'>): boolean {
  return (
    LOOPBACK.has(request.address) &&
    isLoopback(http.baseUrl) &&
    isLoopback(`http://${request.headers.get('host')}`) &&
    ![...request.headers].some(([name]) => FORWARDING.test(name))
  )
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === 'localhost' || LOOPBACK.has(hostname.replace(/^\[(.*)\]$/, '$1'))
}

function isSame(given: string, kept: string): boolean {
  const [a, b] = [given, kept].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
