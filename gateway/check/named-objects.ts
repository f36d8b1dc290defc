/** Checks P1 and P2: the refs and commits that rows name exist, and rules can be read. */

import { openJournal } from '../../cgi/maintenance/journal.js'
import { findMissing } from '../../cgi/refs/reference-faults.js'
import { moveReferences } from '../../cgi/refs/references.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import {
  listOpenHeads,
  listPublishedTags,
  listRuleTexts,
  listScheduledHeads,
  type NamedObject,
} from '../../sql/admin/named-objects.js'
import { pagesOf, type RowPage } from '../../sql/database/page.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { pullReference } from '../actions/pulls/refresh-pulls.js'
import type { Check, CheckContext, Finding } from './finding.js'
import { examineRepositories } from './repository-folders.js'

/**
 * Yields open pull requests whose ref or head commit is missing. The repair creates a missing ref
 * if the repository has the commit.
 */
export const checkPullHeads: Check = (context, scope) =>
  examineRepositories(context, scope, {
    repair: (repository) => createPullReferences(context, repository),
    examine: (repository) =>
      examine(context, repository, {
        list: listOpenHeads,
        namesOf: ({ name, value }) => [pullReference(Number(name)), value],
        findingOf: ({ name }, missing) => ({
          code: 'P1',
          subject: `${fullNameOf(repository)}#${name}`,
          problem: `The repository lacks ${missing} of the open pull request`,
          remedy: 'Push the head branch again, or close the pull request',
        }),
      }),
  })

/** Yields releases without a tag, scheduled merges without a commit, and damaged rules. */
export const checkNamedObjects: Check = (context, scope) =>
  examineRepositories(context, scope, {
    async examine(repository) {
      const subject = fullNameOf(repository)
      const tags = await examine(context, repository, {
        list: listPublishedTags,
        namesOf: ({ name }) => [`refs/tags/${name}`],
        findingOf: ({ name }) => ({
          code: 'P2',
          subject,
          problem: `The tag ${name} of a published release does not exist`,
          remedy: 'Push the tag again, or delete the release',
        }),
      })
      const merges = await examine(context, repository, {
        list: listScheduledHeads,
        namesOf: ({ value }) => [value],
        findingOf: ({ name }, missing) => ({
          code: 'P2',
          subject: `${subject}#${name}`,
          problem: `The commit ${missing} of the scheduled merge does not exist`,
          remedy: 'Cancel the scheduled merge',
        }),
      })
      return [...tags, ...merges, ...(await examineRules(context, repository))]
    },
  })

async function createPullReferences(
  { db, git, settings }: CheckContext,
  repository: Repository,
): Promise<void> {
  const path = repositoryPath(settings.data.dir, repository.storage)
  const journal = await openJournal(settings.data.dir)
  const read = (rows: RowPage) => listOpenHeads(db, { repositoryId: repository.id, ...rows })
  for await (const page of pagesOf(read)) {
    const names = page.flatMap(({ name, value }) => [pullReference(Number(name)), value])
    const missing = await findMissing(git, path, names)
    const changes = page
      .map(({ name, value }) => ({
        name: pullReference(Number(name)),
        before: undefined,
        after: value,
      }))
      .filter(({ name, after }) => missing.has(name) && !missing.has(after))
    if (changes.length > 0) await moveReferences(git, path, changes, { journal })
  }
}

interface Named {
  readonly list: typeof listOpenHeads
  /** Returns the revisions that must name an object. */
  readonly namesOf: (row: NamedObject) => readonly string[]
  readonly findingOf: (row: NamedObject, missing: string) => Finding
}

/** Examines the rows of one kind with one git process for each page. */
async function examine(
  { db, git, settings }: CheckContext,
  repository: Repository,
  { list, namesOf, findingOf }: Named,
): Promise<readonly Finding[]> {
  const path = repositoryPath(settings.data.dir, repository.storage)
  const findings: Finding[] = []
  const read = (rows: RowPage) => list(db, { repositoryId: repository.id, ...rows })
  for await (const page of pagesOf(read)) {
    // R1 and R2 report a repository that git cannot read.
    const missing = await findMissing(git, path, page.flatMap(namesOf)).catch(() => new Set())
    for (const row of page) {
      for (const name of namesOf(row)) if (missing.has(name)) findings.push(findingOf(row, name))
    }
  }
  return findings
}

async function examineRules(
  { db }: CheckContext,
  repository: Repository,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const read = (rows: RowPage) => listRuleTexts(db, { repositoryId: repository.id, ...rows })
  for await (const page of pagesOf(read)) {
    for (const { name, value } of page) {
      if (isObject(value)) continue
      findings.push({
        code: 'P2',
        subject: fullNameOf(repository),
        problem: `The settings of the branch protection rule ${name} are damaged`,
        remedy: 'Delete the rule, and create it again',
      })
    }
  }
  return findings
}

function fullNameOf({ owner, name }: Repository): string {
  return `${owner.name}/${name}`
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
