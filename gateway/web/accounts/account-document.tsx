/** Layout of the account settings pages: heading and tabs. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { Tab } from '../kit/tab.js'

/** Name of an account settings page; its path is `/user/settings/` and the name. */
export type AccountTab = keyof typeof TABS

const TABS = {
  profile: 'Profile',
  password: 'Password',
  keys: 'SSH keys',
  gpg: 'GPG keys',
  sessions: 'Sessions',
  organizations: 'Organizations',
  blocked_users: 'Blocked users',
  applications: 'Applications',
  oauth2: 'OAuth applications',
  security: 'Security',
  audit: 'Audit log',
  actions: 'Actions',
  'actions/runners': 'Runners',
} as const

export interface AccountDocumentProps {
  readonly context: Context
  readonly user: User
  readonly tab: AccountTab
  readonly children?: Child
}

/** Renders a page of account settings around its content. */
export function AccountDocument(props: AccountDocumentProps): JSX.Element {
  const { context, user, tab, children } = props
  const { actions, http } = context.settings
  const tabs = Object.entries(TABS).filter(
    ([name]) => actions.isEnabled || !name.startsWith('actions'),
  )
  return (
    <Document context={context} title={TABS[tab]} user={user}>
      <header>
        <h1>Account settings</h1>
        <nav class="tabs" aria-label="Account settings">
          {tabs.map(([name, word]) => (
            <Tab
              address={`${http.basePath}/user/settings/${name}`}
              word={word}
              isHere={name === tab}
            />
          ))}
        </nav>
      </header>
      {children}
    </Document>
  )
}
