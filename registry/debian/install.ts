/** Instructions for installing a package, or downloading a source package, with apt. */

import { type Install, keyPartsOf, shellWord } from '../install.js'
import { readSourceFileName } from './source-names.js'

const KEY_FILE = '/etc/apt/keyrings/gatehouse.asc'
const LIST_FILE = '/etc/apt/sources.list.d/gatehouse.list'

export const install: Install = ({ registryUrl, packageName, version, files }) => {
  const [distribution = '', component = ''] = keyPartsOf(files)
  const isSource = files.every(({ name }) => readSourceFileName(name) !== undefined)
  const type = isSource ? 'deb-src' : 'deb'
  const source = `${type} [signed-by=${KEY_FILE}] ${registryUrl} ${distribution} ${component}`
  const wanted = isSource ? packageName : `${packageName}=${version}`
  const lines = [
    `curl -fo ${KEY_FILE} ${shellWord(`${registryUrl}/repository.key`)}`,
    `echo ${shellWord(source)} > ${LIST_FILE}`,
    `apt-get update && apt-get ${isSource ? 'source' : 'install'} ${shellWord(wanted)}`,
  ]
  return [{ where: 'As root', text: lines.join('\n') }]
}
