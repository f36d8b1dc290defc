/** The AuditEntry of this API. */

import { type Static, Type } from 'typebox'
import type { AuditEntry } from '../../sql/admin/audit.js'
import { nullable, TIME } from './schema.js'
import { apiTime } from './times.js'

export const AUDIT_ENTRY = Type.Object(
  {
    id: Type.Integer(),
    created_at: TIME,
    action: Type.String(),
    actor: Type.String(),
    actor_id: nullable(Type.Integer()),
    credential: Type.String(),
    token_id: nullable(Type.Integer()),
    sudo_by: Type.String(),
    address: Type.String(),
    request_id: Type.String(),
    subject: Type.String(),
    details: Type.String(),
    is_complete: Type.Boolean(),
  },
  { $id: 'AuditEntry' },
)

/** Returns an entry of the audit log. */
export function auditObject(entry: AuditEntry): Static<typeof AUDIT_ENTRY> {
  return {
    id: entry.id,
    created_at: apiTime(entry.createdAtMs),
    action: entry.action,
    actor: entry.actorName,
    actor_id: entry.actorId ?? null,
    credential: entry.credential,
    token_id: entry.tokenId ?? null,
    sudo_by: entry.sudoBy ?? '',
    address: entry.address ?? '',
    request_id: entry.requestId ?? '',
    subject: entry.subject,
    details: entry.details,
    is_complete: entry.completedAtMs !== undefined,
  }
}
