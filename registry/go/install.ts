/** Instructions for installing a module with go. */

import { IN_A_SHELL, type Install, shellWord } from '../install.js'

export const install: Install = ({ registryUrl, packageName, version }) => {
  const words = [
    `GOPROXY=${shellWord(`${registryUrl},direct`)}`,
    `GONOSUMDB=${shellWord(packageName)}`,
    `go get ${shellWord(`${packageName}@${version}`)}`,
  ]
  return [{ where: IN_A_SHELL, text: words.join(' ') }]
}
