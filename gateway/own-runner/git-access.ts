/** Access of git to the repositories of the server. */

/**
 * Returns variables that configure git. The token is a header for the server only. It is neither in
 * .git/config, nor in the arguments of a process, which all users of the machine can read.
 */
export function gitEnvironment(instance: string, token: string): Record<string, string> {
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: `http.${instance}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${credentials}`,
    GIT_CONFIG_KEY_1: 'http.followRedirects',
    GIT_CONFIG_VALUE_1: 'false',
  }
}

/** Returns true for a ref or commit that is neither an option of git nor a refspec. */
export function isPlainRef(ref: string): boolean {
  return /^[^\s:+^~?*[\\-][^\s:^~?*[\\]*$/.test(ref)
}
