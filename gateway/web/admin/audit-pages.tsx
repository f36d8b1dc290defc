/** The audit log as pages: of the site, an organization, or the signed-in user. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { type AuditEntry, type AuditFilter, listAuditEntries } from '../../../sql/admin/audit.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { AccountDocument } from '../accounts/account-document.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { OrganizationDocument } from '../organizations/organization-document.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'

const LISTED = 50
const FILTER_CHARACTERS_MAX = 100
const HEADINGS = ['Time', 'Action', 'Actor', 'With', 'From', 'Subject', 'Details', 'Result']

interface Log extends Paged<AuditEntry> {
  readonly page: Page
  readonly query: { readonly actor: string; readonly action: string }
}

/** Reads the requested page of the log of an owner, or of the site. */
async function readLog(context: Context, request: Request, ownerId?: number): Promise<Log> {
  const given = new URLSearchParams(request.query)
  const textOf = (name: string) => (given.get(name) ?? '').trim().slice(0, FILTER_CHARACTERS_MAX)
  const query = { actor: textOf('actor'), action: textOf('action') }
  const page = { page: pageNumber(request), limit: LISTED }
  const filter: AuditFilter = {
    ownerId,
    actor: query.actor || undefined,
    action: query.action || undefined,
  }
  return { ...(await listAuditEntries(context.db, filter, page)), page, query }
}

interface AuditLogProps {
  readonly address: string
  readonly log: Log
}

function AuditLog({ address, log }: AuditLogProps): JSX.Element {
  const { entries, page, total, query } = log
  return (
    <section>
      <p class="quiet">
        Changes of accounts, credentials, permissions, settings and rules, and deletions. An entry
        without a result belongs to a request that did not end.
      </p>
      <form class="form" method="get" action={address}>
        <label for="actor">Actor</label>
        <input id="actor" name="actor" type="text" value={query.actor} />
        <label for="action">Action, or the part before its dot</label>
        <input id="action" name="action" type="text" value={query.action} />
        <button type="submit">Filter</button>
      </form>
      {entries.length === 0 ? (
        <p class="empty">There are no entries.</p>
      ) : (
        <EntryTable entries={entries} />
      )}
      <Pager address={address} query={query} page={page} total={total} />
    </section>
  )
}

function EntryTable({ entries }: { readonly entries: readonly AuditEntry[] }): JSX.Element {
  return (
    <table class="figures">
      <caption class="unseen">Entries</caption>
      <thead>
        <tr>
          {HEADINGS.map((word) => (
            <th scope="col">{word}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr>
            <td>
              <Ago atMs={entry.createdAtMs} />
            </td>
            <td>{entry.action}</td>
            <td>
              <Shown text={actorOf(entry)} />
            </td>
            <td>{entry.credential}</td>
            <td>{entry.address}</td>
            <td>
              <Shown text={entry.subject} />
            </td>
            <td>
              <Shown text={entry.details} />
            </td>
            <td>{entry.completedAtMs === undefined ? 'not known' : 'done'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function actorOf({ actorName, sudoBy }: AuditEntry): string {
  return sudoBy === undefined ? actorName : `${actorName} (by ${sudoBy})`
}

const ofSite = definePage<'admin'>({
  method: 'GET',
  path: '/admin/audit',
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const address = `${context.settings.http.basePath}/admin/audit`
    return htmlReply(
      request,
      <AdminDocument context={context} user={user} tab="audit">
        <h2>Audit log</h2>
        <AuditLog address={address} log={await readLog(context, request)} />
      </AdminDocument>,
    )
  },
})

const ofOrganization = definePage<'organization'>({
  method: 'GET',
  path: '/org/{org}/settings/audit',
  access: { kind: 'organization', role: 'owner' },
  async handle(context, { request, grant }) {
    const { basePath } = context.settings.http
    const address = `${basePath}${organizationPath(grant)}/settings/audit`
    const log = await readLog(context, request, grant.organization.id)
    return htmlReply(
      request,
      <OrganizationDocument context={context} grant={grant} tab="settings" title="Audit log">
        <AuditLog address={address} log={log} />
      </OrganizationDocument>,
    )
  },
})

const ofUser = definePage<'signed-in'>({
  method: 'GET',
  path: '/user/settings/audit',
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const address = `${context.settings.http.basePath}/user/settings/audit`
    return htmlReply(
      request,
      <AccountDocument context={context} user={user} tab="audit">
        <h2>Audit log</h2>
        <AuditLog address={address} log={await readLog(context, request, user.id)} />
      </AccountDocument>,
    )
  },
})

export const AUDIT_PAGES = [ofSite, ofOrganization, ofUser]
