/** Layout of the pages of a pull request: title, branches and tabs. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isDraft } from '../../actions/pulls/find-pull.js'
import { isForeign } from '../../actions/pulls/foreign-heads.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import { findVisibleHead } from '../../actions/pulls/writable-head.js'
import { placePath } from '../../rendering/place-path.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { Tab } from '../kit/tab.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

/** Name of a page of a pull request, which is the last segment of its path. */
export type PullTab = '' | 'commits' | 'files'

const TABS: Readonly<Record<PullTab, string>> = {
  '': 'Conversation',
  commits: 'Commits',
  files: 'Files changed',
}

/** Pull request with the head repository if the visitor can read it. */
export interface VisiblePull {
  readonly state: PullState
  /** Head repository; undefined if it was deleted or the visitor cannot read it. */
  readonly headRepository: Repository | undefined
}

/** Adds the head repository to a pull request. */
export async function withVisibleHead(
  context: Context,
  grant: RepositoryGrant,
  state: PullState,
): Promise<VisiblePull> {
  return { state, headRepository: await findVisibleHead(context, grant, state.pull) }
}

export interface PullDocumentProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly seen: VisiblePull
  readonly tab: PullTab
  readonly children?: Child
}

/** Renders a page of a pull request around its content. */
export function PullDocument(props: PullDocumentProps): JSX.Element {
  const { context, grant, seen, tab, children } = props
  const { issue } = seen.state
  const own = `${repositoryUrl(context, grant)}/pulls/${issue.number}`
  return (
    <RepositoryDocument context={context} grant={grant} tab="pulls" title={issue.title}>
      <h2>
        <Shown text={issue.title} /> <span class="quiet">{`#${issue.number}`}</span>
      </h2>
      <p>
        <StateLabel state={seen.state} /> <Branches context={context} grant={grant} seen={seen} />
      </p>
      <nav class="tabs" aria-label="Pull request">
        {Object.entries(TABS).map(([name, word]) => (
          <Tab address={name === '' ? own : `${own}/${name}`} word={word} isHere={name === tab} />
        ))}
      </nav>
      {children}
    </RepositoryDocument>
  )
}

function StateLabel({ state: { issue, pull } }: Pick<VisiblePull, 'state'>): JSX.Element {
  const word = pull.mergedAtMs === undefined ? issue.state : 'merged'
  return (
    <>
      <span class={`label ${word}`}>{word}</span>
      {isDraft(issue.title) && <span class="label">work in progress</span>}
      {issue.isLocked && <span class="label">locked</span>}
    </>
  )
}

type BranchesProps = Pick<PullDocumentProps, 'context' | 'grant' | 'seen'>

function Branches({ context, grant, seen }: BranchesProps): JSX.Element {
  const { state, headRepository } = seen
  const { pull, headTip, baseTip } = state
  const { basePath } = context.settings.http
  const isShown = headRepository !== undefined && isForeign(state)
  const prefix = isShown ? `${headRepository.owner.name}/${headRepository.name}:` : ''
  const head = headRepository && headTip && `${headRepository.owner.name}/${headRepository.name}`
  const own = repositoryUrl(context, grant)
  return (
    <>
      {'from '}
      <Branch address={head && `${basePath}/${head}`} name={pull.headBranch} prefix={prefix} />
      {' into '}
      <Branch address={baseTip && own} name={pull.baseBranch} />
    </>
  )
}

interface BranchProps {
  /** URL of its repository; undefined if the branch or the repository is not visible. */
  readonly address: string | undefined
  readonly name: string
  readonly prefix?: string
}

function Branch({ address, name, prefix = '' }: BranchProps): JSX.Element {
  const code = (
    <code>
      <Shown text={prefix + name} />
    </code>
  )
  if (address === undefined) return code
  return <a href={`${address}/src/${placePath({ kind: 'branch', name, path: [] })}`}>{code}</a>
}
