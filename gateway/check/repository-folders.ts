/** Check R1: each repository has its folder, and each folder of a repository has a row. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryPath, repositoryShardsFolder } from '../../cgi/repository/paths.js'
import { CRASH_GRACE_MS, unlessMissing } from '../../conf/lib/disk.js'
import type { RowPage } from '../../sql/database/page.js'
import { knownStorages, listAllRepositories } from '../../sql/repositories/all-repositories.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { wikiOf } from '../../sql/repositories/wikis.js'
import { type Examination, examineAll, examineRows } from './examine-all.js'
import type { CheckContext, CheckScope, CheckStep, Finding, Suspicion } from './finding.js'

/** Yields repositories without a usable folder, and then folders without a repository. */
export async function* checkRepositoryFolders(
  context: CheckContext,
  scope: CheckScope,
): AsyncGenerator<CheckStep> {
  yield* examineRepositories(context, scope, {
    examine: (repository) => examine(context, repository),
  })
  if (scope.repositories === undefined) yield* checkFoldersWithoutRow(context)
}

/** Examines the repositories of the scope; `examine` gets the row only, not that of a wiki. */
export async function* examineRepositories(
  { db }: CheckContext,
  { repositories, cursor }: CheckScope,
  examination: Pick<Examination<Repository>, 'examine' | 'repair'>,
): AsyncGenerator<CheckStep> {
  if (repositories === undefined) {
    const read = (page: RowPage) => listAllRepositories(db, page)
    yield* examineRows({ list: 'repositories', read, cursor }, examination)
    return
  }
  const reread = async ({ id }: Repository) => await findRepositoryById(db, id)
  yield* examineAll(repositories, { ...examination, reread })
}

/** Returns the repository, and its wiki if that has content. */
export function withWiki(repository: Repository): readonly Repository[] {
  return repository.wikiSizeKib > 0 ? [repository, wikiOf(repository)] : [repository]
}

/** Examines the folders of a repository and of its wiki, if the wiki has content. */
async function examine(
  { settings }: CheckContext,
  repository: Repository,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const each of withWiki(repository)) {
    const path = repositoryPath(settings.data.dir, each.storage)
    const problem = await problemOf(path, repository)
    if (problem === undefined) continue
    const subject = `${each.owner.name}/${each.name}`
    findings.push({ code: 'R1', subject, problem, remedy: RESTORE_FOLDER })
  }
  return findings
}

const RESTORE_FOLDER =
  'Check that the disk of data.dir is mounted, and restore the folder from a backup otherwise'

/** Returns what is wrong with the folder of a repository; undefined if it is usable. */
async function problemOf(path: string, { objectFormat }: Repository): Promise<string | undefined> {
  if (!(await isFolder(path))) return `The folder ${path} does not exist`
  for (const name of ['objects', 'refs']) {
    if (!(await isFolder(join(path, name)))) return `${path} has no folder ${name}`
  }
  const head = await unlessMissing(readFile(join(path, 'HEAD'), 'utf8'))
  if (head === undefined || !HEAD.test(head)) return `${path} has no valid file HEAD`
  const config = (await unlessMissing(readFile(join(path, 'config'), 'utf8'))) ?? ''
  const format = OBJECT_FORMAT.exec(config)?.[1]?.toLowerCase() ?? 'sha1'
  if (format === objectFormat) return undefined
  return `${path} has the object format ${format}, but the database has ${objectFormat}`
}

/** Content of a valid HEAD: a ref or an object id. */
const HEAD = /^(?:ref: refs\/\S+|[0-9a-f]{40}(?:[0-9a-f]{24})?)\s*$/
/** The setting extensions.objectFormat in a config file. */
const OBJECT_FORMAT = /^\s*objectformat\s*=\s*"?(\w+)/im

async function isFolder(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path)))?.isDirectory() ?? false
}

const REPOSITORY = /^([0-9a-f]{32})(?:\.wiki)?\.git$/

/**
 * Yields folders of repositories without a row. Younger ones may belong to a repository that is
 * being created.
 */
async function* checkFoldersWithoutRow(context: CheckContext): AsyncGenerator<CheckStep> {
  const shards = repositoryShardsFolder(context.settings.data.dir)
  for (const shard of (await unlessMissing(readdir(shards))) ?? []) {
    const names = (await unlessMissing(readdir(join(shards, shard)))) ?? []
    const storages = new Map<string, string>()
    for (const name of names) {
      const storage = REPOSITORY.exec(name)?.[1]
      if (storage !== undefined) storages.set(join(shards, shard, name), storage)
    }
    const known = await knownStorages(context.db, [...new Set(storages.values())])
    for (const [path, storage] of storages) {
      if (!known.has(storage) && (await isOld(path))) yield withoutRow(context, path, storage)
    }
  }
}

function withoutRow({ db }: CheckContext, path: string, storage: string): Suspicion {
  return {
    finding: {
      code: 'R1',
      subject: path,
      problem: 'No repository of the database has this folder',
      remedy: 'Move the folder away if a backup of the database does not have the repository',
    },
    persists: async () => (await isOld(path)) && !(await knownStorages(db, [storage])).has(storage),
  }
}

async function isOld(path: string): Promise<boolean> {
  const found = await unlessMissing(stat(path))
  return found !== undefined && found.mtimeMs < Date.now() - CRASH_GRACE_MS
}
