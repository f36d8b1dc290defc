/** Layout of the repository settings pages: tabs and error message. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { hasActions } from '../../actions/repositories/has-actions.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { ErrorMessage } from '../kit/problem.js'
import { Tab } from '../kit/tab.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

/** Name of a repository settings page; its path ends in `/settings/` and the name. */
export type SettingsTab = keyof typeof TABS

const TABS = {
  general: 'General',
  collaboration: 'Collaboration',
  keys: 'Deploy keys',
  hooks: 'Webhooks',
  actions: 'Actions',
  'actions/runners': 'Runners',
} as const

export interface SettingsDocumentProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly tab: SettingsTab
  readonly error?: string | undefined
  readonly children?: Child
}

/** Renders a page of repository settings around its content. */
export function SettingsDocument(props: SettingsDocumentProps): JSX.Element {
  const { context, grant, tab, error, children } = props
  const tabs = Object.entries(TABS).filter(
    ([name]) => !name.startsWith('actions') || hasActions(context, grant.repository),
  )
  const general = `${repositoryUrl(context, grant)}/settings`
  return (
    <RepositoryDocument
      context={context}
      grant={grant}
      tab="settings"
      title={`${TABS[tab]} · Settings`}
    >
      <nav class="tabs" aria-label="Repository settings">
        {tabs.map(([name, word]) => (
          <Tab
            address={name === 'general' ? general : `${general}/${name}`}
            word={word}
            isHere={name === tab}
          />
        ))}
      </nav>
      <h2>{TABS[tab]}</h2>
      <ErrorMessage error={error} />
      {children}
    </RepositoryDocument>
  )
}

/** Returns the message for an error of a form that names a user or organization. */
export function namedErrorMessage({ status, message }: Failure): string {
  if (status === 403) return 'You are not permitted to create repositories for this owner.'
  return status === 404 ? 'There is no user or organization with this name.' : message
}
