/** Where a repository is cloned from. */

import type { Settings } from '../../../conf/settings.js'

/** Over HTTPS; `fullName` is `owner/name`. */
export function cloneUrl({ http }: Pick<Settings, 'http'>, fullName: string): string {
  return `${http.baseUrl}/${fullName}.git`
}

/** Over SSH, in the short form where the port is the usual one. */
export function sshUrl({ ssh }: Pick<Settings, 'ssh'>, fullName: string): string {
  const { user, host, port } = ssh
  if (port === 22) return `${user}@${host}:${fullName}.git`
  return `ssh://${user}@${host}:${port}/${fullName}.git`
}
