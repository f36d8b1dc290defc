/** A key for code signing, with a certificate of a test authority. */

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Names of DER files: the signer's key and certificate, and the authority's certificate. */
export interface CodeSigner {
  readonly key: string
  readonly certificate: string
  readonly authority: string
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const

/** Creates the files in the folder. */
export async function makeCodeSigner(folder: string): Promise<CodeSigner> {
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']
  const added = extensions.flatMap((extension) => ['-addext', extension])
  const days = ['-days', '2'] as const
  openssl(
    'req',
    '-x509',
    '-subj',
    '/CN=Authority',
    ...days,
    ...CURVE,
    ...added,
    '-keyout',
    'authority.key',
    '-out',
    'authority.pem',
  )
  openssl('x509', '-in', 'authority.pem', '-outform', 'DER', '-out', 'authority.cer')
  openssl('req', '-subj', '/CN=Ada/O=Acme', ...CURVE, '-keyout', 'ada.key', '-out', 'ada.csr')
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', 'ada.key', '-outform', 'DER', '-out', 'ada.der')
  const usage = 'keyUsage=critical,digitalSignature\nextendedKeyUsage=codeSigning\n'
  await writeFile(join(folder, 'usage'), `basicConstraints=critical,CA:FALSE\n${usage}`)
  openssl(
    'x509',
    '-req',
    '-in',
    'ada.csr',
    '-CA',
    'authority.pem',
    '-CAkey',
    'authority.key',
    '-CAcreateserial',
    ...days,
    '-extfile',
    'usage',
    '-outform',
    'DER',
    '-out',
    'ada.cer',
  )
  return { key: 'ada.der', certificate: 'ada.cer', authority: 'authority.cer' }
}
