/** Workflows of a repository with their states, and forms that switch them. */

import type { JSX } from 'preact/jsx-runtime'
import { Shown } from '../../rendering/visible-text.js'
import type { ListedWorkflow } from '../../runs/list-workflows.js'

export interface WorkflowListProps {
  /** URL of the page of runs; the forms post to a path below it. */
  readonly address: string
  readonly workflows: readonly ListedWorkflow[]
  /** True if the visitor is permitted to switch workflows. */
  readonly isWriter: boolean
}

/** Renders the list; null if there are no workflows. */
export function WorkflowList({
  address,
  workflows,
  isWriter,
}: WorkflowListProps): JSX.Element | null {
  if (workflows.length === 0) return null
  return (
    <details>
      <summary>{`Workflows (${workflows.length})`}</summary>
      <ul class="list">
        {workflows.map(({ file, name, isDisabled, isDispatchable }) => (
          <li>
            <div class="grow">
              <strong>
                <Shown text={name} />
              </strong>{' '}
              <code>
                <Shown text={file} />
              </code>{' '}
              {isDisabled && <span class="label">disabled</span>}
            </div>
            {isWriter && isDispatchable && !isDisabled && (
              <a href={`${address}/workflows/${encodeURIComponent(file)}/run`}>Run</a>
            )}
            {isWriter && (
              <form method="post" action={`${address}/workflows`}>
                <input type="hidden" name="file" value={file} />
                <input type="hidden" name="disabled" value={isDisabled ? 'no' : 'yes'} />
                <button type="submit" aria-label={`${isDisabled ? 'Enable' : 'Disable'} ${file}`}>
                  {isDisabled ? 'Enable' : 'Disable'}
                </button>
              </form>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}
