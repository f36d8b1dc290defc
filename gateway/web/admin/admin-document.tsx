/** What the pages for those who run the site share: their name, and the way between them. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { Tab } from '../kit/tab.js'

/** To anybody else these pages are not there. */
export const ADMIN_ACCESS = { kind: 'admin', isHidden: true } as const

/** A page of the administration; its path is `/admin/` and its name here. */
export type AdminTab = keyof typeof TABS

const TABS = {
  users: 'Users',
  settings: 'Settings',
  jobs: 'Jobs',
  cache: 'Pack cache',
} as const

export interface AdminDocumentProps {
  readonly context: Context
  readonly user: User
  readonly tab: AdminTab
  readonly children?: Child
}

/** A page of the administration around its own part. */
export function AdminDocument({ context, user, tab, children }: AdminDocumentProps): JSX.Element {
  const { baseUrl } = context.settings.http
  return (
    <Document context={context} title={`${TABS[tab]} · Administration`} user={user}>
      <header>
        <h1>Administration</h1>
        <nav class="tabs" aria-label="Administration">
          {Object.entries(TABS).map(([name, word]) => (
            <Tab address={`${baseUrl}/admin/${name}`} word={word} isHere={name === tab} />
          ))}
        </nav>
      </header>
      {children}
    </Document>
  )
}
