/** The files of a repository's first commit: README, license and gitignore file. */

import type { FirstFile } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { findGitignore, findLicense } from '../../known-files/templates.js'

export interface FirstFilesInput {
  readonly repositoryName: string
  readonly description: string
  /** Name of the person or organization that has the copyright. */
  readonly copyrightHolder: string
  /** Names of gitignore templates, separated by commas. */
  readonly gitignores: string
  /** SPDX identifier; empty for no license. */
  readonly license: string
}

const GITIGNORES_MAX = 20

/** Returns the files. Throws `bad_request` for a template that does not exist. */
export async function firstFiles(input: FirstFilesInput): Promise<readonly FirstFile[]> {
  const { repositoryName, description } = input
  const readme = `# ${repositoryName}\n${description === '' ? '' : `\n${description}`}`
  const files = [
    { name: '.gitignore', content: await gitignoreOf(input) },
    { name: 'LICENSE', content: await licenseOf(input) },
    { name: 'README.md', content: readme },
  ]
  return files.filter(({ content }) => content !== '')
}

async function gitignoreOf({ gitignores }: FirstFilesInput): Promise<string> {
  const names = gitignores.split(',').map((name) => name.trim())
  const wanted = [...new Set(names)].filter((name) => name !== '')
  if (wanted.length > GITIGNORES_MAX) {
    throw new Failure('bad_request', `There are more than ${GITIGNORES_MAX} gitignore templates.`)
  }
  const parts: string[] = []
  for (const name of wanted) {
    const text = await findGitignore(name)
    if (text === undefined) throw noTemplate('gitignore', name, '/gitignore/templates')
    parts.push(`# ---> ${name}\n${text.trimEnd()}\n\n`)
  }
  return parts.join('')
}

async function licenseOf({ license, copyrightHolder }: FirstFilesInput): Promise<string> {
  if (license === '') return ''
  const found = await findLicense(license)
  if (found === undefined) throw noTemplate('license', license, '/licenses')
  const year = String(new Date().getUTCFullYear())
  const text = found.text
    .replaceAll(/<year>|\[year\]|\[yyyy\]/gi, year)
    .replaceAll(
      /<copyright holders?>|<owner>|\[(?:fullname|name of copyright owner)\]/gi,
      () => copyrightHolder,
    )
  return `${text.trimEnd()}\n`
}

function noTemplate(kind: string, name: string, list: string): Failure {
  const message = `There is no ${kind} template ${JSON.stringify(name)}; ${list} lists them.`
  return new Failure('bad_request', message)
}
