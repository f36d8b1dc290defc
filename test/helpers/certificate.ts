/** Certificates of servers, which sign themselves, by the openssl of the system. */

import { execFileSync } from 'node:child_process'
import type { TlsFiles } from '../../conf/settings.js'

interface CertificateOptions {
  readonly days?: number
  /** Names as in the extension subjectAltName. */
  readonly names?: readonly string[]
}

/** Writes a certificate, by default for 127.0.0.1 and 2 days, and its key to files. */
export function makeCertificate(
  { certificate, key }: TlsFiles,
  { days = 2, names = ['IP:127.0.0.1'] }: CertificateOptions = {},
): void {
  const subject = ['-subj', '/CN=gatehouse', '-addext', `subjectAltName=${names.join(',')}`]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-days', String(days), ...kind, ...subject, ...files], {
    stdio: 'ignore',
  })
}
