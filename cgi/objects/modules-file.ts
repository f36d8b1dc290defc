/** Parser of `.gitmodules`, which lists the URLs of submodules (gitmodules(5)). */

/** Returns the URLs of the submodules by their paths. Malformed lines are skipped. */
export function parseModules(text: string): ReadonlyMap<string, string> {
  const urls = new Map<string, string>()
  let section: { path?: string; url?: string } = {}
  for (const line of text.split('\n')) {
    if (/^\s*\[/.test(line)) section = {}
    const equals = line.indexOf('=')
    const key = line.slice(0, Math.max(0, equals)).trim().toLowerCase()
    if (key !== 'path' && key !== 'url') continue
    const value = unquoted(line.slice(equals + 1).trim())
    // A URL with control characters is skipped, because pages and terminals do not show them.
    if (key === 'url' && /\p{Cc}/u.test(value)) delete section.url
    else section[key] = value
    const { path, url } = section
    if (path !== undefined && url !== undefined) urls.set(path, url)
  }
  return urls
}

/** Removes a double quote at the beginning and one at the end. */
function unquoted(value: string): string {
  return value.replace(/^"/, '').replace(/"$/, '')
}
