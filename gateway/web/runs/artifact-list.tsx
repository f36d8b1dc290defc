/** Artifacts of a run, on its page. */

import type { JSX } from 'preact/jsx-runtime'
import type { Artifact } from '../../../sql/runs/artifacts.js'
import type { Run } from '../../../sql/runs/runs.js'
import { Shown } from '../../rendering/visible-text.js'
import { sizeOf } from '../code/file-view.js'
import { Ago } from '../kit/times.js'

export interface ArtifactListProps {
  /** URL of the run. */
  readonly address: string
  readonly run: Pick<Run, 'isFromFork'>
  readonly artifacts: readonly Artifact[]
}

/** Renders the artifacts of a run; null if there are none. */
export function ArtifactList({ address, run, artifacts }: ArtifactListProps): JSX.Element | null {
  if (artifacts.length === 0) return null
  return (
    <section>
      <h3>Artifacts</h3>
      {run.isFromFork && (
        <p class="notice">
          The commit is of a fork. Do not execute these files unless you trust its author.
        </p>
      )}
      <ul class="list">
        {artifacts.map(({ id, name, version, bytes, expiresAtMs }) => (
          <li>
            <div class="grow">
              {version === 4 ? (
                <a class="strong" href={`${address}/artifacts/${id}`}>
                  <Shown text={name} />
                </a>
              ) : (
                <span class="strong">
                  <Shown text={name} />
                </span>
              )}{' '}
              <span class="quiet">{sizeOf(bytes)}, expires</span> <Ago atMs={expiresAtMs} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
