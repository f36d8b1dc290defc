/** Settings of an organization, blocked users. */

import { blocksPages } from '../accounts/blocked-users.js'
import { organizationPath } from '../kit/links.js'
import { OrganizationDocument } from './organization-document.js'

export const ORGANIZATION_BLOCKS_PAGES = blocksPages<'organization'>({
  path: '/org/{org}/settings/blocked_users',
  access: { kind: 'organization', role: 'owner' },
  pathOf: (grant) => `${organizationPath(grant)}/settings/blocked_users`,
  ownerOf: ({ organization }) => organization,
  document: ({ context, grant, error, children }) => (
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="settings"
      title="Blocked users"
    >
      {children}
    </OrganizationDocument>
  ),
})
