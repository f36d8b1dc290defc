/** Files that are attached to an issue or a comment. */

import type { JSX } from 'preact/jsx-runtime'
import type { IssueAttachment } from '../../../sql/issues/issue-attachments.js'
import { Shown } from '../../rendering/visible-text.js'
import { sizeOf } from '../code/file-view.js'
import { Icon } from '../kit/icon.js'

export interface AttachedFilesProps {
  /** Path of the site, without a slash at the end. */
  readonly base: string
  readonly files: readonly IssueAttachment[]
}

/** Renders the files as downloads; null if there are none. */
export function AttachedFiles({ base, files }: AttachedFilesProps): JSX.Element | null {
  if (files.length === 0) return null
  return (
    <ul class="list" aria-label="Attachments">
      {files.map(({ uuid, name, bytes }) => (
        <li>
          <Icon name="file" />
          <a class="grow" href={`${base}/attachments/${uuid}`} download={true}>
            <Shown text={name} />
          </a>
          <span class="quiet">{sizeOf(bytes)}</span>
        </li>
      ))}
    </ul>
  )
}
