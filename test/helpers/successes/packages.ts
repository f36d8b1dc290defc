/** Successful requests, one for each operation on packages. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests. Requires ada's repository `r`, to which a package is linked. */
export async function successesOfPackages({ as, ask, authorizationOf }: GatewayWithUsers) {
  const path = '/packages/ada/generic/tool'
  for (const version of ['1', '2']) {
    const body = Buffer.from('data')
    const authorization = authorizationOf('ada')
    await ask({ method: 'PUT', path: `/api${path}/${version}/f`, body, authorization })
  }
  return {
    linkPackage: await as('ada', 'POST', `${path}/-/link/r`),
    listPackages: await as('ada', 'GET', '/packages/ada'),
    listPackageVersions: await as('ada', 'GET', path),
    getLatestPackageVersion: await as('ada', 'GET', `${path}/-/latest`),
    getPackage: await as('ada', 'GET', `${path}/1`),
    listPackageFiles: await as('ada', 'GET', `${path}/1/files`),
    listPackageDownloads: await as('ada', 'GET', `${path}/-/downloads?days=7`),
    ...(await successesOfSettings(as)),
    unlinkPackage: await as('ada', 'POST', `${path}/-/unlink`),
    deletePackageVersion: await as('ada', 'DELETE', `${path}/1`),
    deletePackage: await as('ada', 'DELETE', path),
  }
}

async function successesOfSettings(as: GatewayWithUsers['as']) {
  const owner = '/packages/ada/-'
  const rule = `${owner}/cleanup-rules/cran`
  const protect = await as('ada', 'POST', `${owner}/protections`, { type: 'go', pattern: 'a' })
  const { id } = protect.json as { readonly id: number }
  return {
    setPackageCleanupRule: await as('ada', 'PUT', rule, { enabled: true, keep_count: 100 }),
    listPackageCleanupRules: await as('ada', 'GET', `${owner}/cleanup-rules`),
    getPackageCleanupRule: await as('ada', 'GET', rule),
    previewPackageCleanupRule: await as('ada', 'GET', `${rule}/preview`),
    runPackageCleanupRule: await as('ada', 'POST', `${rule}/run`),
    deletePackageCleanupRule: await as('ada', 'DELETE', rule),
    createPackageProtection: protect,
    listPackageProtections: await as('ada', 'GET', `${owner}/protections`),
    deletePackageProtection: await as('ada', 'DELETE', `${owner}/protections/${id}`),
    getPackageSettings: await as('ada', 'GET', `${owner}/settings`),
    editPackageSettings: await as('ada', 'PATCH', `${owner}/settings`, { immutable: false }),
    adminSetPackageQuota: await as('root', 'PUT', '/admin/packages/ada/quota', {}),
  }
}
