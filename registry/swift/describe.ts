/** The description of a Swift package, from the metadata of its release. */

import { type Describe, objectOf, textOf, textsOf } from '../description.js'

export const describe: Describe = (release) => {
  const metadata = objectOf(release['metadata'])
  const author = objectOf(metadata['author'])
  return {
    summary: textOf(metadata['description']),
    license: textOf(metadata['license']) ?? textOf(metadata['licenseURL']),
    homepage: textOf(metadata['codeRepository']) ?? textsOf(metadata['repositoryURLs'])[0],
    authors: textsOf(author['name']),
    // They are in the manifest, which is a program.
    dependencies: [],
  }
}
