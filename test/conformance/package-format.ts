/** Conformance tests for package formats, which the test of each format runs. */

import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import type { PackageFormat } from '../../conf/package.js'
import type { User } from '../../sql/accounts/users.js'
import { forEachDatabase, freshLocation } from '../helpers/databases.js'
import type { Gateway } from '../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { passwordOf } from '../helpers/passwords.js'
import { type Answer, withPassword, withToken } from '../helpers/requests.js'
import { isFullSize } from '../helpers/test-size.js'

/** A request below `/api/packages/{owner}/{format}`. */
export interface FormatRequest {
  readonly method?: string
  readonly path: string
  readonly body?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Description of a format for the common tests. */
export interface FormatSubject {
  readonly format: PackageFormat
  /** Settings of the gateway by variable. */
  readonly environment?: Readonly<Record<string, string>>
  /** Returns the request that publishes a version of one package; each salt gives other bytes. */
  publish(version: string, salt: string): Promise<FormatRequest>
  /** Returns the version with this index, from 0; all of them are valid and distinct. */
  version(index: number): string
  /** Returns the path of a published version's file. */
  file(version: string): string
  /** List of the package's versions, if the format has one. */
  readonly list?: {
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    /** Returns true if the list contains the version. */
    holds(answer: Answer, version: string): boolean
  }
  /** Returns the request that deletes a version, if the format has one. */
  remove?(version: string): FormatRequest
  /** Returns publications that are refused with 400, by the fault of each. */
  hostile(): Promise<Readonly<Record<string, FormatRequest>>>
}

/**
 * Formats that are tested on MariaDB; the others are tested on SQLite. All formats use the same
 * queries, and each database has a format with an index, with a list and with deletions.
 */
const ON_MARIADB: ReadonlySet<PackageFormat> = new Set(['debian', 'generic', 'swift'])

/** Runs all tests on one database, and at full size on both. */
export async function testFormat(t: Test, subject: FormatSubject): Promise<void> {
  const suite: ReadonlyArray<readonly [string, Check]> = [
    ['a published file is downloaded unchanged, whole and in ranges', publishedIsFetched],
    ['a second upload of a version returns 409 and keeps the first one', duplicateIsRefused],
    ['versions are listed immediately after their publication', publishedAreListed],
    ['a deleted version is not found and can be published again', deletedIsNotFound],
    ['the packages of a private owner need permission', privateIsPrivate],
    ['a token without the scope of the operation is refused', scopesAreRequired],
    ['users without permission cannot publish', othersCannotPublish],
    ['a malformed package is refused with a message', hostileIsRefused],
    ['one of many concurrent uploads of a version succeeds', raceHasOneWinner],
  ]
  // The tests share a gateway, because the thread that reads its uploads takes long to start.
  await onDatabaseOf(t, subject, async (t, location) => {
    const { environment = {} } = subject
    const gateway = await startGatewayWithUsers(t, { location, environment })
    for (const [at, [name, check]] of suite.entries()) {
      await t.test(name, async (t) => check(t, await withOwner(gateway, `ada-${at}`), subject))
    }
  })
  await t.test(`${subject.format}: ${SIZE_TEST}`, async (t) => {
    const environment = { GATEHOUSE_PACKAGES_SIZE_MAX: '20' }
    const gateway = await startGatewayWithUsers(t, { environment })
    await limitsApply(t, await withOwner(gateway, 'ada-limited'), subject)
  })
}

async function onDatabaseOf(
  t: Test,
  { format }: FormatSubject,
  test: (t: Test, location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  if (isFullSize) return await forEachDatabase(t, format, test)
  const kind = ON_MARIADB.has(format) ? 'mysql' : 'sqlite'
  await t.test(`${kind}: ${format}`, async (t) => test(t, await freshLocation(t, kind)))
}

/** A gateway for one test, whose packages have an owner of their own. */
interface OwnedGateway extends Pick<Gateway, 'ask' | 'addToken' | 'addOrganization'> {
  /** User who owns the packages, by default those of each request. */
  readonly owner: User
  authorizationOf(who: Who): string | undefined
}

type Check = (t: Test, gateway: OwnedGateway, subject: FormatSubject) => Promise<void>

const SIZE_TEST = 'a file above the size limit is refused and not stored'

/** `owner` is the user who owns the packages of the test. */
type Who = 'owner' | 'bob' | 'root' | 'anyone'

async function withOwner(gateway: GatewayWithUsers, name: string): Promise<OwnedGateway> {
  const owner = await gateway.addUser(name)
  const authorization = withToken((await gateway.addToken(owner, 'all')).plain)
  return {
    ...gateway,
    owner,
    authorizationOf: (who) => (who === 'owner' ? authorization : gateway.authorizationOf(who)),
  }
}

interface Input extends FormatRequest {
  readonly owner?: string
  readonly who?: Who
  readonly authorization?: string
}

function ask(gateway: OwnedGateway, { format }: FormatSubject, input: Input): Promise<Answer> {
  const { owner = gateway.owner.name, who = 'owner', path, ...rest } = input
  const authorization = input.authorization ?? gateway.authorizationOf(who)
  return gateway.ask({ ...rest, path: `/api/packages/${owner}/${format}${path}`, authorization })
}

async function publish(
  gateway: OwnedGateway,
  subject: FormatSubject,
  { version = subject.version(0), salt = 'one', ...input }: Partial<Input> & PublishInput = {},
): Promise<Answer> {
  return await ask(gateway, subject, { ...(await subject.publish(version, salt)), ...input })
}

interface PublishInput {
  readonly version?: string
  readonly salt?: string
}

async function fetchFile(
  gateway: OwnedGateway,
  subject: FormatSubject,
  input: Partial<Input> = {},
) {
  return await ask(gateway, subject, { path: subject.file(subject.version(0)), ...input })
}

async function publishedIsFetched(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  const published = await publish(gateway, subject)
  t.match(published, { status: 201, text: '' })
  const whole = await fetchFile(gateway, subject, { who: 'anyone' })
  t.equal(whole.status, 200)
  const { length } = whole.bytes
  t.equal(whole.headers['content-length'], String(length))
  const { etag = '' } = whole.headers
  t.equal(etag, `"${createHash('sha256').update(whole.bytes).digest('hex')}"`)
  t.match(whole.headers, {
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    'content-disposition': /^attachment; filename="/,
  })
  const headers = (more: Record<string, string>) => ({ who: 'anyone' as const, headers: more })
  const part = await fetchFile(gateway, subject, headers({ range: 'bytes=1-2' }))
  t.match(part, { status: 206, headers: { 'content-range': `bytes 1-2/${length}` } })
  t.strictSame(part.bytes, whole.bytes.subarray(1, 3))
  const outside = await fetchFile(gateway, subject, headers({ range: `bytes=${length}-` }))
  t.match(outside, { status: 416, headers: { 'content-range': `bytes */${length}` } })
  const other = await fetchFile(
    gateway,
    subject,
    headers({ range: 'bytes=1-2', 'if-range': '"x"' }),
  )
  t.equal(other.status, 200)
  t.equal((await fetchFile(gateway, subject, headers({ 'if-none-match': etag }))).status, 304)
  const head = await fetchFile(gateway, subject, { method: 'HEAD', who: 'anyone' })
  t.match(head, { status: 200, text: '', headers: { etag, 'content-length': String(length) } })
}

async function duplicateIsRefused(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  t.equal((await publish(gateway, subject)).status, 201)
  const { bytes } = await fetchFile(gateway, subject)
  for (const salt of ['one', 'two']) {
    const again = await publish(gateway, subject, { salt })
    t.equal(again.status, 409, salt)
    t.match(again.text, /already exists/, salt)
  }
  t.strictSame((await fetchFile(gateway, subject)).bytes, bytes)
}

async function lists(
  gateway: OwnedGateway,
  subject: FormatSubject,
  version: string,
): Promise<boolean> {
  if (subject.list === undefined) return false
  const { path, headers = {} } = subject.list
  const answer = await ask(gateway, subject, { path, headers })
  return answer.status === 200 && subject.list.holds(answer, version)
}

/** Checks single and concurrent publications of one owner, because a signing key takes long. */
async function publishedAreListed(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  if (subject.list === undefined) return
  for (const index of [0, 1, 2]) {
    const version = subject.version(index)
    t.equal(
      await lists(gateway, subject, version),
      false,
      `${version} is not listed before its publication`,
    )
    t.equal((await publish(gateway, subject, { version, salt: `${index}` })).status, 201)
    t.equal(await lists(gateway, subject, version), true, version)
  }
  const versions = Array.from({ length: RACERS }, (_, index) => subject.version(3 + index))
  const answers = await Promise.all(
    versions.map((version) => publish(gateway, subject, { version, salt: version })),
  )
  t.strictSame([...new Set(answers.map(({ status }) => status))], [201])
  const { path, headers = {}, holds } = subject.list
  const answer = await ask(gateway, subject, { path, headers })
  t.strictSame(
    versions.filter((version) => !holds(answer, version)),
    [],
    'concurrently published versions are all listed',
  )
}

async function deletedIsNotFound(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  if (subject.remove === undefined) return
  const removal = subject.remove(subject.version(0))
  t.equal(
    (await ask(gateway, subject, removal)).status,
    404,
    'deleting a missing version returns 404',
  )
  await publish(gateway, subject)
  for (const who of ['bob', 'anyone'] as const) {
    t.equal((await ask(gateway, subject, { ...removal, who })).status, 401, who)
  }
  t.equal((await ask(gateway, subject, removal)).status, 204)
  t.equal((await fetchFile(gateway, subject)).status, 404)
  t.equal((await ask(gateway, subject, removal)).status, 404)
  t.equal((await publish(gateway, subject, { salt: 'two' })).status, 201)
}

async function privateIsPrivate(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  const { name } = gateway.owner
  const owner = `guild-of-${name}`
  await gateway.addOrganization(owner, gateway.owner, 'private')
  t.equal((await publish(gateway, subject, { owner })).status, 201)
  t.equal((await fetchFile(gateway, subject, { owner })).status, 200, 'a member reads the package')
  const anonymous = await fetchFile(gateway, subject, { owner, who: 'anyone' })
  t.match(anonymous, { status: 401, headers: { 'www-authenticate': /^Basic realm="/ } })
  const missing = await fetchFile(gateway, subject, { owner: 'nobody', who: 'anyone' })
  t.equal(missing.status, 401)
  t.strictSame(missing.text, anonymous.text, 'private and missing owners get the same reply')
  for (const input of [{ owner }, { owner: 'nobody' }]) {
    t.equal((await fetchFile(gateway, subject, { ...input, who: 'bob' })).status, 404, input.owner)
  }
  const authorization = withPassword(name, passwordOf(name))
  t.equal(
    (await fetchFile(gateway, subject, { owner, authorization })).status,
    200,
    'a password is accepted',
  )
}

async function scopesAreRequired(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  const tokenOf = async (scope: string) =>
    withToken((await gateway.addToken(gateway.owner, scope)).plain)
  const [read, write, other] = [
    await tokenOf('read:package'),
    await tokenOf('write:package'),
    await tokenOf('write:repository'),
  ]
  t.equal(
    (await publish(gateway, subject, { authorization: read })).status,
    401,
    'read:package does not permit publishing',
  )
  t.equal((await publish(gateway, subject, { authorization: other })).status, 401)
  t.equal((await publish(gateway, subject, { authorization: write })).status, 201)
  t.equal((await fetchFile(gateway, subject, { authorization: read })).status, 200)
  t.equal((await fetchFile(gateway, subject, { authorization: write })).status, 200)
  t.equal((await fetchFile(gateway, subject, { authorization: other })).status, 401)
  const wrong = await fetchFile(gateway, subject, {
    authorization: withPassword(gateway.owner.name, 'wrong'),
  })
  t.equal(wrong.status, 401, 'wrong credentials are refused even for public packages')
  const asName = withPassword((await gateway.addToken(gateway.owner, 'write:package')).plain, '')
  const version = subject.version(1)
  t.equal((await publish(gateway, subject, { version, authorization: asName })).status, 201)
}

async function othersCannotPublish(t: Test, gateway: OwnedGateway, subject: FormatSubject) {
  for (const who of ['bob', 'anyone'] as const) {
    const refused = await publish(gateway, subject, { who })
    t.match(refused, { status: 401, headers: { 'www-authenticate': /^Basic realm="/ } }, who)
  }
  t.equal((await fetchFile(gateway, subject)).status, 404)
}

async function limitsApply(t: Test, gateway: OwnedGateway, subject: FormatSubject): Promise<void> {
  const salt = 'more than twenty bytes of it'
  const refused = await publish(gateway, subject, { salt })
  t.equal(refused.status, 403)
  t.match(refused.text, /maximum allowed package type size exceeded/)
  t.equal((await fetchFile(gateway, subject)).status, 404)
  t.equal(
    (await publish(gateway, subject, { salt, who: 'root' })).status,
    201,
    'the limit does not apply to administrators',
  )
}

async function hostileIsRefused(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  for (const [what, request] of Object.entries(await subject.hostile())) {
    const refused = await ask(gateway, subject, request)
    t.equal(refused.status, 400, what)
    t.not(refused.text, '', what)
    t.notMatch(refused.text, /undefined|\[object|at .*\.js/, what)
  }
}

const RACERS = isFullSize ? 50 : 16

async function raceHasOneWinner(
  t: Test,
  gateway: OwnedGateway,
  subject: FormatSubject,
): Promise<void> {
  const salts = Array.from({ length: RACERS }, (_, index) => `salt ${index}`)
  const answers = await Promise.all(salts.map((salt) => publish(gateway, subject, { salt })))
  const winners = answers.flatMap(({ status }, index) => (status === 201 ? [index] : []))
  t.equal(winners.length, 1, 'one upload succeeds')
  t.equal(
    answers.filter(({ status }) => status === 409).length,
    RACERS - 1,
    'all others return 409',
  )
  const kept = await fetchFile(gateway, subject)
  // A format may change the upload, so compare with the same salt published by another owner.
  const owner = `guild-of-${gateway.owner.name}`
  await gateway.addOrganization(owner, gateway.owner)
  await publish(gateway, subject, { owner, salt: salts[winners[0] ?? 0] ?? '' })
  t.strictSame(kept.bytes, (await fetchFile(gateway, subject, { owner })).bytes)
}
