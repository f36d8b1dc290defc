/** One commit: what it says, and what it changed. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../cgi/commit-object.js'
import { readDiff } from '../../cgi/diff.js'
import { findRevision } from '../../cgi/revision.js'
import { isFailure } from '../../conf/failures.js'
import {
  type Caller,
  type GitReader,
  inQueue,
  noSuchThing,
  readCommit,
  readGit,
} from '../actions/git-reader.js'
import type { Context } from '../context.js'
import { addressOf } from './commits-page.js'
import { type DiffFile, parseDiff } from './diff-lines.js'
import { firstLineOf } from './folder.js'
import { htmlReply } from './html.js'
import { definePage } from './page.js'
import { RepositoryDocument } from './repository-document.js'
import { Ago } from './times.js'
import { Shown } from './visible-text.js'

const LINES_MAX = 5_000
const DIFF_BYTES_MAX = 1_048_576

/** What the first commit of all is compared with: the tree of nothing, by the length of an id. */
const EMPTY_TREES: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
}

interface ShownDiff {
  readonly files: readonly DiffFile[]
  readonly isCut: boolean
}

const page = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/commit/{sha}',
  access: { kind: 'repository', mode: 'read' },
  handle: (context, { request, grant, params }) =>
    readGit(context, grant, async (reader) => {
      const sha = params['sha'] ?? ''
      const found = /^[0-9a-f]{7,64}$/.test(sha) && (await findRevision(reader.objects, sha))
      if (!found) throw noSuchThing()
      const commit = await readCommit(reader, found.commitId)
      const diff = await diffOf(context, { request, grant }, { reader, commit })
      const address = addressOf(context, grant)
      const title = firstLineOf(commit.message)
      return htmlReply(
        request,
        <RepositoryDocument {...{ context, grant, title }} tab="commits">
          <CommitHead address={address} commit={commit} />
          <Diff diff={diff} />
        </RepositoryDocument>,
      )
    }),
})

/** Undefined where so much changed that nobody would read it. */
async function diffOf(
  context: Context,
  caller: Caller,
  { reader: { git, path }, commit }: { readonly reader: GitReader; readonly commit: Commit },
): Promise<ShownDiff | undefined> {
  const from = commit.parents[0] ?? EMPTY_TREES[commit.id.length] ?? ''
  const { signal } = caller.request
  const wish = { from, to: commit.id, format: 'diff', hasBinary: false, signal } as const
  try {
    return await inQueue(context, caller, async () => {
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of await readDiff(git, path, wish)) {
        chunks.push(Buffer.from(chunk))
        bytes += chunk.length
        if (bytes > DIFF_BYTES_MAX) break
      }
      const diff = parseDiff(Buffer.concat(chunks).toString(), LINES_MAX)
      return { ...diff, isCut: diff.isCut || bytes > DIFF_BYTES_MAX }
    })
  } catch (error) {
    if (isFailure(error, 'payload_too_large')) return undefined
    throw error
  }
}

interface CommitHeadProps {
  readonly address: string
  readonly commit: Commit
}

function CommitHead({ address, commit }: CommitHeadProps): JSX.Element {
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

function Diff({ diff }: { readonly diff: ShownDiff | undefined }): JSX.Element {
  if (diff === undefined) {
    return <p class="notice">Too many files differ to show them. A clone has them all.</p>
  }
  const { files, isCut } = diff
  return (
    <section>
      <h3>{files.length === 1 ? '1 file changed' : `${files.length} files changed`}</h3>
      {files.map(({ name, lines }) => (
        <details class="diff" open={true}>
          <summary>
            <Shown text={name} />
          </summary>
          <pre tabindex={0}>
            {lines.map(({ kind, text }) => (
              <code class={kind}>
                <Shown text={text} />
                {'\n'}
              </code>
            ))}
          </pre>
        </details>
      ))}
      {isCut && <p class="notice">There is more than a page shows. A clone has it all.</p>}
    </section>
  )
}

export const COMMIT_PAGES = [page]
