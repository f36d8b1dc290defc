/** A list of packages with a form that searches them. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { PACKAGE_FORMATS, type PackageFormat } from '../../../conf/package.js'
import type { OwnerPackage } from '../../../sql/packages/owner-packages.js'
import { Shown } from '../../rendering/visible-text.js'
import { Icon } from '../kit/icon.js'
import { Ago } from '../kit/times.js'

export interface PackageFilter {
  readonly text: string
  readonly format: PackageFormat | undefined
}

const TEXT_CHARACTERS_MAX = 255

/** Reads the filter from the query; an unknown format is ignored. */
export function filterOf(request: Request): PackageFilter {
  const query = new URLSearchParams(request.query)
  return {
    text: (query.get('q') ?? '').trim().slice(0, TEXT_CHARACTERS_MAX),
    format: PACKAGE_FORMATS.find((known) => known === query.get('type')),
  }
}

/** Returns the query parameters of a filter, for the links between pages. */
export function queryOf({ text, format }: PackageFilter): Readonly<Record<string, string>> {
  return { ...(text !== '' && { q: text }), ...(format !== undefined && { type: format }) }
}

/** Renders the search form, which works without scripts. */
export function FilterForm({ address, filter }: { address: string; filter: PackageFilter }) {
  return (
    <form class="filter" method="get" action={address}>
      <label for="q">Name</label>
      <input type="search" id="q" name="q" value={filter.text} maxlength={TEXT_CHARACTERS_MAX} />
      <label for="type">Format</label>
      <select id="type" name="type">
        <option value="">all</option>
        {PACKAGE_FORMATS.map((format) => (
          <option value={format} selected={format === filter.format}>
            {format}
          </option>
        ))}
      </select>
      <button type="submit">Search</button>
    </form>
  )
}

interface PackageListProps {
  /** URL of the owner's packages. */
  readonly packagesUrl: string
  readonly packages: readonly OwnerPackage[]
  readonly filter: PackageFilter
}

export function PackageList({ packagesUrl, packages, filter }: PackageListProps): JSX.Element {
  if (packages.length === 0) {
    const isFiltered = Object.keys(queryOf(filter)).length > 0
    return <p class="empty">{isFiltered ? 'No package matches.' : 'There are no packages yet.'}</p>
  }
  return (
    <ul class="list">
      {packages.map(({ format, name, version, createdAtMs }) => (
        <li>
          <Icon name="package" />
          <div class="grow">
            <a class="strong" href={`${packagesUrl}/${pathOf(format, name)}`}>
              <Shown text={name} />
            </a>{' '}
            <a href={`${packagesUrl}/${pathOf(format, name, version)}`}>
              <Shown text={version} />
            </a>{' '}
            <span class="label">{format}</span>
          </div>
          <Ago atMs={createdAtMs} />
        </li>
      ))}
    </ul>
  )
}

/** Returns names as segments of a path. */
export function pathOf(...names: readonly string[]): string {
  return names.map(encodeURIComponent).join('/')
}
