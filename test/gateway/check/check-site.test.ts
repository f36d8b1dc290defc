/** Planted faults of repositories and blobs, each found by its name, and none on a healthy site. */

import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { loadSettings } from '../../../conf/load.js'
import { type CheckOptions, checkSite } from '../../../gateway/check/check-site.js'
import { CHECK_CODES } from '../../../gateway/check/finding.js'
import { type Position, Progress } from '../../../gateway/check/progress.js'
import { openStorage } from '../../../registry/storage/open.js'
import { placeBlob } from '../../../sql/packages/blobs.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { wikiStorage } from '../../../sql/repositories/wikis.js'
import { contentOf, keep } from '../../conformance/blob-storage.js'
import { forEachDatabase, freshLocation, openForTest } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { sharedS3Server } from '../../helpers/shared-s3-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const git = await findGit()
/** Error that ends a check as a signal does. */
const INTERRUPTION = new Error('interrupted')
const DAYS_MS = 3 * 86_400_000
const FOLDERS_AND_BLOBS = new Set(['R1', 'B1'] as const)

/** Opens an empty site, whose blobs are in files unless there is an address of a bucket. */
async function aSite(t: Test, location: DatabaseLocation, blobsUrl?: string) {
  const settings = loadSettings({
    GATEHOUSE_DATA_DIR: await temporaryFolder(t),
    ...(blobsUrl === undefined ? {} : { GATEHOUSE_BLOBS_URL: blobsUrl }),
  })
  const db = await openForTest(t, location)
  const storage = await openStorage(settings)
  const { id: ownerId } = await aUser(db, 'ada')
  const pathOf = (key: string) => repositoryPath(settings.data.dir, key)
  // The helper's text is not a hash.
  await db('users').update({ password_hash: null })
  const check = async (options: CheckOptions = {}) => {
    const found: string[] = []
    const wanted = { settleMs: 0, codes: FOLDERS_AND_BLOBS, ...options }
    for await (const finding of checkSite({ db, storage, settings, git }, wanted)) {
      found.push(`${finding.code} ${finding.subject}: ${finding.problem}`)
    }
    return found
  }
  const checkPart = async (progress: Progress) => {
    const wanted = { settleMs: 0, reportMs: 0, codes: FOLDERS_AND_BLOBS, progress }
    const subjects: string[] = []
    try {
      for await (const { subject } of checkSite({ db, storage, settings, git }, wanted)) {
        subjects.push(subject)
      }
    } catch (error) {
      if (error !== INTERRUPTION) throw error
    }
    return subjects
  }
  const addFolder = (key: string, objectFormat: 'sha1' | 'sha256' = 'sha1') =>
    initRepository(git, pathOf(key), { defaultBranch: 'main', objectFormat })
  return {
    db,
    storage,
    check,
    checkPart,
    pathOf,
    addFolder,
    async addRepository(name: string): Promise<Repository> {
      const repository = await aRepository(db, ownerId, name)
      await addFolder(repository.storage)
      return repository
    },
    async addBlob(bytes: number, changes: { bytes?: number; sha1?: string } = {}) {
      const content = contentOf(bytes)
      const key = await keep(storage, content)
      const hex = (name: string) => createHash(name).update(content).digest('hex')
      const digests = {
        sha256: hex('sha256'),
        md5: hex('md5'),
        sha1: changes.sha1 ?? hex('sha1'),
        sha512: hex('sha512'),
      }
      await placeBlob(db, { key, bytes: changes.bytes ?? bytes, digests })
      return key
    },
  }
}

const longAgo = (path: string) => utimes(path, new Date(), new Date(Date.now() - DAYS_MS))

await forEachDatabase(t, 'each planted fault of a folder is found by name', async (t, location) => {
  const { db, check, pathOf, addFolder, addRepository } = await aSite(t, location)
  await addRepository('healthy')
  const withWiki = await addRepository('with-wiki')
  await db('repositories').where({ id: withWiki.id }).update({ wiki_size_kib: 1 })
  await addFolder(wikiStorage(withWiki.storage))
  await addFolder(newStorageKey())
  await mkdir(`${pathOf(withWiki.storage)}.trash-0123456789ab`)
  const everything = { isDeep: true, codes: new Set(CHECK_CODES) }
  t.strictSame(await check(everything), [], 'a healthy site, also with unfinished folders')

  const plant = async (name: string, damage: (path: string) => Promise<unknown>) => {
    const { storage } = await addRepository(name)
    await damage(pathOf(storage))
    return pathOf(storage)
  }
  const missing = await plant('missing', (path) => rm(path, { recursive: true }))
  const file = await plant('file', async (path) => {
    await rm(path, { recursive: true })
    await writeFile(path, '')
  })
  const objects = await plant('no-objects', (path) =>
    rm(join(path, 'objects'), { recursive: true }),
  )
  const refs = await plant('no-refs', (path) => rm(join(path, 'refs'), { recursive: true }))
  const head = await plant('no-head', (path) => rm(join(path, 'HEAD')))
  const zeros = await plant('zeros', (path) => writeFile(join(path, 'HEAD'), '\0'.repeat(23)))
  const format = await plant('format', (path) =>
    appendFile(join(path, 'config'), '[extensions]\n\tobjectFormat = sha256\n'),
  )
  const wikiPath = pathOf(wikiStorage(withWiki.storage))
  await rename(wikiPath, `${wikiPath}.away`)
  const strays = [newStorageKey(), wikiStorage(newStorageKey())].map(pathOf)
  for (const path of strays) {
    await mkdir(path, { recursive: true })
    await longAgo(path)
  }

  const expected = [
    `R1 ada/with-wiki.wiki: The folder ${wikiPath} does not exist`,
    `R1 ada/missing: The folder ${missing} does not exist`,
    `R1 ada/file: The folder ${file} does not exist`,
    `R1 ada/no-objects: ${objects} has no folder objects`,
    `R1 ada/no-refs: ${refs} has no folder refs`,
    `R1 ada/no-head: ${head} has no valid file HEAD`,
    `R1 ada/zeros: ${zeros} has no valid file HEAD`,
    `R1 ada/format: ${format} has the object format sha256, but the database has sha1`,
    ...strays.map((path) => `R1 ${path}: No repository of the database has this folder`),
  ]
  t.strictSame((await check()).sort(), expected.sort())
  t.strictSame(await check({ codes: new Set(['B1']) }), [], 'only the wanted checks run')
})

t.test('a wrong marker is found and repaired, and a missing one is no finding', async (t) => {
  const { check, pathOf, addRepository } = await aSite(t, await freshLocation(t, 'sqlite'))
  await addRepository('missing')
  const wrong = await addRepository('wrong')
  const file = join(pathOf(wrong.storage), 'description')
  await writeFile(file, 'ada/former\n')
  const found = `R4 ada/wrong: The file ${file} has another name`
  const markers = { codes: new Set(['R4'] as const) }
  t.strictSame(await check({ ...markers, repairs: true }), [found])
  t.strictSame(await check(markers), [])
  t.equal(await readFile(file, 'utf8'), 'ada/wrong\n')
})

/** Plants faults of blobs, and expects the check to find each. */
async function checksBlobs(t: Test, site: Awaited<ReturnType<typeof aSite>>): Promise<void> {
  const { db, storage, check, addBlob } = site
  const empty = await addBlob(0)
  await addBlob(100)
  await keep(storage, contentOf(10))
  t.strictSame(await check({ isDeep: true }), [], 'a healthy site, also with a running upload')

  const removed = await addBlob(10)
  await db('blobs').where({ storage_key: empty }).update({ bytes: 5 })
  await storage.remove(removed)
  const short = await addBlob(20, { bytes: 30 })
  const changed = await addBlob(40, { sha1: '0'.repeat(40) })
  const fast = [
    `B1 ${removed}: The bytes of the blob are missing`,
    `B1 ${empty}: The blob has 0 bytes, but the database has 5`,
    `B1 ${short}: The blob has 20 bytes, but the database has 30`,
  ]
  const byDigest = `B1 ${changed}: The sha1 digest of the bytes differs from that of the database`
  t.strictSame((await check()).sort(), fast.sort())
  t.strictSame((await check({ isDeep: true })).sort(), [...fast, byDigest].sort())
}

await forEachDatabase(t, 'each planted fault of a blob is found by name', async (t, location) => {
  const site = await aSite(t, location)
  await checksBlobs(t, site)
  const stray = await keep(site.storage, contentOf(10))
  await longAgo(site.storage.pathOf(stray) ?? '')
  t.match(
    (await site.check()).filter((line) => line.includes(stray)),
    [/: No blob of the database has these bytes, which are more than a day old$/],
  )
})

t.test('planted faults of blobs are found in a bucket, which must exist', async (t) => {
  const location = await freshLocation(t, 'sqlite')
  const url = await (await sharedS3Server()).createBucket()
  await checksBlobs(t, await aSite(t, location, url))
  const other = await aSite(t, await freshLocation(t, 'sqlite'), url.replace(/bucket-/, 'no-'))
  await t.rejects(other.check(), { cause: { message: 'S3 has no such bucket' } })
})

t.test('a difference that ends before the second read is not reported', async (t) => {
  const site = await aSite(t, await freshLocation(t, 'sqlite'))
  const { db, check, pathOf, addRepository, addBlob, storage } = site
  const [kept, deleted] = [await addRepository('kept'), await addRepository('deleted')]
  for (const each of [kept, deleted]) {
    await rename(pathOf(each.storage), `${pathOf(each.storage)}.away`)
  }
  const key = await addBlob(10)
  await storage.remove(key)
  t.equal((await check()).length, 3)
  const checked = check({ settleMs: 400 })
  setTimeout(async () => {
    await rename(`${pathOf(kept.storage)}.away`, pathOf(kept.storage))
    await db('repositories').where({ id: deleted.id }).delete()
    await db('blobs').where({ storage_key: key }).delete()
  }, 150)
  t.strictSame(await checked, [])
})

t.test('a check of named repositories reads nothing else', async (t) => {
  const site = await aSite(t, await freshLocation(t, 'sqlite'))
  const [one, two] = [await site.addRepository('one'), await site.addRepository('two')]
  for (const { storage } of [one, two]) await rm(site.pathOf(storage), { recursive: true })
  await site.storage.remove(await site.addBlob(10))
  t.strictSame(await site.check({ repositories: [two] }), [
    `R1 ada/two: The folder ${site.pathOf(two.storage)} does not exist`,
  ])
})

t.test('an interrupted check continues after the last page that it has reported', async (t) => {
  const { db, addRepository, pathOf, checkPart } = await aSite(t, await freshLocation(t, 'sqlite'))
  const lost = await addRepository('lost')
  await rm(pathOf(lost.storage), { recursive: true })
  for (let at = 0; at < 450; at += 1) {
    const key = `${'0'.repeat(64)}-${String(at).padStart(16, '0')}`
    const digests = { sha256: `${at}`, md5: '', sha1: '', sha512: '' }
    await placeBlob(db, { key, bytes: 1, digests })
  }

  const positions: Position[] = []
  const interrupted = new Progress(undefined, async (position) => {
    positions.push(position)
    if (position.lists['blobs'] !== undefined) throw INTERRUPTION
  })
  const first = await checkPart(interrupted)
  t.equal(first.length, 201, 'the repository and one page of blobs')
  const [last] = positions.slice(-1)
  t.match(last, { code: 'B1', lists: { blobs: 200 } })

  const second = await checkPart(new Progress(last))
  t.equal(second.length, 250, 'neither the repository nor the first page is examined again')
  t.equal(new Set([...first, ...second]).size, 451)
})
