/** Instructions for installing a package with apk. */

import { type Install, keyPartsOf, shellWord } from '../install.js'

export const install: Install = ({ registryUrl, packageName, version, files }) => {
  const [branch = '', repository = ''] = keyPartsOf(files)
  const lines = [
    `(cd /etc/apk/keys && curl -fJO ${shellWord(`${registryUrl}/key`)})`,
    `echo ${shellWord(`${registryUrl}/${branch}/${repository}`)} >> /etc/apk/repositories`,
    `apk update && apk add ${shellWord(`${packageName}=${version}`)}`,
  ]
  return [{ where: 'As root', text: lines.join('\n') }]
}
