/** Instructions for installing a package with R. */

import type { Install } from '../install.js'

export const install: Install = ({ registryUrl, packageName }) => {
  // JSON's escape sequences are valid in strings of R.
  const [name, url] = [packageName, registryUrl].map((text) => JSON.stringify(text))
  const text = `install.packages(${name}, repos = c(${url}, getOption("repos")))`
  return [{ where: 'In R', text }]
}
