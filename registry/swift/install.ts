/** Instructions for depending on a package with SwiftPM. */

import { IN_A_SHELL, type Install, shellWord } from '../install.js'

export const install: Install = ({ registryUrl, packageName, version }) => {
  const line = `.package(id: ${JSON.stringify(packageName)}, from: ${JSON.stringify(version)})`
  return [
    { where: IN_A_SHELL, text: `swift package-registry set ${shellWord(registryUrl)}` },
    { where: 'In Package.swift', text: line },
  ]
}
