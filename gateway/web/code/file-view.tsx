/** File on a page: its numbered lines, or links to the raw file if it cannot be shown. */

import type { JSX } from 'preact/jsx-runtime'
import { parseLfsPointer } from '../../actions/code/lfs-pointer.js'
import { isRendered, type Rendering, type RenderingFailure } from '../../pool/renderings.js'
import { plainRows } from '../../rendering/file-rows.js'
import { placePath } from '../../rendering/place-path.js'
import type { ShownFile } from './files.js'
import { PathLine } from './path-line.js'
import type { Place } from './place.js'

export interface FileViewProps {
  /** URL of the repository. */
  readonly address: string
  readonly place: Place
  readonly file: ShownFile
  /** Table rows of its lines; absent if the file has no text to show. */
  readonly drawing: Rendering | undefined
}

export function FileView({ address, place, file, drawing }: FileViewProps): JSX.Element {
  const { sizeBytes, text, reason } = file
  const raw = `${address}/raw/${placePath(place)}`
  const pointer = text === undefined ? undefined : parseLfsPointer(text)
  return (
    <>
      <PathLine address={address} place={place} />
      <p class="file-line">
        <span class="quiet">{sizeOf(sizeBytes)}</span>
        <span class="grow" />
        <a href={raw}>Raw</a>
        <a href={raw} download={true}>
          Download
        </a>
      </p>
      {pointer !== undefined && (
        <p class="notice">
          {`The file is stored with Git LFS, ${sizeOf(pointer.bytes)}. `}
          <a href={`${address}/media/${placePath(place)}`}>Download it</a>
        </p>
      )}
      {text === undefined ? (
        <p class="notice">{`${reason} Open it raw, or clone the repository.`}</p>
      ) : (
        <Lines text={text} drawing={drawing} />
      )}
    </>
  )
}

const SENTENCES: Readonly<Record<RenderingFailure['why'], string>> = {
  slow: 'highlighting it takes too long',
  long: 'it is too long to highlight',
  busy: 'the server is busy. Load the page again in a moment',
}

interface LinesProps extends Pick<FileViewProps, 'drawing'> {
  readonly text: string
}

function Lines({ text, drawing = { why: 'busy' } }: LinesProps): JSX.Element {
  const html = isRendered(drawing) ? drawing : plainRows(text)
  return (
    <>
      {!isRendered(drawing) && (
        <p class="notice">
          {`This file is shown without highlighting: ${SENTENCES[drawing.why]}.`}
        </p>
      )}
      <table class="lines" tabindex={0}>
        <caption class="unseen">Lines of the file</caption>
        <tbody dangerouslySetInnerHTML={{ __html: html }} />
      </table>
    </>
  )
}

/** Formats a size in the largest unit that gives at least 1. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`
  if (bytes < 1_073_741_824) return `${(bytes / 1_048_576).toFixed(1)} MiB`
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`
}
