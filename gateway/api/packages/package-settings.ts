/** Settings of an owner's packages over the API: immutability, protected versions and quotas. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { findOwner } from '../../../sql/accounts/owners.js'
import { setImmutable, setOwnQuota } from '../../../sql/packages/owner-settings.js'
import {
  listPackageProtections,
  removePackageProtection,
} from '../../../sql/packages/protections.js'
import { packageSettings } from '../../actions/packages/package-settings.js'
import { protectVersions, wantedFormat } from '../../actions/packages/retention.js'
import {
  EDIT_PACKAGE_SETTINGS_OPTION,
  PACKAGE_PROTECTION,
  PACKAGE_PROTECTION_OPTION,
  PACKAGE_QUOTA_OPTION,
  PACKAGE_SETTINGS,
  packageProtectionObject,
  packageSettingsObject,
} from '../../objects/packages/retention-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const OWN = { kind: 'packages', mode: 'owner', isSignedIn: true } as const
const SETTINGS = '/packages/{owner}/-/settings'
const PROTECTIONS = '/packages/{owner}/-/protections'
const PARAMS = { owner: 'owner of the packages' }

const get = defineOperation({
  id: 'getPackageSettings',
  method: 'GET',
  path: SETTINGS,
  summary: "Get the settings, the usage and the quotas of an owner's packages",
  tags: ['package'],
  access: OWN,
  scopes: ['read:package'],
  params: PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PACKAGE_SETTINGS },
  failures: [403, 404],
  async handle(context, { grant }) {
    return jsonReply(200, packageSettingsObject(await packageSettings(context, grant.owner)))
  },
})

const edit = defineOperation({
  id: 'editPackageSettings',
  method: 'PATCH',
  path: SETTINGS,
  summary: 'Decide whether deleted package files can be published again with other bytes',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: PARAMS,
  query: NO_QUERY,
  body: EDIT_PACKAGE_SETTINGS_OPTION,
  success: { status: 200, schema: PACKAGE_SETTINGS },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    await setImmutable(context.db, grant.owner.id, body.immutable)
    return jsonReply(200, packageSettingsObject(await packageSettings(context, grant.owner)))
  },
})

const listProtected = defineOperation({
  id: 'listPackageProtections',
  method: 'GET',
  path: PROTECTIONS,
  summary: 'List the patterns of versions that cannot be deleted',
  tags: ['package'],
  access: OWN,
  scopes: ['read:package'],
  params: PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(PACKAGE_PROTECTION) },
  failures: [403, 404],
  async handle(context, { grant }) {
    const protections = await listPackageProtections(context.db, { ownerId: grant.owner.id })
    return jsonReply(200, protections.map(packageProtectionObject))
  },
})

const protect = defineOperation({
  id: 'createPackageProtection',
  method: 'POST',
  path: PROTECTIONS,
  summary: 'Protect the versions whose name/version matches a pattern from deletion',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: PARAMS,
  query: NO_QUERY,
  body: PACKAGE_PROTECTION_OPTION,
  success: { status: 201, schema: PACKAGE_PROTECTION },
  failures: [403, 404, 409, 422],
  async handle(context, { grant, body }) {
    const format = wantedFormat(body.type)
    const { pattern } = body
    const created = await protectVersions(context, grant.owner, { format, pattern })
    return jsonReply(201, packageProtectionObject(created))
  },
})

const unprotect = defineOperation({
  id: 'deletePackageProtection',
  method: 'DELETE',
  path: `${PROTECTIONS}/{id}`,
  summary: 'Remove a pattern of protected versions',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: { ...PARAMS, id: 'id of the pattern' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const { db } = context
    if (!(await removePackageProtection(db, grant.owner.id, Number(params['id'])))) throw notFound()
    return { status: 204 }
  },
})

const setQuota = defineOperation({
  id: 'adminSetPackageQuota',
  method: 'PUT',
  path: '/admin/packages/{owner}/quota',
  summary: "Set the quotas of an owner's packages and LFS objects",
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['write:admin'],
  params: PARAMS,
  query: NO_QUERY,
  body: PACKAGE_QUOTA_OPTION,
  success: { status: 200, schema: PACKAGE_SETTINGS },
  failures: [403, 404, 422],
  async handle(context, { params, body }) {
    const owner = await findOwner(context.db, params['owner'] ?? '')
    if (owner === undefined) throw notFound()
    await setOwnQuota(context.db, owner.id, {
      versionsMax: body.versions_max ?? null,
      bytesMax: body.size_max ?? null,
      lfsBytesMax: body.lfs_size_max ?? null,
    })
    return jsonReply(200, packageSettingsObject(await packageSettings(context, owner)))
  },
})

export const PACKAGE_SETTING_OPERATIONS: readonly AnyOperation[] = [
  get,
  edit,
  listProtected,
  protect,
  unprotect,
  setQuota,
]
