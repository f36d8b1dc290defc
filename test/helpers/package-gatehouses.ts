/** Servers with packages, for tests on each database and each kind of storage. */

import { t as root, type Test } from 'tap'
import { freshLocation } from './databases.js'
import { type Gatehouse, type Person, startGatehouse } from './gatehouse.js'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import { sharedS3Server } from './shared-s3-server.js'
import { isFullSize } from './test-size.js'

export interface PackageGatehouse extends Gatehouse {
  readonly ada: Person
}

// Two workers are enough for one kind: threats/index-under-fire has several on both databases.
const KINDS = {
  'SQLite and files': { database: 'sqlite', workers: 1 },
  'MariaDB and S3': { database: 'mysql', workers: 2, isS3: true },
} as const

interface Kind {
  readonly database: 'sqlite' | 'mysql'
  readonly workers: number
  readonly isS3?: true
}

/**
 * Runs the same subtest on each kind of server, with the user ada. With S3, downloads are
 * redirected to the bucket. The subtests of a file share the servers, so each uses other packages.
 */
export async function forEachPackageGatehouse(
  t: Test,
  name: string,
  test: (t: Test, fixture: PackageGatehouse) => Promise<void>,
): Promise<void> {
  for (const [words, kind] of Object.entries(KINDS)) {
    await t.test(`${words}: ${name}`, async (t) => test(t, await sharedGatehouse(words, kind)))
  }
}

/**
 * Runs a subtest on the server of one kind; with `TEST_SIZE=full`, on each kind. For journeys whose
 * replies do not depend on the database; each file uses each kind at least once.
 */
export async function onPackageGatehouse(
  t: Test,
  kind: keyof typeof KINDS,
  name: string,
  test: (t: Test, fixture: PackageGatehouse) => Promise<void>,
): Promise<void> {
  if (isFullSize) await forEachPackageGatehouse(t, name, test)
  else
    await t.test(`${kind}: ${name}`, async (t) => test(t, await sharedGatehouse(kind, KINDS[kind])))
}

/** Runs the same subtest on new gateways in the test's process, which do not redirect downloads. */
export async function forEachPackageGateway(
  t: Test,
  name: string,
  test: (t: Test, gateway: GatewayWithUsers) => Promise<void>,
): Promise<void> {
  for (const [words, kind] of Object.entries<Kind>(KINDS)) {
    await t.test(`${words}: ${name}`, async (t) => {
      await test(t, await startGatewayWithUsers(t, await optionsOf(kind, false)))
    })
  }
}

/** Runs a subtest with a gateway of one kind, as `onPackageGatehouse` does. */
export async function onPackageGateway(
  t: Test,
  kind: keyof typeof KINDS,
  name: string,
  test: (t: Test, gateway: GatewayWithUsers) => Promise<void>,
): Promise<void> {
  if (isFullSize) await forEachPackageGateway(t, name, test)
  else {
    await t.test(`${kind}: ${name}`, async (t) => {
      await test(t, await startGatewayWithUsers(t, await optionsOf(KINDS[kind], false)))
    })
  }
}

const servers = new Map<string, Promise<PackageGatehouse>>()

async function sharedGatehouse(words: string, kind: Kind): Promise<PackageGatehouse> {
  const known = servers.get(words)
  if (known !== undefined) return await known
  const started = startPackageGatehouse(kind)
  servers.set(words, started)
  root.teardown(() => servers.delete(words))
  return await started
}

async function startPackageGatehouse(kind: Kind): Promise<PackageGatehouse> {
  const { location, environment } = await optionsOf(kind, true)
  const gatehouse = await startGatehouse(root, {
    location,
    workers: kind.workers,
    // Some tests read the requests in the log.
    environment: { ...environment, GATEHOUSE_LOG_LEVEL: 'debug' },
  })
  return { ...gatehouse, pid: gatehouse.pid, ada: await gatehouse.addUser('ada') }
}

async function optionsOf({ database, isS3 }: Kind, isRedirected: boolean) {
  const bucket = isS3 ? await (await sharedS3Server()).createBucket() : undefined
  return {
    location: await freshLocation(root, database),
    environment: {
      ...(bucket === undefined ? {} : { GATEHOUSE_BLOBS_URL: bucket }),
      GATEHOUSE_BLOBS_REDIRECT: String(isRedirected),
    },
  }
}
