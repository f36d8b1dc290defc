/** Servers with packages, for tests on each database and each kind of storage. */

import { t as root, type Test } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from './gatehouse.js'
import { basic } from './literal-http.js'
import { optionsOfKind, PACKAGE_KINDS, type PackageKind } from './package-kinds.js'
import { isFullSize } from './test-size.js'

export interface PackageGatehouse extends Gatehouse {
  readonly ada: Person
}

/**
 * Sends a package with the request of `curl --user … --upload-file …`, which docs.test.ts runs.
 * Returns the body of the reply followed by its status.
 */
export async function putPackage(user: Person, url: string, bytes: Uint8Array): Promise<string> {
  const request = { method: 'PUT', headers: basic(user.name, user.token) }
  const answer = await fetch(url, { ...request, body: new Uint8Array(bytes) })
  return `${await answer.text()}${answer.status}`
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
  for (const [words, kind] of Object.entries(PACKAGE_KINDS)) {
    await t.test(`${words}: ${name}`, async (t) => test(t, await sharedGatehouse(words, kind)))
  }
}

/**
 * Runs a subtest on the server of one kind; with `TEST_SIZE=full`, on each kind. For journeys whose
 * replies do not depend on the kind. A file uses one kind, because each server takes a second.
 */
export async function onPackageGatehouse(
  t: Test,
  kind: keyof typeof PACKAGE_KINDS,
  name: string,
  test: (t: Test, fixture: PackageGatehouse) => Promise<void>,
): Promise<void> {
  if (isFullSize) await forEachPackageGatehouse(t, name, test)
  else
    await t.test(`${kind}: ${name}`, async (t) =>
      test(t, await sharedGatehouse(kind, PACKAGE_KINDS[kind])),
    )
}

const servers = new Map<string, Promise<PackageGatehouse>>()

async function sharedGatehouse(words: string, kind: PackageKind): Promise<PackageGatehouse> {
  const known = servers.get(words)
  if (known !== undefined) return await known
  const started = startPackageGatehouse(kind)
  servers.set(words, started)
  root.teardown(() => servers.delete(words))
  return await started
}

async function startPackageGatehouse(kind: PackageKind): Promise<PackageGatehouse> {
  const { location, environment } = await optionsOfKind(kind, true)
  const gatehouse = await startGatehouse(root, {
    location,
    workers: kind.workers,
    // Some tests read the requests in the log.
    environment: { ...environment, GATEHOUSE_LOG_LEVEL: 'debug' },
  })
  return { ...gatehouse, pid: gatehouse.pid, ada: await gatehouse.addUser('ada') }
}
