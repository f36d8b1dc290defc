/** Downloads of a package by day over the API. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import {
  DOWNLOAD_DAYS,
  dateOf,
  dayOf,
  listDailyDownloads,
} from '../../../sql/packages/package-downloads.js'
import { findPackage } from '../../../sql/packages/packages.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { jsonReply } from '../surface.js'

const DAYS_BY_DEFAULT = 30

const PACKAGE_DOWNLOADS = Type.Object(
  { date: Type.String({ format: 'date' }), downloads: Type.Integer() },
  { $id: 'PackageDownloads' },
)

const list = defineOperation({
  id: 'listPackageDownloads',
  method: 'GET',
  path: '/packages/{owner}/{type}/{name}/-/downloads',
  summary: 'Gets the downloads of a package on each of the last days, in UTC, without days of none',
  tags: ['package'],
  access: { kind: 'packages', mode: 'read', isSignedIn: true },
  scopes: ['read:package'],
  params: {
    owner: 'owner of the packages',
    type: 'type of the package',
    name: 'name of the package',
  },
  query: Type.Object({
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `number of days, ${DAYS_BY_DEFAULT} by default; ${DOWNLOAD_DAYS} are kept`,
      }),
    ),
  }),
  success: { status: 200, schema: Type.Array(PACKAGE_DOWNLOADS) },
  failures: [404],
  async handle({ db }, { grant, params, query }) {
    const format = PACKAGE_FORMATS.find((known) => known === params['type'])
    const namespace = { ownerId: grant.owner.id, format: format ?? '' }
    const found = format && (await findPackage(db, namespace, params['name'] ?? ''))
    if (found === undefined) throw new Failure('not_found', 'package does not exist')
    const fromDay = dayOf(Date.now()) - (query.days ?? DAYS_BY_DEFAULT) + 1
    const daily = await listDailyDownloads(db, found.id, fromDay)
    return jsonReply(
      200,
      daily.map(({ day, downloads }) => ({ date: dateOf(day), downloads })),
    )
  },
})

export const PACKAGE_DOWNLOAD_OPERATIONS: readonly AnyOperation[] = [list]
