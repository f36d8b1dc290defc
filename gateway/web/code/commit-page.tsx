/** Page of a commit: message and diff. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { notFound } from '../../../conf/failures.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { readCommit, readGit } from '../../actions/code/git-reader.js'
import type { Verification } from '../../actions/code/verify-signatures.js'
import { Shown } from '../../rendering/visible-text.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage } from '../kit/page.js'
import { Ago } from '../kit/times.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { Diff } from './diff.js'
import { firstLineOf } from './folder.js'
import { knownDiff, readShownDiff } from './shown-diff.js'

/** Id of the empty tree, by the length of an id; root commits are compared with it. */
const EMPTY_TREES: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
}

import { VerifiedBadge, verifyCommits } from './verified-badge.js'

const page = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/commit/{sha}',
  access: { kind: 'repository', mode: 'read' },
  handle: (context, { request, grant, params }) =>
    readGit(context, grant, async (reader) => {
      const sha = params['sha'] ?? ''
      const found = /^[0-9a-f]{7,64}$/.test(sha) && (await findRevision(reader.objects, sha))
      if (!found) throw notFound()
      const commit = await readCommit(reader, found.commitId)
      const from = commit.parents[0] ?? EMPTY_TREES[commit.id.length] ?? ''
      const range = { from, to: commit.id, signal: request.signal }
      const diff =
        knownDiff(reader, range) ??
        (await inQueue(context, { request, grant }, () => readShownDiff(reader, range)))
      const address = repositoryUrl(context, grant)
      const title = firstLineOf(commit.message)
      const [verification] = await verifyCommits(context, grant, [commit])
      return htmlReply(
        request,
        <RepositoryDocument context={context} grant={grant} title={title} tab="commits">
          <CommitHead address={address} commit={commit} verification={verification} />
          <Diff diff={diff} />
        </RepositoryDocument>,
      )
    }),
})

interface CommitHeadProps {
  readonly address: string
  readonly commit: Commit
  readonly verification: Verification | undefined
}

function CommitHead({ address, commit, verification }: CommitHeadProps): JSX.Element {
  const { id, message, author, committer, parents } = commit
  const [first = '', ...rest] = message.trim().split('\n')
  const body = rest.join('\n').trim()
  return (
    <section class="commit">
      <h2>
        <Shown text={first || '(no message)'} />
      </h2>
      {body !== '' && (
        <pre class="message">
          <Shown text={body} />
        </pre>
      )}
      <p class="quiet">
        <Shown text={author.name} /> <Ago atMs={committer.atMs} />
        <VerifiedBadge verification={verification} />
        {' · '}
        <code>{id}</code>
        {' · '}
        <a href={`${address}/src/commit/${id}`}>Files</a>
        {parents.map((parent) => (
          <>
            {' · parent '}
            <a href={`${address}/commit/${parent}`}>
              <code>{parent.slice(0, 10)}</code>
            </a>
          </>
        ))}
      </p>
    </section>
  )
}

export const COMMIT_PAGES = [page]
