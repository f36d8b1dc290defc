/** `.gitmodules`: where the submodules of a repository come from (gitmodules(5)). */

/** The addresses by the paths of the submodules, as far as the text can be read. */
export function parseModules(text: string): ReadonlyMap<string, string> {
  const urls = new Map<string, string>()
  let section: { path?: string; url?: string } = {}
  for (const line of text.split('\n')) {
    if (/^\s*\[/.test(line)) section = {}
    const equals = line.indexOf('=')
    const key = line.slice(0, Math.max(0, equals)).trim().toLowerCase()
    if (key === 'path' || key === 'url') section[key] = unquoted(line.slice(equals + 1).trim())
    const { path, url } = section
    // What a terminal or a page would not show is no address.
    if (path !== undefined && url !== undefined && !/\p{Cc}/u.test(url)) urls.set(path, url)
  }
  return urls
}

/** Without a double quote at its beginning and one at its end. */
function unquoted(value: string): string {
  return value.replace(/^"/, '').replace(/"$/, '')
}
