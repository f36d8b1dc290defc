/** The audit log over the API: of the site, an organization, or the caller. */

import { type Static, Type } from 'typebox'
import { type AuditFilter, listAuditEntries } from '../../../sql/admin/audit.js'
import { AUDIT_ENTRY, auditObject } from '../../objects/audit-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, pageOf, pageReply } from '../paging.js'

const QUERY = Type.Object({
  ...PAGE_QUERY,
  actor: Type.Optional(Type.String({ description: 'name of the account that made the change' })),
  action: Type.Optional(
    Type.String({ description: 'an action such as ssh_key.create, or the part before its dot' }),
  ),
  since: Type.Optional(Type.String({ description: 'entries at or after this time (RFC 3339)' })),
  before: Type.Optional(Type.String({ description: 'entries before this time (RFC 3339)' })),
})

const SUCCESS = { status: 200, schema: Type.Array(AUDIT_ENTRY) } as const

interface Listing {
  readonly path: string
  readonly query: Static<typeof QUERY>
  readonly ownerId?: number
}

async function listing(context: Context, { path, query, ownerId }: Listing) {
  const page = pageOf(query)
  const { actor, action, since, before } = query
  const filter: AuditFilter = {
    ownerId,
    actor: actor || undefined,
    action: action || undefined,
    sinceMs: timeOf(since),
    beforeMs: timeOf(before),
  }
  const { entries, total } = await listAuditEntries(context.db, filter, page)
  const given = { actor, action, since, before }
  return pageReply(context, entries.map(auditObject), { path, query: given, page, total })
}

/** Returns the time of a query parameter; undefined for other texts, as for other parameters. */
function timeOf(text: string | undefined): number | undefined {
  const timeMs = Date.parse(text ?? '')
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const ofSite = defineOperation({
  id: 'adminListAuditEntries',
  method: 'GET',
  path: '/admin/audit',
  summary: 'List the audit log of the site',
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['read:admin'],
  params: {},
  query: QUERY,
  success: SUCCESS,
  failures: [403],
  handle: (context, { query }) => listing(context, { path: '/admin/audit', query }),
})

const ofOrganization = defineOperation({
  id: 'orgListAuditEntries',
  method: 'GET',
  path: '/orgs/{org}/audit',
  summary: 'List the audit log of an organization and its repositories',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['read:organization'],
  params: { org: 'name of the organization' },
  query: QUERY,
  success: SUCCESS,
  failures: [403, 404],
  handle: (context, { grant: { organization }, query }) =>
    listing(context, {
      path: `/orgs/${organization.name}/audit`,
      query,
      ownerId: organization.id,
    }),
})

const ofUser = defineOperation({
  id: 'userListAuditEntries',
  method: 'GET',
  path: '/user/audit',
  summary: "List the audit log of the authenticated user's account and repositories",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: QUERY,
  success: SUCCESS,
  failures: [],
  handle: (context, { grant, query }) =>
    listing(context, { path: '/user/audit', query, ownerId: grant.user.id }),
})

export const AUDIT_OPERATIONS: readonly AnyOperation[] = [ofSite, ofOrganization, ofUser]
