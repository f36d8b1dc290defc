/** A file on a page: its lines with their numbers, to link to, or where to get it. */

import type { JSX } from 'preact/jsx-runtime'
import type { ShownFile } from './files.js'
import { highlightLines } from './highlight.js'
import { PathLine } from './path-line.js'
import { type Place, placeText } from './place.js'

export interface FileViewProps {
  /** Of the repository. */
  readonly address: string
  readonly place: Place
  readonly file: ShownFile
}

export function FileView({ address, place, file }: FileViewProps): JSX.Element {
  const { sizeBytes, text, reason } = file
  const raw = `${address}/raw/${placeText(place)}`
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
      {text === undefined ? (
        <p class="notice">{`${reason} It can be had raw, or by a clone.`}</p>
      ) : (
        <Lines text={text} name={place.path.at(-1) ?? ''} />
      )}
    </>
  )
}

function Lines({ text, name }: { readonly text: string; readonly name: string }): JSX.Element {
  return (
    <table class="lines" tabindex={0}>
      <caption class="unseen">The lines of the file</caption>
      <tbody>
        {highlightLines(text, name).map((line, at) => (
          <tr id={`L${at + 1}`}>
            <td class="number">
              <a href={`#L${at + 1}`}>{at + 1}</a>
            </td>
            <td>
              <code dangerouslySetInnerHTML={{ __html: line }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** In the unit of which there are a few. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`
  if (bytes < 1_073_741_824) return `${(bytes / 1_048_576).toFixed(1)} MiB`
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`
}
