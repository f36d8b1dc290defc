/** Detection of the license of a text, by the texts of the SPDX list. */

import { findLicense, listLicenses } from './templates.js'

/** Identifiers by normalized text. */
let known: Promise<ReadonlyMap<string, string>> | undefined

/**
 * Returns the SPDX identifiers of a license file: of the license whose text it has, apart from
 * case, spaces, signs, the title and copyright notices; or else those of its lines with
 * `SPDX-License-Identifier`. Takes long on the first call, which reads all licenses.
 */
export async function detectLicenses(text: string): Promise<readonly string[]> {
  known ??= readKnown()
  const licenses = await known
  const whole = licenses.get(normalized(text))
  if (whole !== undefined) return [whole]
  const keys = new Set(await listLicenses())
  const named = [...text.matchAll(/SPDX-License-Identifier:[ \t]*([\w.+-]{1,100})/g)]
  return [...new Set(named.map(([, key = '']) => key))].filter((key) => keys.has(key))
}

async function readKnown(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const key of await listLicenses()) {
    const license = await findLicense(key)
    const text = normalized(license?.text ?? '')
    const other = texts.get(text)
    // GPL-3.0, GPL-3.0-only and GPL-3.0-or-later have the same text; the file does not say which.
    if (other === undefined || key.length < other.length) texts.set(text, key)
  }
  texts.delete('')
  return texts
}

/** Maximum length of a title, which projects add to the text or leave out. */
const TITLE_CHARACTERS_MAX = 80

/** Returns the words of a license in lower case, without its title and copyright notices. */
function normalized(text: string): string {
  const lines = text.split('\n').map((line) => line.trim().toLowerCase())
  const first = lines.findIndex((line) => line !== '')
  const title = lines[first] ?? ''
  const hasTitle = title.length <= TITLE_CHARACTERS_MAX && /\blicen[cs]e\b/.test(title)
  const body = hasTitle ? lines.slice(first + 1) : lines
  const words = body.filter((line) => !/^(?:copyright\b|\(c\)|©|all rights reserved)/.test(line))
  return words
    .join(' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
