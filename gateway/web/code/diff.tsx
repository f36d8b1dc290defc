/** Diff between two commits on a page. */

import type { JSX } from 'preact/jsx-runtime'
import { Shown } from '../../rendering/visible-text.js'
import type { ShownDiff } from './shown-diff.js'

/** Renders the changed files with their lines. */
export function Diff({ diff }: { readonly diff: ShownDiff | undefined }): JSX.Element {
  if (diff === undefined) {
    return (
      <p class="notice">
        Too many files changed to show them. Clone the repository to see all changes.
      </p>
    )
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
      {isCut && (
        <p class="notice">
          The diff is too long to show all of it. Clone the repository to see it.
        </p>
      )}
    </section>
  )
}
