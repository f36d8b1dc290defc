/** The index of one distribution: Packages and Contents files, Release and its signatures. */

import { gzipText } from '../archive/gzip-file.js'
import { xzText } from '../archive/xz-file.js'
import type { FileContent, IndexMaker, IndexText, WrittenFile } from '../index-maker.js'
import { makeOpenpgpKey, openSigner } from '../sign/openpgp.js'
import { contentsBytes, renderContents, renderPackages, SOURCE } from './packages-index.js'
import { releaseText } from './release.js'

export const DISTRIBUTION: IndexMaker = {
  revision: 2,
  makeSigningKey: (ownerName, { debianKeyType }) =>
    makeOpenpgpKey(`${ownerName} (Debian Registry)`, debianKeyType),
  validMs: ({ debianIndexValidMs }) => debianIndexValidMs,
  formsOf: (name) => (isContents(name) ? ['plain', 'deflated'] : ['plain', 'deflated', 'xz']),
  render: async (entries, { subject }) =>
    new Map([...renderPackages(entries, subject), ...(await renderContents(entries))]),
  bytesOf: contentsBytes,
  async build({ subject, changedAtMs, validMs, texts, signingKeys }, output) {
    const files: WrittenFile[] = []
    for (const [name, text] of texts) {
      const path = isContents(name) ? contentsPath(name) : packagesPath(name)
      for (const [suffix, content] of packedForms(text)) {
        files.push(await output.write(`${path}${suffix}`, content))
      }
    }
    const parts = [...texts.keys()].filter((name) => !isContents(name))
    const release = releaseText({ name: subject, changedAtMs, validMs, parts, files })
    const signer = await openSigner(await signingKeys(), { atMs: changedAtMs })
    const write = (path: string, text: string) => output.write(path, [Buffer.from(text)])
    await write('Release', release)
    await write('InRelease', await signer.clearSign(release))
    await write('Release.gpg', await signer.signDetached(release))
  },
}

/** Returns true for the name of a text with paths, `component/architecture/Contents`. */
function isContents(name: string): boolean {
  return name.split('/').length === 3
}

/** Returns the path of the Contents file of such a text, such as `main/Contents-amd64`. */
function contentsPath(name: string): string {
  const [component, architecture] = name.split('/')
  return `${component}/Contents-${architecture}`
}

/** Returns the path of the Packages file of `component/architecture`, or of a Sources file. */
export function packagesPath(part: string): string {
  if (part.endsWith(`/${SOURCE}`)) return `${part}/Sources`
  return `${part.replace('/', '/binary-')}/Packages`
}

/**
 * Returns a text in each form that clients can choose from. The plain form is always
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
