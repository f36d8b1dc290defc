/** Instructions for installing a package with Composer. */

import { type Install, shellWord } from '../install.js'

export const install: Install = ({ registryUrl, packageName, version }) => {
  const lines = [
    `composer config repositories.gatehouse composer ${shellWord(registryUrl)}`,
    `composer require ${shellWord(`${packageName}:${version}`)}`,
  ]
  return [{ where: 'In the folder of your composer.json', text: lines.join('\n') }]
}
