/** Tabs for the open and the closed entries in a list of issues or pull requests. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import type { IssueState } from '../../../sql/issues/issues.js'
import { Tab } from '../kit/tab.js'

/** Returns the state in the query; `open` by default. */
export function stateAsked(request: Request): IssueState {
  return new URLSearchParams(request.query).get('state') === 'closed' ? 'closed' : 'open'
}

export interface StateFilterProps {
  /** Address of the list. */
  readonly address: string
  readonly state: IssueState
}

export function StateFilter({ address, state }: StateFilterProps): JSX.Element {
  return (
    <nav class="tabs" aria-label="State">
      <Tab address={address} word="Open" isHere={state === 'open'} />
      <Tab address={`${address}?state=closed`} word="Closed" isHere={state === 'closed'} />
    </nav>
  )
}
