/** Layout of the administration pages: heading and tabs. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { Tab } from '../kit/tab.js'

/** Access to the administration pages; anyone but administrators gets 404. */
export const ADMIN_ACCESS = { kind: 'admin', isHidden: true } as const

/** Name of an administration page; its path is `/admin/` and the name. */
export type AdminTab = keyof typeof TABS

const TABS = {
  users: 'Users',
  settings: 'Settings',
  jobs: 'Jobs',
  cache: 'Pack cache',
  hooks: 'Webhooks',
  audit: 'Audit log',
  actions: 'Actions',
  'actions/runners': 'Runners',
} as const

export interface AdminDocumentProps {
  readonly context: Context
  readonly user: User
  readonly tab: AdminTab
  readonly children?: Child
}

/** Renders an administration page around its content. */
export function AdminDocument({ context, user, tab, children }: AdminDocumentProps): JSX.Element {
  const { actions, http } = context.settings
  const tabs = Object.entries(TABS).filter(
    ([name]) => actions.isEnabled || !name.startsWith('actions'),
  )
  return (
    <Document context={context} title={`${TABS[tab]} · Administration`} user={user}>
      <header>
        <h1>Administration</h1>
        <nav class="tabs" aria-label="Administration">
          {tabs.map(([name, word]) => (
            <Tab address={`${http.basePath}/admin/${name}`} word={word} isHere={name === tab} />
          ))}
        </nav>
      </header>
      {children}
    </Document>
  )
}
