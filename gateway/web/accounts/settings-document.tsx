/** What the pages of repository settings share: the way between them, and what went wrong. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { ErrorMessage } from '../kit/problem.js'
import { Tab } from '../kit/tab.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

/** A page of repository settings; its path ends in `/settings` and its name here. */
export type SettingsTab = keyof typeof TABS

const TABS = {
  general: 'General',
  collaboration: 'Collaboration',
  keys: 'Deploy keys',
  hooks: 'Webhooks',
} as const

export interface SettingsDocumentProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly tab: SettingsTab
  readonly error?: string | undefined
  readonly children?: Child
}

/** A page of repository settings around its own part. */
export function SettingsDocument(props: SettingsDocumentProps): JSX.Element {
  const { context, grant, tab, error, children } = props
  const general = `${repositoryUrl(context, grant)}/settings`
  return (
    <RepositoryDocument
      context={context}
      grant={grant}
      tab="settings"
      title={`${TABS[tab]} · Settings`}
    >
      <nav class="tabs" aria-label="Repository settings">
        {Object.entries(TABS).map(([name, word]) => (
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

/** What is said of a failure where a form names somebody: the words of the API are for programs. */
export function namedErrorMessage({ status, message }: Failure): string {
  if (status === 403) return 'You may not make repositories there.'
  return status === 404 ? 'There is nobody of that name.' : message
}
