/** Imported contents become visible together with their repository, under their old numbers. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { newStorageKey } from '../../../cgi/repository/paths.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { listComments } from '../../../sql/issues/comments.js'
import { createIssue, findIssue } from '../../../sql/issues/issues.js'
import { labelsOfIssues } from '../../../sql/issues/labels.js'
import { listUnusedBlobs } from '../../../sql/packages/blobs.js'
import { findPull } from '../../../sql/pulls/pulls.js'
import { findReleaseByTag } from '../../../sql/releases/releases.js'
import type { ImportedBatch, ImportedIssue } from '../../../sql/repositories/imported-contents.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import {
  beginImport,
  completeImport,
  endImport,
  holdBlob,
} from '../../../sql/repositories/repository-imports.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

const digest = (character: string) => ({
  md5: character.repeat(32),
  sha1: character.repeat(40),
  sha256: character.repeat(64),
  sha512: character.repeat(128),
})
const aBlob = (character: string) => ({
  key: `key-${character}`,
  bytes: 1,
  digests: digest(character),
})

const times = { createdAtMs: 1_000, updatedAtMs: 2_000 }
const originalAuthor = { name: 'eve', id: 7 }

function anIssue(number: number, changes: Partial<ImportedIssue> = {}): ImportedIssue {
  return {
    number,
    title: `Issue ${number}`,
    content: '@ada',
    originalAuthor,
    state: 'open',
    ref: '',
    isLocked: false,
    labelIds: [],
    ...times,
    ...changes,
  }
}

function aPull(headBranch: string, isHeadHere = true): ImportedIssue['pull'] {
  const commits = { headCommit: 'a'.repeat(40), mergeBase: 'b'.repeat(40) }
  return { isHeadHere, headBranch, baseBranch: 'main', allowsMaintainerEdit: false, ...commits }
}

interface Arriving {
  readonly ownerId: number
  readonly storage: string
  readonly importId: number
}

async function begin(db: Database): Promise<Arriving & { readonly owner: User }> {
  const owner = await aUser(db, 'ada')
  const storage = newStorageKey()
  const worker = { machine: 'm', process: '{}', leaseMs: 30_000 }
  const own = { ownerId: owner.id, name: 'r', storage }
  return {
    owner,
    ownerId: owner.id,
    storage,
    importId: await beginImport(db, { ...own, ...worker }),
  }
}

function arrive(
  db: Database,
  { ownerId, storage, importId }: Arriving,
  batches: readonly ImportedBatch[],
): Promise<Repository> {
  return completeImport(db, importId, {
    repository: {
      ownerId,
      name: 'r',
      storage,
      description: '',
      website: '',
      isPrivate: false,
      isTemplate: false,
      isEmpty: false,
      defaultBranch: 'main',
      preferences: {},
      objectFormat: 'sha1',
    },
    source: { url: 'https://code.example.com/x.git', mirror: undefined },
    contents: {
      authorId: ownerId,
      async *batches() {
        yield* batches
      },
    },
  })
}

await forEachMigrated(
  t,
  'imported issues keep their numbers, labels and milestones',
  async (t, db) => {
    const label = { color: 'ffffff', description: '', isExclusive: false, isArchived: false }
    const arriving = await begin(db)
    const { owner } = arriving
    const repository = await arrive(db, arriving, [
      { kind: 'labels', entries: [{ id: 70, name: 'bug', ...label }] },
      {
        kind: 'milestones',
        entries: [
          { id: 80, title: 'm', description: '', state: 'closed', closedAtMs: 5, ...times },
        ],
      },
      {
        kind: 'issues',
        entries: [anIssue(9, { labelIds: [70, 70, 71], milestoneId: 80 }), anIssue(4)],
      },
      {
        kind: 'comments',
        entries: [9, 5].map((issueNumber) => ({
          issueNumber,
          content: `on ${issueNumber}`,
          originalAuthor,
          ...times,
        })),
      },
    ])
    const issue = await findIssue(db, repository.id, 9)
    if (issue === undefined) throw new Error('it did not come')
    t.match(issue, { ...times, originalAuthor, authorId: owner.id, commentsCount: 1 })
    t.match(issue.milestoneId, Number)
    const labels = (await labelsOfIssues(db, [issue.id])).get(issue.id)
    t.strictSame(
      labels?.map(({ name }) => name),
      ['bug'],
    )
    t.match(await listComments(db, issue.id, {}), [{ content: 'on 9', originalAuthor }])
    t.strictSame(await db('issue_mentions'), [], 'local users are not mentioned')
    const next = { repositoryId: repository.id, isPull: false, authorId: owner.id }
    t.match(await createIssue(db, { ...next, title: 'n', content: '' }), {
      number: 10,
      originalAuthor: { name: '', id: 0 },
    })
  },
)

await forEachMigrated(
  t,
  'of imported pull requests with the same branches one is open',
  async (t, db) => {
    const repository = await arrive(db, await begin(db), [
      {
        kind: 'issues',
        entries: [
          anIssue(1, { pull: aPull('topic') }),
          anIssue(2, { pull: aPull('topic') }),
          anIssue(3, { pull: aPull('topic', false) }),
          anIssue(4, { pull: aPull('topic', false) }),
        ],
      },
    ])
    const states = [1, 2, 3, 4].map(async (number) => {
      const issue = await findIssue(db, repository.id, number)
      const pull = await findPull(db, issue?.id ?? 0)
      return `${issue?.state} ${issue?.closedAtMs} ${pull?.headRepositoryId === repository.id}`
    })
    t.strictSame(await Promise.all(states), [
      'open undefined true',
      'closed 2000 true',
      'open undefined false',
      'open undefined false',
    ])
  },
)

await forEachMigrated(t, 'blobs of an import are kept until the import ends', async (t, db) => {
  const { importId: id } = await begin(db)
  const held = await holdBlob(db, id, aBlob('a'))
  t.strictSame(await holdBlob(db, id, aBlob('a')), held, 'an equal blob is held once')
  const unused = () => listUnusedBlobs(db, { afterId: 0, limit: 10 })
  t.strictSame(await unused(), [])
  await endImport(db, id)
  t.match(await unused(), [{ id: held.id }])
  await t.rejects(holdBlob(db, id, aBlob('b')), {
    failure: 'unavailable',
    message: /was interrupted/,
  })
})

await forEachMigrated(t, 'an imported release has its attachments', async (t, db) => {
  const arriving = await begin(db)
  const { id: blobId } = await holdBlob(db, arriving.importId, aBlob('c'))
  const attachment = { uuid: randomUUID(), name: 'f', blobId, downloads: 3, createdAtMs: 4 }
  const batches: readonly ImportedBatch[] = [
    {
      kind: 'releases',
      entries: [
        {
          tagName: 'v1',
          target: 'main',
          title: 't',
          body: '',
          isDraft: false,
          isPrerelease: true,
          createdAtMs: 1,
          publishedAtMs: 2,
          attachments: [attachment],
        },
      ],
    },
  ]
  const repository = await arrive(db, arriving, batches)
  const release = await findReleaseByTag(db, repository.id, 'v1')
  t.match(release, {
    isPrerelease: true,
    createdAtMs: 1,
    publishedAtMs: 2,
    author: { id: arriving.ownerId },
  })
  const rows = await db('attachments').select('name', 'downloads', 'created_at', 'release_id')
  t.match(rows, [{ name: 'f', downloads: 3, created_at: 4, release_id: release?.id }])
  t.strictSame(await listUnusedBlobs(db, { afterId: 0, limit: 10 }), [])
  t.strictSame(await db('import_blobs'), [])
})
