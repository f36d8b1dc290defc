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
    unlinkPackage: await as('ada', 'POST', `${path}/-/unlink`),
    deletePackageVersion: await as('ada', 'DELETE', `${path}/1`),
    deletePackage: await as('ada', 'DELETE', path),
  }
}
