/** `.gitmodules`: where the submodules of a repository come from (gitmodules(5)). */

/** The addresses by the paths of the submodules, as far as the text can be read. */
export function parseModules(text: string): ReadonlyMap<string, string> {
  const urls = new Map<string, string>()
  let section: { path?: string; url?: string } = {}
  for (const line of text.split('\n')) {
    if (/^\s*\[/.test(line)) section = {}
    const [, key = '', value = ''] = /^\s*(path|url)\s*=\s*"?(.*?)"?\s*$/i.exec(line) ?? []
    if (key.toLowerCase() === 'path') section.path = value
    if (key.toLowerCase() === 'url') section.url = value
    const { path, url } = section
    // What a terminal or a page would not show is no address.
    if (path !== undefined && url !== undefined && !/\p{Cc}/u.test(url)) urls.set(path, url)
  }
  return urls
}
