/** Cleanup rules remove what their preview shows, and files of removed versions stay readable. */

import t from 'tap'
import { applyRule, previewRule } from '../../registry/cleanup.js'
import { matchPatterns, type PatternInput } from '../../registry/version-patterns.js'
import type { Database } from '../../sql/database/database.js'
import {
  type CleanupRuleInput,
  findCleanupRule,
  saveCleanupRule,
} from '../../sql/packages/cleanup-rules.js'
import { findFile } from '../../sql/packages/package-files.js'
import { listOwnerVersions } from '../../sql/packages/package-lists.js'
import { addPackageProtection } from '../../sql/packages/protections.js'
import {
  deleteRetired,
  findRetiredFile,
  findRetiredPackage,
  findRetiredVersion,
} from '../../sql/packages/retired-versions.js'
import { forEachMigrated } from '../helpers/databases.js'
import { aPublication, namespaceOf } from '../helpers/package-rows.js'
import { aUser } from '../helpers/rows.js'

const RULE: CleanupRuleInput = {
  isEnabled: true,
  keepCount: 0,
  keepPattern: '',
  removeDays: 0,
  removePattern: '',
  matchesFullName: false,
}

const DAY_MS = 86_400_000
const ALL = { page: 1, limit: 1_000 }
const { signal } = new AbortController()

/** Returns functions on the packages of a new user. */
async function aCleaner(db: Database) {
  const { id: ownerId } = await aUser(db, 'ada')
  const place = namespaceOf(ownerId)
  const registry = { db, matchPatterns: async (input: PatternInput) => matchPatterns(input) }
  const rule = async (changes: Partial<CleanupRuleInput>) => {
    await saveCleanupRule(db, place, { ...RULE, ...changes })
    const saved = await findCleanupRule(db, place)
    if (saved === undefined) throw new Error('the rule was not saved')
    return saved
  }
  const publish = async (name: string, versions: readonly string[]) => {
    for (const version of versions) {
      await aPublication(db, { ownerId, packageName: name, version, text: `${name} ${version}` })
    }
  }
  const age = async (version: string, days: number) =>
    await db('package_versions')
      .where({ version })
      .update({ created_at: Date.now() - days * DAY_MS })
  /** Returns the versions that are left after a run of the rule. Checks the preview. */
  const preview = async (changes: Partial<CleanupRuleInput>) => {
    const { listed } = await previewRule(registry, await rule(changes), ALL)
    return listed.map(({ packageName, version }) => `${packageName}/${version}`).join(' ')
  }
  const left = async () => {
    const { entries } = await listOwnerVersions(db, { ownerId }, { page: 1, limit: 1_000 })
    return entries.map(({ packageName, version }) => `${packageName}/${version}`)
  }
  return { ownerId, place, registry, rule, publish, age, preview, left }
}

await forEachMigrated(t, 'each condition of a cleanup rule keeps versions', async (t, db) => {
  const { publish, age, preview, ownerId } = await aCleaner(db)
  await publish('App', ['1.0', '2.0-rc1', '2.0', '3.0'])
  await publish('tool', ['1.0'])
  await aPublication(db, { ownerId, format: 'go', packageName: 'other', version: '1.0' })
  t.equal(await preview({}), 'App/3.0 App/2.0 App/2.0-rc1 App/1.0 tool/1.0')
  t.equal(await preview({ keepCount: 1 }), 'App/2.0 App/2.0-rc1 App/1.0')
  t.equal(await preview({ keepPattern: '\\d+\\.0' }), 'App/2.0-rc1')
  t.equal(await preview({ removePattern: '.*-RC\\d' }), 'App/2.0-rc1')
  const named = { matchesFullName: true }
  t.equal(await preview({ ...named, keepPattern: 'app/.*' }), 'tool/1.0')
  t.equal(await preview({ ...named, removePattern: '1.0' }), '')
  await age('2.0', 8)
  t.equal(await preview({ removeDays: 7 }), 'App/2.0')
  await addPackageProtection(db, ownerId, { format: 'generic', pattern: 'app/[23]\\.0' })
  t.equal(await preview({}), 'App/2.0-rc1 App/1.0 tool/1.0')
})

await forEachMigrated(
  t,
  'a run removes what the preview shows, over many batches',
  async (t, db) => {
    const { publish, rule, registry, left } = await aCleaner(db)
    const versions = Array.from({ length: 230 }, (_, n) => `1.${n}`)
    await publish('app', versions)
    await publish('tool', versions.slice(0, 30))
    const saved = await rule({ keepCount: 10, keepPattern: '.*7' })
    const all = await previewRule(registry, saved, ALL)
    t.equal(all.listed.length, all.versions)
    const pages = [1, 2, 3].map((page) => previewRule(registry, saved, { page, limit: 100 }))
    const paged = (await Promise.all(pages)).flatMap(({ listed }) => listed)
    t.strictSame(paged, all.listed, 'pages have all versions once')
    const run = await applyRule(registry, saved, signal)
    t.match(run, { versions: all.versions, bytes: all.bytes, error: '' })
    const removed = new Set(
      all.listed.map(({ packageName, version }) => `${packageName}/${version}`),
    )
    const expected = [
      ...versions.map((version) => `app/${version}`),
      ...versions.slice(0, 30).map((version) => `tool/${version}`),
    ].filter((name) => !removed.has(name))
    t.strictSame((await left()).toSorted(), expected.toSorted())
    t.equal(expected.filter((name) => name.startsWith('app/1.2')).length >= 10, true)
    t.match(await applyRule(registry, saved, signal), { versions: 0, bytes: 0 }, 'nothing is left')
  },
)

await forEachMigrated(
  t,
  'a run ends if its rule is changed, disabled, aborted or too expensive',
  async (t, db) => {
    const { publish, rule, registry, left } = await aCleaner(db)
    await publish('app', ['1.0', '2.0'])
    const old = await rule({})
    await rule({ keepCount: 1 })
    t.match(await applyRule(registry, old, signal), { versions: 0, error: /was changed/ })
    const disabled = await rule({ isEnabled: false })
    t.match(await applyRule(registry, disabled, signal), { versions: 0, error: /was changed/ })
    const enabled = await rule({})
    t.equal(await applyRule(registry, enabled, AbortSignal.abort()), undefined)
    const broken = await rule({ keepPattern: '(' })
    t.match(await applyRule(registry, broken, signal), { error: /not a regular expression/ })
    t.equal((await left()).length, 2)
  },
)

await forEachMigrated(
  t,
  'files of versions that a rule has removed can be read until they expire',
  async (t, db) => {
    const { publish, rule, registry, place } = await aCleaner(db)
    await publish('App', ['1.0'])
    const name = { packageName: 'app', version: '1.0', fileName: 'TOOL.bin' }
    const before = await findFile(db, place, name)
    await applyRule(registry, await rule({}), signal)
    t.equal(await findFile(db, place, name), undefined)
    const sinceMs = Date.now() - DAY_MS
    const file = await findRetiredFile(db, place, { name, sinceMs })
    t.match(file, { id: before?.id, digests: before?.digests, blobKey: before?.blobKey })
    const keyed = { ...name, compositeKey: 'other' }
    t.equal(await findRetiredFile(db, place, { name: keyed, sinceMs }), undefined)
    const found = await findRetiredPackage(db, place, { name: 'APP', sinceMs })
    t.match(found, { name: 'App', id: before?.packageId })
    const version = await findRetiredVersion(db, found?.id ?? 0, { version: '1.0', sinceMs })
    t.match(version, { id: before?.versionId, version: '1.0', files: [{ name: 'tool.bin' }] })
    const later = { sinceMs: Date.now() + DAY_MS }
    t.equal(await findRetiredFile(db, place, { name, ...later }), undefined)
    t.equal(await findRetiredPackage(db, place, { name: 'app', ...later }), undefined)
    const expired = { version: '1.0', ...later }
    t.equal(await findRetiredVersion(db, found?.id ?? 0, expired), undefined)
    t.equal(await deleteRetired(db, sinceMs), 0)
    t.equal(await deleteRetired(db, later.sinceMs), 1)
    t.strictSame(await db('package_retired_files'), [])
    await publish('App', ['1.0'])
    t.not((await findFile(db, place, name))?.id, before?.id, 'ids are not used again')
  },
)
