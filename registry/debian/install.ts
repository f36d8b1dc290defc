/** Instructions for installing a package with apt. */

import { type Install, keyPartsOf, shellWord } from '../install.js'

const KEY_FILE = '/etc/apt/keyrings/gatehouse.asc'
const LIST_FILE = '/etc/apt/sources.list.d/gatehouse.list'

export const install: Install = ({ registryUrl, packageName, version, files }) => {
  const [distribution = '', component = ''] = keyPartsOf(files)
  const source = `deb [signed-by=${KEY_FILE}] ${registryUrl} ${distribution} ${component}`
  const lines = [
    `curl -fo ${KEY_FILE} ${shellWord(`${registryUrl}/repository.key`)}`,
    `echo ${shellWord(source)} > ${LIST_FILE}`,
    `apt-get update && apt-get install ${shellWord(`${packageName}=${version}`)}`,
  ]
  return [{ where: 'As root', text: lines.join('\n') }]
}
