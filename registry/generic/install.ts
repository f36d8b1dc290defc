/** Instructions for downloading the files of a package. */

import { IN_A_SHELL, type Install, shellWord } from '../install.js'

export const install: Install = ({ registryUrl, packageName, version, files }) => {
  const urls = files.map(({ name }) =>
    [registryUrl, ...[packageName, version, name].map(encodeURIComponent)].join('/'),
  )
  return [{ where: IN_A_SHELL, text: urls.map((url) => `curl -fO ${shellWord(url)}`).join('\n') }]
}
