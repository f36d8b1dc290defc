/** Check of `gatehouse doctor` on the certificate with which the gateway serves HTTPS. */

import type { Settings } from '../../conf/settings.js'
import { checkCertificate } from '../http/certificate.js'

const DAY_MS = 86_400_000
/** Programs that renew certificates do so weeks before the end. */
const VALID_DAYS_MIN = 7

/** Checks the dates of the certificate and the names for which it is valid. */
export async function checkTls({ http: { tls, baseUrl } }: Settings): Promise<string> {
  if (tls === undefined) return 'off (http.tls_certificate is not set)'
  const { validFrom, validTo, isFor } = checkCertificate(tls)
  const dates = `valid from ${dayOf(validFrom)} to ${dayOf(validTo)}`
  const days = (validTo.getTime() - Date.now()) / DAY_MS
  if (validFrom.getTime() > Date.now() || days < VALID_DAYS_MIN) {
    throw new Error(
      `${tls.certificate} is ${dates}: renew it ${VALID_DAYS_MIN} days before its end, then run 'systemctl reload gatehouse'`,
    )
  }
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (!isFor(host)) {
    throw new Error(`${tls.certificate} does not name ${host}, the host of http.base_url`)
  }
  return `for ${host}, ${dates}`
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
