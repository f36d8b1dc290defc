/** The certificate of the listener: read and checked before it is used. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { TlsFiles } from '../../conf/settings.js'

/** A certificate that fits its private key. */
export interface CheckedCertificate {
  readonly validFrom: Date
  readonly validTo: Date
  /** Returns true if the certificate has this host name or IP address. */
  isFor(host: string): boolean
}

/**
 * Reads the certificate and its key. Throws an Error for the user if a file cannot be read, is not
 * PEM, or if the key belongs to another certificate.
 */
export function checkCertificate(files: TlsFiles): CheckedCertificate {
  const certificate = readPem('http.tls_certificate', files.certificate, (pem) => {
    return new X509Certificate(pem)
  })
  const key = readPem('http.tls_key', files.key, (pem): KeyObject => createPrivateKey(pem))
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(
      `the private key ${files.key} (http.tls_key) does not belong to the first certificate in ${files.certificate} (http.tls_certificate): the certificate of the server comes before those of its chain`,
    )
  }
  return {
    validFrom: new Date(certificate.validFrom),
    validTo: new Date(certificate.validTo),
    isFor: (host) =>
      (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  }
}

function readPem<T>(setting: string, file: string, parse: (pem: Buffer) => T): T {
  let pem: Buffer
  try {
    pem = readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`${file} (${setting}) cannot be read by this user: ${code}`, { cause: error })
  }
  try {
    return parse(pem)
  } catch (error) {
    throw new Error(
      `${file} (${setting}) is not a PEM file that can be used without a passphrase`,
      {
        cause: error,
      },
    )
  }
}
