/** Licenses of a repository over the API, from the license file of its default branch. */

import { Type } from 'typebox'
import { readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { readGit, revisionOf } from '../../actions/code/git-reader.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const list = defineOperation({
  id: 'repoGetLicenses',
  method: 'GET',
  path: '/repos/{owner}/{repo}/licenses',
  summary: 'Get repo licenses',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(Type.String()) },
  failures: [404, 422],
  async handle(context, { grant }) {
    const { repository } = grant
    if (await isEmptyRepository(repositoryPathOf(context, repository))) return jsonReply(200, [])
    const text = await readGit(context, grant, async (reader) => {
      const { objects } = reader
      const { commitId } = await revisionOf(reader, grant, undefined)
      const tree = await objects.read(`${commitId}^{tree}`)
      const file = tree && licenseFileOf(await readTree(objects, tree.id))
      const blob = file && (await objects.read(file.id, LICENSE_BYTES_MAX))
      return blob?.content?.toString()
    })
    const licenses =
      text === undefined ? [] : await context.detectLicenses(text, repository.owner.id)
    return jsonReply(200, licenses)
  },
})

/** Maximum size of a license file; the longest license has less than half of it. */
const LICENSE_BYTES_MAX = 262_144

/** Names of license files, the preferred one first. */
const NAMES = [/^licen[cs]e$/i, /^licen[cs]e[.-]/i, /^copying$/i, /^(?:copying[.-]|unlicense)/i]

function licenseFileOf(entries: readonly TreeEntry[]): TreeEntry | undefined {
  const files = entries.filter(({ kind }) => kind === 'file')
  const found = NAMES.map((pattern) => files.find(({ name }) => pattern.test(name)))
  return found.find((file) => file !== undefined)
}

export const REPOSITORY_LICENSE_OPERATIONS: readonly AnyOperation[] = [list]
