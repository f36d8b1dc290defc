/** Log of a job on a page: a closed or open element for each step. */

import type { JSX } from 'preact/jsx-runtime'
import { Shown } from '../../rendering/visible-text.js'
import type { LogSection } from './log-sections.js'
import { Duration, Status } from './run-status.js'
import type { ShownLog } from './shown-log.js'

export interface LogViewProps {
  readonly sections: readonly LogSection[]
  /** Logs of the sections; empty if no runner has claimed the job. */
  readonly logs: readonly ShownLog[]
}

/** Renders the steps, and the rows before and after them if there are any. */
export function LogView({ sections, logs }: LogViewProps): JSX.Element {
  const isStep = (at: number) => at > 0 && at < sections.length - 1
  return (
    <>
      {sections.map((section, at) => {
        const { name, status, firstRow, endRow } = section
        if (!isStep(at) && firstRow === endRow) return null
        const log = logs[at]
        return (
          <details class="log" open={status === 'failure' || status === 'running'}>
            <summary>
              {status !== undefined && <Status status={status} />}{' '}
              <Shown text={name.trim() === '' ? `Step ${at}` : name} /> <Duration {...section} />
            </summary>
            {log !== undefined && <Rows log={log} rows={endRow - firstRow} />}
          </details>
        )
      })}
    </>
  )
}

interface RowsProps {
  readonly log: ShownLog
  /** Number of rows of the section. */
  readonly rows: number
}

function Rows({ log: { html, omittedRows }, rows }: RowsProps): JSX.Element {
  return (
    <>
      {omittedRows > 0 && (
        <p class="notice">
          {`${omittedRows} of ${rows} rows are not on this page. The whole log has them.`}
        </p>
      )}
      <div class="rows" dangerouslySetInnerHTML={{ __html: html }} />
    </>
  )
}
