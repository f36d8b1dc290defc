/** Layout of the pages of a repository: name and tabs. */

import type { Child, JSX } from 'preact/jsx-runtime'
import { atLeast } from '../../../sql/repositories/access.js'
import type { RepositoryUnit } from '../../../sql/repositories/team-units.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { hasActions } from '../../actions/repositories/has-actions.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { Icon } from '../kit/icon.js'
import { Tab } from '../kit/tab.js'

/** Name of a page of a repository, which is the last segment of its path except for `code`. */
export type RepositoryTab = 'code' | 'settings' | keyof typeof TABS

const TABS = {
  issues: 'Issues',
  pulls: 'Pull requests',
  commits: 'Commits',
  branches: 'Branches',
  tags: 'Tags',
  releases: 'Releases',
  packages: 'Packages',
  wiki: 'Wiki',
  actions: 'Actions',
} as const

/** Unit that each tab shows; the others show code. */
const UNITS: Readonly<Record<string, RepositoryUnit | 'any'>> = {
  issues: 'issues',
  pulls: 'pulls',
  releases: 'releases',
  wiki: 'wiki',
  actions: 'actions',
  // Packages are of the owner, and filtered by the access to them.
  packages: 'any',
}

/** Preference that enables each optional tab. */
const PREFERENCES: Readonly<Record<string, string>> = {
  issues: 'has_issues',
  pulls: 'has_pull_requests',
  releases: 'has_releases',
  wiki: 'has_wiki',
}

export interface RepositoryDocumentProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  /** Title of the page, before the name of the repository. */
  readonly title?: string
  readonly tab: RepositoryTab
  readonly children?: Child
}

/** Renders a page of a repository around its content. */
export function RepositoryDocument(props: RepositoryDocumentProps): JSX.Element {
  const { context, grant, title, tab, children } = props
  const { owner, name, isPrivate, isArchived, description, preferences } = grant.repository
  const base = context.settings.http.basePath
  const fullName = `${owner.name}/${name}`
  const own = `${base}/${fullName}`
  const tabs = Object.entries(TABS).filter(([name]) => {
    if (grant.modes[UNITS[name] ?? 'code'] === 'none') return false
    if (name === 'actions') return hasActions(context, grant.repository)
    if (name === 'packages') return context.settings.packages.isEnabled
    return preferences[PREFERENCES[name] ?? ''] !== false
  })
  const heading = title === undefined ? fullName : `${title} · ${fullName}`
  return (
    <Document context={context} title={heading} user={grant.user}>
      <header class="repository">
        <h1>
          <Icon name={isPrivate ? 'lock' : 'repo'} />
          <a href={`${base}/${owner.name}`}>{owner.name}</a>
          <span class="quiet">/</span>
          <a class="strong" href={own}>
            {name}
          </a>
          {isPrivate && <span class="label">private</span>}
          {isArchived && <span class="label">archived</span>}
        </h1>
        {description !== '' && (
          <p class="quiet">
            <Shown text={description} />
          </p>
        )}
        <nav class="tabs" aria-label="Repository">
          {grant.modes.code !== 'none' && <Tab address={own} word="Code" isHere={tab === 'code'} />}
          {tabs.map(([name, word]) => (
            <Tab address={`${own}/${name}`} word={word} isHere={name === tab} />
          ))}
          {atLeast(grant.modes.any, 'admin') && (
            <Tab address={`${own}/settings`} word="Settings" isHere={tab === 'settings'} />
          )}
        </nav>
      </header>
      {children}
    </Document>
  )
}
