/** The index of one distribution: Packages files, Release and its signatures. */

import { gzipText } from '../archive/gzip-file.js'
import { xzText } from '../archive/xz-file.js'
import type { FileContent, IndexMaker, IndexText, WrittenFile } from '../index-maker.js'
import { makeOpenpgpKey, openSigner } from '../sign/openpgp.js'
import { renderPackages } from './packages-index.js'
import { releaseText } from './release.js'

export const DISTRIBUTION: IndexMaker = {
  revision: 1,
  makeSigningKey: (ownerName, { debianKeyType }) =>
    makeOpenpgpKey(`${ownerName} (Debian Registry)`, debianKeyType),
  validMs: ({ debianIndexValidMs }) => debianIndexValidMs,
  formsOf: () => ['plain', 'deflated', 'xz'],
  render: (entries, { subject }) => renderPackages(entries, subject),
  async build({ subject, changedAtMs, validMs, texts, signingKeys }, output) {
    const files: WrittenFile[] = []
    for (const [part, text] of texts) {
      for (const [suffix, content] of packedForms(text)) {
        files.push(await output.write(`${packagesPath(part)}${suffix}`, content))
      }
    }
    const parts = [...texts.keys()]
    const release = releaseText({ name: subject, changedAtMs, validMs, parts, files })
    const signer = await openSigner(await signingKeys(), { atMs: changedAtMs })
    const write = (path: string, text: string) => output.write(path, [Buffer.from(text)])
    await write('Release', release)
    await write('InRelease', await signer.clearSign(release))
    await write('Release.gpg', await signer.signDetached(release))
  },
}

/** Returns the path of the Packages file of `component/architecture`. */
export function packagesPath(part: string): string {
  return `${part.replace('/', '/binary-')}/Packages`
}

/**
 * Returns a Packages file in each form that clients can choose from. The plain form is always
 * included, because clients check the decompressed file with its checksums.
 */
function packedForms(text: IndexText): ReadonlyArray<readonly [suffix: string, FileContent]> {
  const { plain, xz } = text.forms
  return [
    ['', plain === undefined ? [] : [plain]],
    ['.gz', gzipText([text])],
    ...(xz === undefined ? [] : [['.xz', xzText(text)] as const]),
  ]
}
