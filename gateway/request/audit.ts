/**
 * The audit log: the router adds an entry before a change and completes it afterwards. The entry is
 * on the disk first, so that a crash leaves an entry without a result, and never a change without
 * an entry.
 */

import type { Reply, Request } from '../../conf/http.js'
import {
  type AuditFacts,
  beginAuditEntry,
  cancelAuditEntry,
  completeAuditEntry,
} from '../../sql/admin/audit.js'
import type { Identity } from '../auth/authenticate.js'
import { auditedDetails } from './audited-details.js'
import type { Context } from './context.js'
import type { Call } from './route.js'

/** Maximum size of a body whose fields are recorded. */
const BODY_BYTES_MAX = 65_536

interface AuditedCall {
  readonly action: string
  readonly who: Identity
  readonly call: Call
}

/** Runs the handler of an audited route. An entry remains unless the request is refused. */
export async function withAudit(
  context: Context,
  { action, who, call }: AuditedCall,
  handle: (call: Call) => Reply | Promise<Reply>,
): Promise<Reply> {
  const { request, params } = call
  const id = await beginAuditEntry(context.db, {
    ...actorOf(who),
    ...subjectOf(call),
    action,
    address: request.address,
    requestId: request.id,
  })
  const chunks: Uint8Array[] = []
  const reply = await replyOf(() => handle({ ...call, request: observed(request, chunks) }))
  if ('thrown' in reply) {
    if (statusOf(reply.thrown) < 500) await cancelAuditEntry(context.db, id)
    throw reply.thrown
  }
  const { status } = reply
  // A redirect with the same method changes nothing.
  if (status >= 400 || status === 307) {
    if (status < 500) await cancelAuditEntry(context.db, id)
    return reply
  }
  const type = request.headers.get('content-type') ?? ''
  const details = auditedDetails(params, { type, body: Buffer.concat(chunks).toString() })
  await completeAuditEntry(context.db, id, details).catch((error: unknown) =>
    context.log.error({ error, entry: id }, 'an entry of the audit log was not completed'),
  )
  return reply
}

async function replyOf(
  work: () => Reply | Promise<Reply>,
): Promise<Reply | { readonly thrown: unknown }> {
  try {
    return await work()
  } catch (thrown) {
    return { thrown }
  }
}

function statusOf(thrown: unknown): number {
  const isFailure = typeof thrown === 'object' && thrown !== null && 'status' in thrown
  return isFailure ? Number(thrown.status) : 500
}

/** Returns the request with a body that is copied to `chunks` while the handler reads it. */
function observed(request: Request, chunks: Uint8Array[]): Request {
  const { id, method, path, query, headers, body } = request
  async function* copied(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes <= BODY_BYTES_MAX) chunks.push(Buffer.from(chunk))
      yield chunk
    }
    if (bytes > BODY_BYTES_MAX) chunks.length = 0
  }
  return {
    id,
    method,
    path,
    query,
    headers,
    body: copied(),
    get address() {
      return request.address
    },
    get scheme() {
      return request.scheme
    },
    get signal() {
      return request.signal
    },
  }
}

function actorOf(who: Identity) {
  if (who.kind !== 'user') return { actorId: undefined, actorName: '', credential: who.kind }
  const { user, by, tokenId, sudoBy } = who
  return { actorId: user.id, actorName: user.name, credential: by, tokenId, sudoBy }
}

/** Returns the changed thing and its owner, from the rows that authorization has read. */
function subjectOf({ grant, params }: Call): Pick<AuditFacts, 'ownerId' | 'subject'> {
  if ('repository' in grant) {
    const { owner, name } = grant.repository
    return { ownerId: owner.id, subject: `${owner.name}/${name}` }
  }
  if ('team' in grant) {
    const { organization, team } = grant
    return { ownerId: organization.id, subject: `${organization.name}/${team.name}` }
  }
  if ('organization' in grant) {
    return { ownerId: grant.organization.id, subject: grant.organization.name }
  }
  if ('owner' in grant) return { ownerId: grant.owner.id, subject: grant.owner.name }
  if ('account' in grant) return { ownerId: grant.account.id, subject: grant.account.name }
  const named = params['username'] ?? params['owner']
  const isOther = named !== undefined || !('user' in grant) || grant.user === undefined
  // An administrator's change of the site or of another account is in the site's log only.
  return isOther
    ? { ownerId: undefined, subject: named ?? '' }
    : { ownerId: grant.user.id, subject: grant.user.name }
}
