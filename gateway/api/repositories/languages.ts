/** Languages of a repository over the API, with the bytes of code in each. */

import { Type } from 'typebox'
import { listTree } from '../../../cgi/objects/tree-listing.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { notFound } from '../../../conf/failures.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { readGit, revisionOf, TREE_ENTRIES_MAX } from '../../actions/code/git-reader.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { languageOf } from './language-names.js'

const LANGUAGES = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'integer' },
})

const get = defineOperation({
  id: 'repoGetLanguages',
  method: 'GET',
  path: '/repos/{owner}/{repo}/languages',
  summary: 'Get languages and number of bytes of code written',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  query: NO_QUERY,
  success: { status: 200, schema: LANGUAGES },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { request, grant }) {
    if (await isEmptyRepository(repositoryPathOf(context, grant.repository)))
      return jsonReply(200, {})
    const { signal } = request
    const bytes = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, async (reader) => {
        const { git, path, objects } = reader
        const { commitId } = await revisionOf(reader, grant, undefined)
        const tree = await objects.read(`${commitId}^{tree}`)
        if (tree === undefined) throw notFound()
        const input = { entriesMax: TREE_ENTRIES_MAX, hasFolders: false, signal }
        const listing = await listTree(git, path, tree.id, input)
        const written = listing.entries().flatMap(({ kind, id, path }) => {
          const language = kind === 'file' ? languageOf(path) : undefined
          return language === undefined ? [] : [{ id, language }]
        })
        const ids = written.map(({ id }) => id)
        return sum(written, await objects.readSizes(ids, signal))
      }),
    )
    return jsonReply(200, bytes)
  },
})

/** Returns the bytes in each language, largest first. */
function sum(
  files: readonly { readonly id: string; readonly language: string }[],
  sizes: ReadonlyMap<string, number>,
): Record<string, number> {
  const bytes = new Map<string, number>()
  for (const { id, language } of files) {
    bytes.set(language, (bytes.get(language) ?? 0) + (sizes.get(id) ?? 0))
  }
  return Object.fromEntries([...bytes].sort(([, one], [, other]) => other - one))
}

export const LANGUAGE_OPERATIONS: readonly AnyOperation[] = [get]
