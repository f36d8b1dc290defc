/** Release on a page: tag, notes and downloads. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Attachment } from '../../../sql/releases/attachments.js'
import type { Release } from '../../../sql/releases/releases.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { sizeOf } from '../code/file-view.js'
import { Written, type WrittenTexts } from '../issues/written.js'
import { Icon } from '../kit/icon.js'
import { repositoryUrl, tagPath } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'

export interface ReleaseViewProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly release: Release
  /** Attachments of this and of other releases. */
  readonly attachments: readonly Attachment[]
  /** Heading of the release. */
  readonly children: Child
  readonly drawn: WrittenTexts
}

/** Renders a release below its heading. */
export function ReleaseView(props: ReleaseViewProps): JSX.Element {
  const { context, grant, release, attachments, children, drawn } = props
  const { tagName, isDraft, isPrerelease, author, publishedAtMs, body } = release
  const address = repositoryUrl(context, grant)
  return (
    <article class="release">
      {children}
      <p class="quiet">
        <Icon name="tag" />{' '}
        <a href={`${address}/src/tag/${tagPath(tagName)}`}>
          <Shown text={tagName} />
        </a>{' '}
        {isDraft && <span class="label">draft</span>}
        {isPrerelease && <span class="label">pre-release</span>}{' '}
        <Author base={context.settings.http.basePath} person={author} viewer={grant.user} />{' '}
        <Ago atMs={publishedAtMs} />
      </p>
      {body !== '' && <Written text={body} drawn={drawn} />}
      <Downloads
        address={address}
        release={release}
        files={attachments.filter(({ releaseId }) => releaseId === release.id)}
      />
    </article>
  )
}

/** Returns the title of a release; its tag if it has none. */
export function titleOfRelease({ title, tagName }: Release): string {
  return title.trim() === '' ? tagName : title
}

interface DownloadsProps {
  /** URL of the repository. */
  readonly address: string
  readonly release: Release
  readonly files: readonly Attachment[]
}

/** Renders the attached files and, if the release has a tag, the source archives. */
function Downloads({ address, release, files }: DownloadsProps): JSX.Element | null {
  const tag = tagPath(release.tagName)
  const archives = release.isDraft ? [] : ['zip', 'tar.gz']
  if (files.length + archives.length === 0) return null
  return (
    <ul class="list" aria-label={`Downloads of ${release.tagName}`}>
      {files.map(({ name, bytes }) => (
        <li>
          <Icon name="package" />
          <a
            class="grow"
            href={`${address}/releases/download/${tag}/${encodeURIComponent(name)}`}
            download={true}
          >
            <Shown text={name} />
          </a>
          <span class="quiet">{sizeOf(bytes)}</span>
        </li>
      ))}
      {archives.map((format) => (
        <li>
          <Icon name="archive" />
          <a class="grow" href={`${address}/archive/${tag}.${format}`} download={true}>
            {`Source code (${format})`}
          </a>
        </li>
      ))}
    </ul>
  )
}
