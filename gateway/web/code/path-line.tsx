/** Breadcrumbs of a file or folder: the revision and each parent folder. */

import type { JSX } from 'preact/jsx-runtime'
import { placePath } from '../../rendering/place-path.js'
import { Shown } from '../../rendering/visible-text.js'
import { Icon } from '../kit/icon.js'
import type { Place } from './place.js'

export interface PathLineProps {
  /** URL of the repository. */
  readonly address: string
  readonly place: Place
}

export function PathLine({ address, place }: PathLineProps): JSX.Element {
  const { kind, name, path } = place
  const shortName = kind === 'commit' ? name.slice(0, 10) : name
  return (
    <nav class="path" aria-label="Path">
      <Icon name={kind === 'branch' ? 'git-branch' : kind === 'tag' ? 'tag' : 'git-commit'} />
      <a href={`${address}/src/${placePath({ ...place, path: [] })}`}>
        <Shown text={shortName} />
      </a>
      {path.map((segment, at) => (
        <>
          <span class="quiet">/</span>
          {at === path.length - 1 ? (
            <span class="strong">
              <Shown text={segment} />
            </span>
          ) : (
            <a href={`${address}/src/${placePath({ ...place, path: path.slice(0, at + 1) })}`}>
              <Shown text={segment} />
            </a>
          )}
        </>
      ))}
      <span class="grow" />
      <a href={`${address}/commits/${placePath(place)}`}>History</a>
    </nav>
  )
}
