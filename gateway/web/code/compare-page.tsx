/** Comparison of two branches, with the form that opens a pull request. */

import { findMergeBase } from '../../../cgi/objects/commit-range.js'
import { decodePercent, type Reply } from '../../../conf/http.js'
import { findPullBetween } from '../../../sql/pulls/pull-lists.js'
import {
  type Comparison,
  splitBaseHead,
  withComparison,
} from '../../actions/code/compare-revisions.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { readRange } from '../../actions/code/git-reader.js'
import { openPull } from '../../actions/pulls/open-pull.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { comparisonPath, repositoryUrl } from '../kit/links.js'
import {
  definePage,
  fieldOf,
  multilineField,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { OpenPullForm } from '../pulls/open-pull-form.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { CommitList } from './commits-page.js'
import { Diff } from './diff.js'
import { readShownDiff } from './shown-diff.js'
import { verifyCommits } from './verified-badge.js'

const ACCESS = { kind: 'repository', mode: 'read' } as const
const COMMITS_SHOWN = 100

const choose = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/compare',
  access: ACCESS,
  handle(context, { request, grant }) {
    const asked = new URLSearchParams(request.query)
    const { owner, name, defaultBranch } = grant.repository
    const [base, head] = [fieldOf(asked, 'base') || defaultBranch, fieldOf(asked, 'head')]
    if (head !== '') {
      return redirectTo(context, `/${owner.name}/${name}/compare/${comparisonPath(base, head)}`)
    }
    const address = repositoryUrl(context, grant)
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="pulls" title="Compare">
        <h2>Compare branches</h2>
        <form method="get" action={`${address}/compare`}>
          <label for="base">Base branch, to merge into</label>
          <input type="text" id="base" name="base" value={base} required={true} />
          <label for="head">Head branch, to merge from, or owner:branch of a fork</label>
          <input type="text" id="head" name="head" required={true} />
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
  access: { ...ACCESS, unit: 'pulls', isSignedIn: true, refusesBlocked: true },
  async handle(context, { request, grant, params }) {
    const text = textIn(params)
    const form = await readForm(request)
    const make = async () => {
      const { base, head } = splitBaseHead(grant, text)
      const { name, owner, defaultBranch } = grant.repository
      const { issue } = await openPull(context, grant, {
        head,
        base: base || defaultBranch,
        reviewers: [],
        issue: { title: fieldOf(form, 'title'), content: multilineField(form, 'content') },
      })
      return redirectTo(context, `/${owner.name}/${name}/pulls/${issue.number}`)
    }
    return withFormErrors(make, ({ message, status }) =>
      show(context, { request, grant }, { text, form, error: message, status }),
    )
  },
})

function textIn(params: Readonly<Record<string, string>>): string {
  return decodePercent(params['basehead'] ?? '')
}

interface Asked {
  /** Branches as `BASE...HEAD`, parsed by `withComparison`. */
  readonly text: string
  readonly form?: URLSearchParams
  readonly error?: string
  readonly status?: number
}

function show(context: Context, caller: Caller, asked: Asked): Promise<Reply> {
  const { request, grant } = caller
  return withComparison(context, caller, asked.text, async (comparison) => {
    const found = await readCompared(context, caller, comparison)
    // Commits link to the head repository, because the base repository may not have them.
    const { repository } = comparison.head
    const address = repositoryUrl(context, { ...grant, repository })
    const { base, head, commits, total, diff } = found
    const verifications = await verifyCommits(context, grant, commits)
    const title = `Compare ${base} with ${head}`
    const page = (
      <RepositoryDocument context={context} grant={grant} title={title} tab="pulls">
        <h2>
          Merge <Shown text={head} /> into <Shown text={base} />
        </h2>
        {total === 0 ? (
          <p class="empty">
            There is nothing to merge: the base branch already has all commits of the head branch.
          </p>
        ) : (
          <>
            <OpenPullForm
              context={context}
              grant={grant}
              {...found}
              form={asked.form}
              error={asked.error}
            />
            <h3>{total === 1 ? '1 commit' : `${total} commits`}</h3>
            <CommitList address={address} commits={commits} verifications={verifications} />
            {total > commits.length && (
              <p class="notice">{`Only the newest ${commits.length} are shown.`}</p>
            )}
            <Diff diff={diff} />
          </>
        )}
      </RepositoryDocument>
    )
    return htmlReply(request, page, { status: asked.status ?? 200 })
  })
}

async function readCompared({ db }: Context, { request, grant }: Caller, comparison: Comparison) {
  const { repository } = grant
  const { reader, head, baseCommit, headCommit } = comparison
  const base = comparison.base || repository.defaultBranch
  const range = { from: baseCommit, to: headCommit }
  const page = { page: 1, limit: COMMITS_SHOWN }
  const from =
    (await findMergeBase(reader.git, reader.path, [baseCommit, headCommit])) ?? baseCommit
  const known = await findPullBetween(db, repository.id, {
    base,
    head: head.branch,
    headRepositoryId: head.repository.id,
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

export const COMPARE_PAGES = [choose, compare, open]
