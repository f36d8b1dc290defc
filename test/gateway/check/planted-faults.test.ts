/** Faults that are planted in the data of a running gateway, each found by its name. */

import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { type CheckOptions, checkSite } from '../../../gateway/check/check-site.js'
import type { CheckCode } from '../../../gateway/check/finding.js'
import { openStorage } from '../../../registry/storage/open.js'
import { type Database, transaction } from '../../../sql/database/database.js'
import { apk } from '../../helpers/apks.js'
import { freshLocation, openForTest } from '../../helpers/databases.js'
import { EXAMPLE_DEBS } from '../../helpers/debian-examples.js'
import { aPublication } from '../../helpers/package-rows.js'
import { startGatewayWithPull } from '../../helpers/pulls.js'
import { aUser } from '../../helpers/rows.js'

const git = await findGit()
const DAYS_MS = 3 * 86_400_000
const NO_OBJECT = '1234567890123456789012345678901234567890'

/** Starts a gateway with data of each kind that is checked. */
async function startFullGateway(t: Test) {
  const gateway = await startGatewayWithPull(t)
  const { settings, db, as, of, write, open, ask, authorizationOf } = gateway
  const storage = await openStorage(settings)
  const check = async (options: CheckOptions = {}) => {
    const found: string[] = []
    const context = { db, storage, settings, git }
    for await (const finding of checkSite(context, { settleMs: 0, ...options })) {
      const { code, subject, problem, isRepaired } = finding
      found.push(`${code} ${subject}: ${problem}${isRepaired ? ' (repaired)' : ''}`)
    }
    return found
  }
  for (const branch of ['one', 'two']) {
    await write(branch, branch)
    await open(branch)
  }
  const must = async (answer: Promise<{ readonly status: number; readonly text: string }>) => {
    const { status, text } = await answer
    if (status >= 300) throw new Error(`${status} ${text}`)
  }
  await must(of('ada', 'POST', '/releases', { tag_name: 'v1', target_commitish: 'main' }))
  await must(of('ada', 'POST', '/branch_protections', { rule_name: 'main', enable_push: true }))
  await must(
    of('ada', 'POST', '/hooks', {
      type: 'gitea',
      config: { url: 'http://127.0.0.1:1/', content_type: 'json', secret: 'known' },
      events: ['push'],
      active: true,
      authorization_header: 'Bearer known',
    }),
  )
  await must(of('ada', 'PUT', '/actions/secrets/TOKEN', { data: 'known' }))
  const authorization = authorizationOf('ada')
  const put = (path: string, body: Buffer) =>
    must(ask({ method: 'PUT', path: `/api/packages/ada/${path}`, body, authorization }))
  for (const { component, bytes } of EXAMPLE_DEBS) {
    await put(`debian/pool/bookworm/${component}/upload`, bytes)
  }
  await put('alpine/v1/main', apk({ pkgname: 'hello' }))
  await put('generic/tool/1.0/tool.bin', Buffer.from('bytes'))
  await must(ask({ path: '/api/packages/ada/debian/dists/bookworm/InRelease' }))
  await must(ask({ path: '/api/packages/ada/alpine/v1/main/x86_64/APKINDEX.tar.gz' }))
  await as('ada', 'POST', '/user/repos', { name: 'other', auto_init: true })
  return { ...gateway, storage, check }
}

/** Runs statements without the constraints of SQLite. */
async function unconstrained(db: Database, change: () => Promise<unknown>): Promise<void> {
  await db.raw('pragma foreign_keys = off')
  await db.raw('pragma ignore_check_constraints = on')
  await change()
  await db.raw('pragma ignore_check_constraints = off')
  await db.raw('pragma foreign_keys = on')
}

const longAgo = (path: string) => utimes(path, new Date(), new Date(Date.now() - DAYS_MS))

const only = (...codes: readonly CheckCode[]) => ({ codes: new Set(codes) })

type FullGateway = Awaited<ReturnType<typeof startFullGateway>>

async function plantInReferences(t: Test, { check, bare, copy, of }: FullGateway) {
  const blob = await copy.git('rev-parse', 'main:root')
  await writeFile(join(bare, 'refs/heads/lost'), `${NO_OBJECT}\n`)
  await writeFile(join(bare, 'refs/heads/garbage'), 'garbage\n')
  await writeFile(join(bare, 'HEAD'), 'ref: refs/heads/one\n')
  t.strictSame((await check(only('R2'))).sort(), [
    `R2 ada/r: HEAD names one, but the database main`,
    `R2 ada/r: The object ${NO_OBJECT} of refs/heads/lost is missing`,
    'R2 ada/r: The ref refs/heads/garbage is damaged',
  ])
  for (const name of ['lost', 'garbage']) await rm(join(bare, 'refs/heads', name))
  await writeFile(join(bare, 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(bare, 'refs/heads/blob'), `${blob}\n`)
  await mkdir(join(bare, 'refs/hidden'))
  await writeFile(join(bare, 'refs/hidden/x'), `${await copy.git('rev-parse', 'main')}\n`)
  t.strictSame(await check(only('R2')), [
    'R2 ada/r: The branch refs/heads/blob names a blob and not a commit',
    'R2 ada/r: The ref refs/hidden/x is outside of the namespaces that are served',
  ])
  await rm(join(bare, 'refs/hidden'), { recursive: true })
  await rm(join(bare, 'refs/heads/blob'))
  t.equal((await of('ada', 'GET', '/branches/main')).status, 200)
}

async function plantInNamedObjects(t: Test, { db, check, bare, bob }: FullGateway) {
  await rm(join(bare, 'refs/pull/1/head'))
  await db('pulls').where({ id: 2 }).update({ head_commit: NO_OBJECT })
  await rm(join(bare, 'refs/tags/v1'))
  await db('branch_protections').update({ settings: '{"enable_push": tr' })
  await db('scheduled_merges').insert({
    pull_id: 1,
    doer_id: bob.id,
    style: 'merge',
    title: '',
    message: '',
    deletes_branch: false,
    head_commit: NO_OBJECT,
    created_at: 1,
  })
  t.strictSame(await check(only('P1', 'P2')), [
    'P1 ada/r#1: The repository lacks refs/pull/1/head of the open pull request',
    `P1 ada/r#2: The repository lacks ${NO_OBJECT} of the open pull request`,
    'P2 ada/r: The tag v1 of a published release does not exist',
    `P2 ada/r#1: The commit ${NO_OBJECT} of the scheduled merge does not exist`,
    'P2 ada/r: The settings of the branch protection rule main are damaged',
  ])
  const lost = `P1 ada/r#2: The repository lacks ${NO_OBJECT} of the open pull request`
  t.match(await check({ repairs: true, ...only('P1') }), [/^P1 ada\/r#1: .* \(repaired\)$/, lost])
  t.strictSame(await check(only('P1')), [lost], 'the ref of the kept commit was created')
}

async function plantInIndexes(t: Test, { db, check, ask, storage }: FullGateway) {
  const metadata = await db('package_index_entries').first('id', 'metadata')
  await db('package_index_entries')
    .where({ id: metadata.id })
    .update({
      metadata: metadata.metadata.replace(/hello/g, 'changed'),
    })
  t.strictSame(await check(only('I1')), [], 'the fast check reads no content')
  const differing = await check({ isDeep: true, ...only('I1') })
  t.ok(differing.length >= 3)
  t.match(differing[0], /^I1 ada\/debian bookworm: The file .* differs from the packages of the/)
  t.strictSame(
    await check({ isDeep: true, repairs: true, ...only('I1') }),
    differing.map((line) => `${line} (repaired)`),
  )
  await ask({ path: '/api/packages/ada/debian/dists/bookworm/InRelease' })
  t.strictSame(await check({ isDeep: true, ...only('I1') }), [], 'the next reader builds it again')

  const [file] = await db('package_index_files as g')
    .join('blobs as b', 'b.id', 'g.blob_id')
    .where('g.path', 'like', '%InRelease')
    .orderBy('g.generation', 'desc')
  await storage.remove(file.storage_key)
  await db('package_index_files')
    .whereIn('index_id', db('package_indexes').where({ format: 'alpine' }).select('id'))
    .delete()
  t.strictSame((await check(only('I1', 'B1'))).sort(), [
    `B1 ${file.storage_key}: The bytes of the blob are missing`,
    'I1 ada/alpine v1/main: The index has packages, but no file',
    `I1 ada/debian bookworm: The bytes of the file ${file.path} are missing`,
  ])
  await db('package_indexes').update({ built: 100 })
  t.match(await check(only('I1')), [/later generation/, /later generation/])
}

async function plantInSealedValues(t: Test, { db, settings, check, ada }: FullGateway) {
  const secret = await openInstanceSecret(settings.data.dir)
  const sealed = secret.seal('known', 'a wrong context')
  await db('signing_keys').where({ format: 'debian' }).update({ private_sealed: sealed })
  await db('webhooks').update({ secret_sealed: sealed, authorization_sealed: 'damaged' })
  await db('workflow_secrets').update({ value: sealed })
  await db('second_factors').insert({ user_id: ada.id, secret_sealed: sealed, last_step: 0 })
  await db('users').where({ owner_id: ada.id }).update({ password_hash: '$argon2id$v=19$m=1' })
  const found = await check(only('S1'))
  const { id } = await db('webhooks').first('id')
  const { scope } = await db('workflow_secrets').first('scope')
  t.strictSame(
    found.map((line) => line.replace(/: .*/, '')),
    [
      `S1 signing key of the owner ${ada.id} for debian`,
      'S1 second factor of ada',
      `S1 secret of the webhook ${id}`,
      `S1 authorization of the webhook ${id}`,
      `S1 workflow secret TOKEN of ${scope}`,
      'S1 ada',
    ],
  )
  t.match(found[0], /secret\.key does not open the signing key/)
  t.match(found.at(-1), /The password hash of the account is damaged$/)
}

async function plantLeftovers(t: Test, { settings, check, bare, storage }: FullGateway) {
  const dataDir = settings.data.dir
  const lock = join(bare, 'refs/heads/main.lock')
  const quarantine = join(bare, 'objects/tmp_objdir-incoming-abc')
  const unfinished = `${repositoryPath(dataDir, newStorageKey())}.new-0123456789ab`
  const upload = join(storage.incomingFolder, 'upload')
  for (const folder of [quarantine, unfinished]) await mkdir(folder, { recursive: true })
  for (const file of [lock, upload]) await writeFile(file, '')
  t.strictSame(await check(only('C1')), [], 'they are young')
  for (const path of [lock, quarantine, unfinished, upload]) await longAgo(path)
  const push = join(dataDir, 'pushes', '0123456789abcdef01234567.json')
  const dead = { host: 'gone.example', repositoryPath: bare, startedAtMs: Date.now() - DAYS_MS }
  await mkdir(join(dataDir, 'pushes'), { recursive: true })
  await symlink(JSON.stringify({ ...dead, gateway: {}, leader: {} }), push)
  const repairable = [
    `C1 ada/r: ${lock} was left by an interrupted process`,
    `C1 ada/r: ${quarantine} was left by an interrupted process`,
    `C1 ${unfinished}: A repository was neither created nor removed completely`,
    `C1 ${upload}: The file of an interrupted upload was not removed`,
  ]
  const kept = `C1 ${push}: An interrupted push was not recovered`
  t.strictSame((await check(only('C1'))).sort(), [...repairable, kept].sort())
  const repaired = await check({ repairs: true, ...only('C1') })
  t.strictSame(repaired.filter((line) => line.endsWith(' (repaired)')).length > 0, true)
  t.strictSame(await check(only('C1')), [kept])
  t.notOk([lock, quarantine, unfinished, upload].some((path) => existsSync(path)))
}

async function plantInObjects(t: Test, { check, pathOf }: FullGateway) {
  const path = await pathOf('ada', 'other')
  const objects = (await readdir(join(path, 'objects'), { recursive: true }))
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{38}$|\.pack$/.test(name))
    .map((name) => join(path, 'objects', name))
  for (const object of objects) {
    await rm(object, { force: true })
    await writeFile(object, 'damaged')
  }
  t.strictSame(await check(only('R1')), [])
  t.match(await check({ isDeep: true, ...only('R2') }), [/^R2 ada\/other: (Git|The object) /])
}

async function plantInSizesAndRows(t: Test, { db, check, bare }: FullGateway) {
  await db('repositories').where({ name: 'r' }).update({ size_kib: 90_000 })
  t.match(await check(only('R3')), [/^R3 ada\/r: The size is \d+ KiB, but the database has 90000$/])
  t.match(await check({ repairs: true, ...only('R3') }), [/\(repaired\)$/])
  t.strictSame(await check(only('R3')), [])
  await appendFile(join(bare, 'description'), ' '.repeat(4_000_000))
  t.match(await check(only('R3')), [/^R3 ada\/r: The size is/])

  const { name } = await db('migrations').orderBy('name', 'desc').first('name')
  await db('migrations').where({ name }).update({ name: '9999-later' })
  const file = await db('package_files').where({ name: 'tool.bin' }).first('version_id')
  await unconstrained(db, async () => {
    await db('package_versions').where({ id: file.version_id }).delete()
    await db('owners').where({ name: 'bob' }).update({ kind: 'robot' })
  })
  t.match(await check(only('D1', 'K1')), [
    /^D1 migrations: the database has migrations of a newer Gatehouse \(9999-later\)/,
    new RegExp(`^D1 migrations: The migration ${name} is not applied$`),
    /^D1 database: SQLite finds a damaged file \(CHECK constraint failed in owners\)$/,
    /^D1 package_files: 1 row\(s\) of package_files name missing rows of package_versions$/,
    /^K1 tool\.bin: The package file tool\.bin \(\d+\) has no version$/,
  ])
}

t.test('each fault that is planted beside a running gateway is found by name', async (t) => {
  const gateway = await startFullGateway(t)
  t.strictSame(await gateway.check({ isDeep: true }), [], 'nothing is found on a healthy site')
  const plants: readonly ((t: Test, gateway: FullGateway) => Promise<void>)[] = [
    plantInReferences,
    plantInNamedObjects,
    plantLeftovers,
    plantInIndexes,
    plantInSealedValues,
    plantInObjects,
    plantInSizesAndRows,
  ]
  for (const plant of plants) await t.test(plant.name, (t) => plant(t, gateway))
})

t.test('rows that name missing rows are found in MariaDB', async (t) => {
  const location = await freshLocation(t, 'mysql')
  const db = await openForTest(t, location)
  const { id: ownerId } = await aUser(db, 'ada')
  await aPublication(db, { ownerId })
  await db('users').update({ password_hash: null })
  await transaction(db, async (trx) => {
    await trx.raw('set foreign_key_checks = 0')
    await trx('blobs').delete()
    await trx.raw('set foreign_key_checks = 1')
  })
  const found: string[] = []
  const context = { db, git } as Parameters<typeof checkSite>[0]
  for await (const { code, problem } of checkSite(context, { settleMs: 0, ...only('D1', 'K1') })) {
    found.push(`${code} ${problem}`)
  }
  t.match(found, [
    'D1 1 row(s) of package_files name missing rows of blobs',
    /^K1 The package file tool\.bin \(\d+\) has no blob$/,
  ])
})
