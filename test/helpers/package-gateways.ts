/** Gateways with packages in the test's process, for each database and each kind of storage. */

import type { Test } from 'tap'
import { type GatewayWithUsers, startGatewayWithUsers } from './gateway-with-users.js'
import { optionsOfKind, PACKAGE_KINDS, type PackageKind } from './package-kinds.js'
import { isFullSize } from './test-size.js'

/** Runs the same subtest on new gateways in the test's process, which do not redirect downloads. */
export async function forEachPackageGateway(
  t: Test,
  name: string,
  test: (t: Test, gateway: GatewayWithUsers) => Promise<void>,
): Promise<void> {
  for (const [words, kind] of Object.entries<PackageKind>(PACKAGE_KINDS)) {
    await t.test(`${words}: ${name}`, async (t) => {
      await test(t, await startGatewayWithUsers(t, await optionsOfKind(kind, false)))
    })
  }
}

/** Runs a subtest with a gateway of one kind; with `TEST_SIZE=full`, with each kind. */
export async function onPackageGateway(
  t: Test,
  kind: keyof typeof PACKAGE_KINDS,
  name: string,
  test: (t: Test, gateway: GatewayWithUsers) => Promise<void>,
): Promise<void> {
  if (isFullSize) await forEachPackageGateway(t, name, test)
  else {
    await t.test(`${kind}: ${name}`, async (t) => {
      await test(t, await startGatewayWithUsers(t, await optionsOfKind(PACKAGE_KINDS[kind], false)))
    })
  }
}
