/** Gateways with packages in the test's process, for each database and each kind of storage. */

import { t as root, type Test } from 'tap'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import { optionsOfKind, PACKAGE_KINDS, type PackageKind } from './package-kinds.js'
import { isFullSize } from './test-size.js'

export interface PackageGatewayOptions {
  /** True if downloads are redirected to the bucket, with S3; by default they are not. */
  readonly isRedirected?: boolean
}

type PackageTest = (t: Test, gateway: GatewayWithUsers) => Promise<void>

/**
 * Runs the same subtest on each kind of gateway. The subtests of a file share the gateways, so each
 * uses other packages.
 */
export async function forEachPackageGateway(
  t: Test,
  name: string,
  test: PackageTest,
  options: PackageGatewayOptions = {},
): Promise<void> {
  for (const [words, kind] of Object.entries<PackageKind>(PACKAGE_KINDS)) {
    await t.test(`${words}: ${name}`, async (t) =>
      test(t, await sharedGateway(words, kind, options)),
    )
  }
}

/** Runs a subtest on the gateway of one kind; with `TEST_SIZE=full`, on each kind. */
export async function onPackageGateway(
  t: Test,
  kind: keyof typeof PACKAGE_KINDS,
  name: string,
  test: PackageTest,
  options: PackageGatewayOptions = {},
): Promise<void> {
  if (isFullSize) await forEachPackageGateway(t, name, test, options)
  else
    await t.test(`${kind}: ${name}`, async (t) =>
      test(t, await sharedGateway(kind, PACKAGE_KINDS[kind], options)),
    )
}

const gateways = new Map<string, Promise<GatewayWithUsers>>()

async function sharedGateway(
  words: string,
  kind: PackageKind,
  { isRedirected = false }: PackageGatewayOptions,
): Promise<GatewayWithUsers> {
  const name = `${words} ${isRedirected}`
  const known = gateways.get(name)
  if (known !== undefined) return await known
  const started = optionsOfKind(kind, isRedirected).then((options) =>
    startGatewayWithUsers(root, options),
  )
  gateways.set(name, started)
  root.teardown(() => gateways.delete(name))
  return await started
}
