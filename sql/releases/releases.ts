/** Releases of repositories. */

import type { Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import { OWNER_COLUMNS, type Owner, type OwnerRow, ownerOf } from '../accounts/owners.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export interface Release {
  readonly id: number
  readonly repositoryId: number
  readonly tagName: string
  /** Branch, tag or commit from which a missing tag is created. */
  readonly target: string
  readonly title: string
  readonly body: string
  /** Message of an annotated tag; empty for a lightweight tag. */
  readonly tagMessage: string
  readonly isDraft: boolean
  readonly isPrerelease: boolean
  /** Undefined if the account was deleted. */
  readonly author: Owner | undefined
  readonly createdAtMs: number
  /** Time of publication; for a draft, time of creation. */
  readonly publishedAtMs: number
}

export interface NewRelease {
  readonly repositoryId: number
  readonly tagName: string
  readonly target: string
  readonly title: string
  readonly body: string
  readonly tagMessage: string
  readonly isDraft: boolean
  readonly isPrerelease: boolean
  readonly authorId: number
}

/** Changes to a release; absent fields keep their value. */
export interface ReleasePatch {
  readonly tagName?: string | undefined
  readonly target?: string | undefined
  readonly title?: string | undefined
  readonly body?: string | undefined
  readonly isDraft?: boolean | undefined
  readonly isPrerelease?: boolean | undefined
  readonly publishedAtMs?: number | undefined
}

/** Filter of releases. */
export interface ReleaseQuery {
  readonly repositoryId: number
  /** Undefined for drafts and published releases. */
  readonly isDraft?: boolean | undefined
  readonly isPrerelease?: boolean | undefined
  readonly page: Page
}

/**
 * Creates a release. Throws `conflict` if the repository has a release of that tag, and `not_found`
 * if the repository or the author does not exist.
 */
export async function createRelease(db: Database, release: NewRelease): Promise<Release> {
  const nowMs = Date.now()
  return await transaction(db, async (trx) => {
    const [id] = await orConflict(tagExistsMessage(release.tagName), () =>
      trx('releases').insert({
        repository_id: release.repositoryId,
        tag_name: checkText(release.tagName),
        target: release.target,
        title: release.title,
        body: release.body,
        tag_message: release.tagMessage,
        is_draft: release.isDraft,
        is_prerelease: release.isPrerelease,
        author_id: release.authorId,
        created_at: nowMs,
        published_at: nowMs,
      }),
    ).catch((error: unknown) => {
      if (!isReferenceViolation(error)) throw error
      throw new Failure('not_found', 'The repository does not exist.', { cause: error })
    })
    const created = await findRelease(trx, release.repositoryId, id ?? 0)
    if (created === undefined) throw new Error('The inserted release was not found.')
    return created
  })
}

/** Returns the message of the `conflict` error, which is Gitea's. */
export function tagExistsMessage(tagName: string): string {
  return `release tag already exist [tag_name: ${tagName}]`
}

/** Returns a repository's release by its id. */
export async function findRelease(
  db: Database,
  repositoryId: number,
  releaseId: number,
): Promise<Release | undefined> {
  return (
    await selectReleases(db, 'r.repository_id = ? and r.id = ?', [repositoryId, releaseId])
  )[0]
}

/** Returns the release of that tag. Case matters. */
export async function findReleaseByTag(
  db: Database,
  repositoryId: number,
  tagName: string,
): Promise<Release | undefined> {
  const bindings = [repositoryId, checkText(tagName)]
  return (await selectReleases(db, 'r.repository_id = ? and r.tag_name = ?', bindings))[0]
}

/** Number of tags in one statement. */
const TAGS = 500

/** Returns the releases of these tags, with drafts. */
export async function listReleasesOfTags(
  db: Database,
  repositoryId: number,
  tagNames: readonly string[],
): Promise<readonly Release[]> {
  const found: Release[] = []
  for (let at = 0; at < tagNames.length; at += TAGS) {
    const names = tagNames.slice(at, at + TAGS)
    const condition = `r.repository_id = ? and r.tag_name in (${names.map(() => '?').join()})`
    found.push(...(await selectReleases(db, condition, [repositoryId, ...names])))
  }
  return found
}

/** Returns true if a repository has a release or a draft. */
export async function hasReleases(db: Database, repositoryId: number): Promise<boolean> {
  const sql = 'select 1 from releases where repository_id = ? limit 1'
  return (await selectRows(db, sql, [repositoryId])).length > 0
}

/** Returns the last published release that is neither a draft nor a pre-release. */
export async function findLatestRelease(
  db: Database,
  repositoryId: number,
): Promise<Release | undefined> {
  const condition = 'r.repository_id = ? and r.is_draft = 0 and r.is_prerelease = 0'
  return (await selectReleases(db, `${condition} ${NEWEST_FIRST} limit 1`, [repositoryId]))[0]
}

/** Returns the releases of a repository that match the query, newest first. */
export async function listReleases(
  db: Database,
  { repositoryId, isDraft, isPrerelease, page }: ReleaseQuery,
): Promise<Paged<Release>> {
  const conditions = ['r.repository_id = ?']
  const bindings = [repositoryId]
  for (const [column, value] of [
    ['r.is_draft', isDraft],
    ['r.is_prerelease', isPrerelease],
  ] as const) {
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    bindings.push(value ? 1 : 0)
  }
  const condition = conditions.join(' and ')
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from releases r where ${condition}`,
    bindings,
  )
  const entries = await selectReleases(db, `${condition} ${NEWEST_FIRST} limit ? offset ?`, [
    ...bindings,
    page.limit,
    offsetOf(page),
  ])
  return { entries, total: count?.total ?? 0 }
}

/** Returns a function from a repository's id to its number of releases that are not drafts. */
export async function countReleases(
  db: Database,
  repositoryIds: readonly number[],
): Promise<(repositoryId: number) => number> {
  if (repositoryIds.length === 0) return () => 0
  const rows = await selectRows<{ id: number; total: number }>(
    db,
    `select repository_id as id, count(*) as total from releases
      where repository_id in (${repositoryIds.map(() => '?').join()}) and is_draft = 0
      group by repository_id`,
    repositoryIds,
  )
  const totals = new Map(rows.map(({ id, total }) => [id, total]))
  return (id) => totals.get(id) ?? 0
}

/**
 * Changes a release. Returns the changed release, or undefined if it does not exist. Throws
 * `conflict` if the repository has another release of the new tag.
 */
export async function updateRelease(
  db: Database,
  { id, repositoryId }: Pick<Release, 'id' | 'repositoryId'>,
  patch: ReleasePatch,
): Promise<Release | undefined> {
  return await transaction(db, async (trx) => {
    const columns = columnsOf(patch)
    if (Object.keys(columns).length > 0) {
      await orConflict(tagExistsMessage(patch.tagName ?? ''), () =>
        trx('releases').where({ id, repository_id: repositoryId }).update(columns),
      )
    }
    return await findRelease(trx, repositoryId, id)
  })
}

function columnsOf(patch: ReleasePatch): Record<string, Knex.Value> {
  const columns = {
    tag_name: patch.tagName,
    target: patch.target,
    title: patch.title,
    body: patch.body,
    is_draft: patch.isDraft,
    is_prerelease: patch.isPrerelease,
    published_at: patch.publishedAtMs,
  }
  const changed = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(changed) as Record<string, Knex.Value>
}

/**
 * Deletes a release and its attachments; a sweep deletes their bytes later. Returns false if there
 * is no such release.
 */
export async function deleteRelease(db: Database, releaseId: number): Promise<boolean> {
  return (await db('releases').where({ id: releaseId }).delete()) > 0
}

const NEWEST_FIRST = 'order by r.published_at desc, r.id desc'

const SELECT = `select r.id, r.repository_id, r.tag_name, r.target, r.title, r.body, r.tag_message,
  r.is_draft, r.is_prerelease, r.created_at, r.published_at, ${OWNER_COLUMNS}
  from releases r left join owners o on o.id = r.author_id where`

async function selectReleases(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Release[]> {
  const rows = await selectRows<ReleaseRow>(db, `${SELECT} ${condition}`, bindings)
  return rows.map(releaseOf)
}

interface ReleaseRow extends Omit<OwnerRow, 'owner_id'> {
  /** Null if the author was deleted. */
  readonly owner_id: number | null
  readonly id: number
  readonly repository_id: number
  readonly tag_name: string
  readonly target: string
  readonly title: string
  readonly body: string
  readonly tag_message: string
  readonly is_draft: number
  readonly is_prerelease: number
  readonly created_at: number
  readonly published_at: number
}

function releaseOf(row: ReleaseRow): Release {
  const { owner_id } = row
  return {
    id: row.id,
    repositoryId: row.repository_id,
    tagName: row.tag_name,
    target: row.target,
    title: row.title,
    body: row.body,
    tagMessage: row.tag_message,
    isDraft: row.is_draft === 1,
    isPrerelease: row.is_prerelease === 1,
    author: owner_id === null ? undefined : ownerOf({ ...row, owner_id }),
    createdAtMs: row.created_at,
    publishedAtMs: row.published_at,
  }
}
