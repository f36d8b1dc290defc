/** Clone URLs of repositories. */

import type { Settings } from '../../../conf/settings.js'

/** Returns the URL for HTTP. `fullName` is `owner/name`. */
export function cloneUrl({ http }: Pick<Settings, 'http'>, fullName: string): string {
  return `${http.baseUrl}/${fullName}.git`
}

/** Returns the URL for SSH, in the short form if the port is 22. */
export function sshUrl({ ssh }: Pick<Settings, 'ssh'>, fullName: string): string {
  const { user, host, port } = ssh
  if (port === 22) return `${user}@${host}:${fullName}.git`
  return `ssh://${user}@${host}:${port}/${fullName}.git`
}
