/** What one branch has beyond another, and the form that asks to merge it. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../cgi/commit-object.js'
import { findMergeBase } from '../../cgi/commit-range.js'
import { decodePercent, type Reply } from '../../conf/http.js'
import { findPullsBetween } from '../../sql/pull-lists.js'
import type { Repository } from '../../sql/repositories.js'
import { type Comparison, splitBaseHead, withComparison } from '../actions/compare-revisions.js'
import { type Caller, type RepositoryGrant, readRange } from '../actions/git-reader.js'
import { isServed } from '../actions/issue-access.js'
import { openPull } from '../actions/open-pull.js'
import type { Context } from '../context.js'
import { addressOf, CommitList } from './commits-page.js'
import { Diff, readShownDiff, type ShownDiff } from './diff.js'
import { signInAddress } from './door.js'
import { firstLineOf } from './folder.js'
import { htmlReply } from './html.js'
import { definePage, fieldOf, leadTo, orAgain, readForm, textOf } from './page.js'
import { Problem } from './problem.js'
import { RepositoryDocument } from './repository-document.js'
import { Shown } from './visible-text.js'

const ACCESS = { kind: 'repository', mode: 'read' } as const
const COMMITS_SHOWN = 100

export interface ComparedBranch {
  /** What the repository was forked from, where the visitor may see it. */
  readonly parent: Repository | undefined
  readonly branch: string
}

/** Of the page that compares a branch with the default one, which for a fork is its parent's. */
export function comparisonAddress(
  context: Context,
  grant: RepositoryGrant,
  { parent, branch }: ComparedBranch,
): string | undefined {
  const { repository } = grant
  const { defaultBranch } = parent ?? repository
  if (parent === undefined) {
    if (branch === defaultBranch) return undefined
    return `${addressOf(context, grant)}/compare/${comparisonText(defaultBranch, branch)}`
  }
  const text = comparisonText(
    defaultBranch,
    `${repository.owner.name}/${repository.name}:${branch}`,
  )
  return `${addressOf(context, { ...grant, repository: parent })}/compare/${text}`
}

/** The part of an address that names two branches, percent-encoded. */
function comparisonText(base: string, head: string): string {
  return `${base}...${head}`.split('/').map(encodeURIComponent).join('/')
}

const choose = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/compare',
  access: ACCESS,
  handle(context, { request, grant }) {
    const asked = new URLSearchParams(request.query)
    const { owner, name, defaultBranch } = grant.repository
    const [base, head] = [fieldOf(asked, 'base') || defaultBranch, fieldOf(asked, 'head')]
    if (head !== '') {
      return leadTo(context, `/${owner.name}/${name}/compare/${comparisonText(base, head)}`)
    }
    const address = addressOf(context, grant)
    return htmlReply(
      request,
      <RepositoryDocument {...{ context, grant }} tab="pulls" title="Compare">
        <h2>Compare branches</h2>
        <form method="get" action={`${address}/compare`}>
          <label for="base">Into the branch</label>
          <input {...{ type: 'text', id: 'base', name: 'base', value: base }} required={true} />
          <label for="head">From the branch, or owner:branch of a fork</label>
          <input {...{ type: 'text', id: 'head', name: 'head', required: true }} />
          <button type="submit">Compare</button>
        </form>
      </RepositoryDocument>,
    )
  },
})

const compare = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/compare/{basehead...}',
  access: ACCESS,
  handle: (context, { request, grant, params }) =>
    show(context, { request, grant }, { text: textIn(params) }),
})

const open = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/compare/{basehead...}',
  access: { ...ACCESS, isSignedIn: true },
  async handle(context, { request, grant, params }) {
    const text = textIn(params)
    const form = await readForm(request)
    const make = async () => {
      const { base, head } = splitBaseHead(grant, text)
      const { name, owner, defaultBranch } = grant.repository
      const { issue } = await openPull(context, grant, {
        ...{ head, base: base || defaultBranch, reviewers: [] },
        issue: { title: fieldOf(form, 'title'), content: textOf(form, 'content') },
      })
      return leadTo(context, `/${owner.name}/${name}/pulls/${issue.number}`)
    }
    return orAgain(make, ({ message, status }) =>
      show(context, { request, grant }, { text, form, error: message, status }),
    )
  },
})

function textIn(params: Readonly<Record<string, string>>): string {
  return decodePercent(params['basehead'] ?? '')
}

interface Asked {
  /** Which two are compared, as `withComparison` reads it. */
  readonly text: string
  readonly form?: URLSearchParams
  readonly error?: string
  readonly status?: number
}

function show(context: Context, caller: Caller, asked: Asked): Promise<Reply> {
  const { request, grant } = caller
  return withComparison(context, caller, asked.text, async (comparison) => {
    const found = await readCompared(context, caller, comparison)
    const address = addressOf(context, grant)
    const { base, head, commits, total, diff } = found
    const title = `Compare ${base} with ${head}`
    const page = (
      <RepositoryDocument {...{ context, grant, title }} tab="pulls">
        <h2>
          Merge <Shown text={head} /> into <Shown text={base} />
        </h2>
        {total === 0 ? (
          <p class="empty">There is nothing to merge: the one has all that the other has.</p>
        ) : (
          <>
            <OpenForm {...{ context, grant, found, asked }} />
            <h3>{total === 1 ? '1 commit' : `${total} commits`}</h3>
            <CommitList address={address} commits={commits} />
            {total > commits.length && (
              <p class="notice">{`The newest ${commits.length} are shown.`}</p>
            )}
            <Diff diff={diff} />
          </>
        )}
      </RepositoryDocument>
    )
    return htmlReply(request, page, { status: asked.status ?? 200 })
  })
}

interface Compared {
  readonly base: string
  /** As a form may name it: `owner/repo:branch` of another repository. */
  readonly head: string
  readonly commits: readonly Commit[]
  readonly total: number
  readonly diff: ShownDiff | undefined
  /** The number of a pull request of these branches that is open. */
  readonly openNumber: number | undefined
}

async function readCompared(
  { db }: Context,
  { request, grant }: Caller,
  comparison: Comparison,
): Promise<Compared> {
  const { repository } = grant
  const { reader, head, baseCommit, headCommit } = comparison
  const base = comparison.base || repository.defaultBranch
  const range = { from: baseCommit, to: headCommit }
  const page = { page: 1, limit: COMMITS_SHOWN }
  const from =
    (await findMergeBase(reader.git, reader.path, [baseCommit, headCommit])) ?? baseCommit
  const known = await findPullsBetween(db, repository.id, {
    ...{ base, head: head.branch, headRepositoryId: head.repository.id },
  })
  const { owner, name, id } = head.repository
  return {
    base,
    head: id === repository.id ? head.branch : `${owner.name}/${name}:${head.branch}`,
    ...(await readRange(reader, range, page)),
    diff: await readShownDiff(reader, { from, to: headCommit, signal: request.signal }),
    openNumber: known?.issue.state === 'open' ? known.issue.number : undefined,
  }
}

interface OpenFormProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly found: Compared
  readonly asked: Asked
}

/** The form that opens a pull request, or why there is none. */
function OpenForm({ context, grant, found, asked }: OpenFormProps): JSX.Element | null {
  const { repository, user } = grant
  const { base, head, commits, openNumber } = found
  const address = addressOf(context, grant)
  const here = `${address}/compare/${comparisonText(base, head)}`
  if (!isServed(repository, { isPull: true })) return null
  if (openNumber !== undefined) {
    return (
      <p class="notice">
        These branches have a pull request already:{' '}
        <a href={`${address}/pulls/${openNumber}`}>{`#${openNumber}`}</a>
      </p>
    )
  }
  if (repository.isArchived) {
    return <p class="notice">The repository is archived: nothing in it changes any more.</p>
  }
  if (user === undefined) {
    const path = here.slice(context.settings.http.baseUrl.length)
    return (
      <p class="notice">
        <a href={signInAddress(context, path)}>Sign in</a> to open a pull request.
      </p>
    )
  }
  const sent = asked.form ?? new URLSearchParams({ title: usualTitle(commits, head) })
  return (
    <form method="post" action={here}>
      <Problem error={asked.error} />
      <label for="title">Title</label>
      <input
        {...{ type: 'text', id: 'title', name: 'title', required: true, maxlength: 255 }}
        value={fieldOf(sent, 'title')}
      />
      <label for="content">Description (Markdown)</label>
      <textarea {...{ id: 'content', name: 'content', rows: 8 }}>
        {textOf(sent, 'content')}
      </textarea>
      <button type="submit">Open the pull request</button>
    </form>
  )
}

/** What the one commit says of itself, or the name of the branch. */
function usualTitle(commits: readonly Commit[], head: string): string {
  const [only, ...more] = commits
  return only === undefined || more.length > 0 ? head : firstLineOf(only.message)
}

export const COMPARE_PAGES = [choose, compare, open]
