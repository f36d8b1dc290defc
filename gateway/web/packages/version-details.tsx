/** Parts of the page of a package version: description, dependencies, installation and files. */

import type { JSX } from 'preact/jsx-runtime'
import type { PackageFile } from '../../../conf/package.js'
import type { Description } from '../../../registry/description.js'
import type { Instruction } from '../../../registry/install.js'
import { isRendered, type Rendering } from '../../pool/renderings.js'
import { Shown } from '../../rendering/visible-text.js'
import { sizeOf } from '../code/file-view.js'
import { Markdown, PlainMarkdown } from '../kit/markdown-view.js'

/** Maximum number of dependencies of one relation on the page. */
const SHOWN_MAX = 200

/** Renders the description by the author; nothing if there is none. */
export function AboutPackage({ about }: { readonly about: Description }): JSX.Element {
  const { summary, text, license, homepage, authors = [] } = about
  const isLink = homepage !== undefined && /^https?:\/\/[^\s/]/i.test(homepage)
  const facts = [
    { name: 'License', value: license && <Shown text={license} /> },
    { name: 'Authors', value: authors.length > 0 && <Shown text={authors.join(', ')} /> },
    {
      name: 'Homepage',
      value:
        homepage &&
        (isLink ? (
          <a href={homepage} rel="nofollow noopener">
            <Shown text={homepage} />
          </a>
        ) : (
          <Shown text={homepage} />
        )),
    },
  ].filter(({ value }) => value)
  return (
    <>
      {summary !== undefined && (
        <p>
          <Shown text={summary} />
        </p>
      )}
      {text !== undefined && (
        <p class="written">
          <Shown text={text} />
        </p>
      )}
      {facts.length > 0 && (
        <dl class="facts">
          {facts.map(({ name, value }) => (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

/** Renders the dependencies by relation; nothing if there are none. */
export function Dependencies({ about }: { readonly about: Description }): JSX.Element | null {
  const { dependencies } = about
  if (dependencies.length === 0) return null
  return (
    <>
      <h3>Dependencies</h3>
      <dl class="facts">
        {dependencies.map(({ relation, items }) => (
          <div>
            <dt>{relation}</dt>
            <dd>
              {items.slice(0, SHOWN_MAX).map((item, at) => (
                <>
                  {at > 0 && ', '}
                  <code>
                    <Shown text={item} />
                  </code>
                </>
              ))}
              {items.length > SHOWN_MAX && ` and ${items.length - SHOWN_MAX} more`}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** Renders the instructions. One click selects the whole text, to copy it. */
export function Installation({ steps }: { readonly steps: readonly Instruction[] }): JSX.Element {
  return (
    <>
      <h3>Installation</h3>
      {steps.map(({ where, text }) => (
        <>
          <p>{where}</p>
          <pre class="copied" tabindex={0}>
            <code>
              <Shown text={text} />
            </code>
          </pre>
        </>
      ))}
    </>
  )
}

interface FileListProps {
  /** URL of the version. */
  readonly address: string
  readonly files: readonly PackageFile[]
}

export function FileList({ address, files }: FileListProps): JSX.Element {
  return (
    <>
      <h3>Files</h3>
      <ul class="list">
        {files.map(({ id, name, bytes, digests, downloads }) => (
          <li>
            <div class="grow">
              <a class="strong" href={`${address}/files/${id}`} download={true}>
                <Shown text={name} />
              </a>
              <p class="quiet">{`${sizeOf(bytes)} · ${downloads} downloads`}</p>
              <p class="quiet">
                SHA-256 <code>{digests.sha256}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}

interface ReadmeProps {
  readonly text: string
  readonly drawing: Rendering
}

/** Renders the README, or its source if it was not rendered. */
export function Readme({ text, drawing }: ReadmeProps): JSX.Element {
  return (
    <article class="readme">
      <h3>README</h3>
      {isRendered(drawing) ? (
        <Markdown html={drawing} />
      ) : (
        <PlainMarkdown what="README" text={text} why={drawing.why} />
      )}
    </article>
  )
}
