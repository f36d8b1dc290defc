/** All files below one distribution: lists of packages, what it says of them, and signatures. */

import { once } from 'node:events'
import { createGzip, type Gzip } from 'node:zlib'
import type { IndexInput, IndexMaker, IndexOutput, WrittenFile } from '../format.js'
import { makeOpenpgpKey, openSigner } from '../sign/openpgp.js'
import { packagesText } from './packages-index.js'
import { releaseText } from './release.js'

export const DISTRIBUTION: IndexMaker = {
  makeSigningKey: (ownerName) => makeOpenpgpKey(`${ownerName} (Debian Registry)`),
  async build(input, output) {
    const { subject, changedAtMs } = input
    const parts = await input.parts()
    if (parts.length === 0) return
    const files: WrittenFile[] = []
    for (const part of parts) files.push(...(await writePackages(input, output, part)))
    const release = releaseText({ name: subject, changedAtMs, parts, files })
    const { privateKey } = await input.signingKey()
    const signer = await openSigner(privateKey, { atMs: changedAtMs })
    const write = (path: string, text: string) => output.write(path, Buffer.from(text))
    await write('Release', release)
    await write('InRelease', await signer.clearSign(release))
    await write('Release.gpg', await signer.signDetached(release))
  },
}

/** The path of a list, without what it is packed with. */
export function packagesPath(component: string, architecture: string): string {
  return `${component}/binary-${architecture}/Packages`
}

/** Both forms at once: a client unpacks the one and compares it with the other. */
async function writePackages(
  input: IndexInput,
  output: IndexOutput,
  part: string,
): Promise<readonly WrittenFile[]> {
  const [component = '', architecture = ''] = part.split('/')
  const path = packagesPath(component, architecture)
  // What goes wrong with it may do so before anybody reads it.
  const gzip = createGzip().on('error', () => {})
  const isLost = new AbortController()
  const packing = output.write(`${path}.gz`, gzip).catch((error: unknown) => {
    isLost.abort(error)
    throw error
  })
  const text = packagesText(input.entries(part), { distribution: input.subject, component })
  const writing = output.write(path, copied(text, gzip, isLost.signal)).catch((error: unknown) => {
    gzip.destroy(error as Error)
    throw error
  })
  // Nothing is being written any more when this ends, whatever became of either.
  await Promise.allSettled([packing, writing])
  const [packed, plain] = await Promise.all([packing, writing])
  return [plain, packed]
}

/** Hands on what it reads, to gzip as well, at the pace of the slower. */
async function* copied(
  chunks: AsyncIterable<Uint8Array>,
  gzip: Gzip,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (!gzip.write(chunk)) await once(gzip, 'drain', { signal })
    yield chunk
  }
  gzip.end()
}
