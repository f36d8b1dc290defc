/** Check of `gatehouse doctor` on the proxy that sends files for the gateway. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Settings } from '../../conf/settings.js'
import { probePath, SENT_BY_GATEWAY, SENT_BY_PROXY } from '../http/sendfile.js'
import { askSite } from './ask-site.js'

/** Requests a file through the proxy, to see whether the proxy sends it. Rejects if stopped. */
export async function checkSendfile(
  { data, http }: Settings,
  stopped?: AbortSignal,
): Promise<string> {
  if (http.sendfile === undefined) return 'off (http.sendfile is not set)'
  const path = probePath(data.dir)
  const url = `${http.baseUrl}/sendfilez`
  await mkdir(dirname(path), { recursive: true, mode: 0o750 })
  await writeFile(path, SENT_BY_PROXY, { mode: 0o640 })
  try {
    const { status, headers, body } = await askSite(url, stopped)
    const text = body.toString()
    if (text === SENT_BY_PROXY) return `nginx sends files of ${data.dir}`
    const advice = `the alias of its location ${http.sendfile.prefix} must be ${data.dir}/, and nginx must be able to read ${path}`
    if (headers['x-accel-redirect'] !== undefined) {
      throw new Error(`the proxy of ${http.baseUrl} does not act on X-Accel-Redirect: use nginx`)
    }
    if (text !== SENT_BY_GATEWAY) throw new Error(`${url} answered ${status}: ${advice}`)
    throw new Error(
      `the gateway sent ${url} itself: reload it, and see that the proxy is in http.trusted_proxies and sends X-Forwarded-For`,
    )
  } finally {
    await rm(path, { force: true })
  }
}
