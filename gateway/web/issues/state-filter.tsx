/** The way between what is open and what is closed, in a list of issues or pull requests. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import type { IssueState } from '../../../sql/issues/issues.js'
import { Tab } from '../kit/tab.js'

/** The state that the query asks for; open by default. */
export function stateAsked(request: Request): IssueState {
  return new URLSearchParams(request.query).get('state') === 'closed' ? 'closed' : 'open'
}

export interface StateFilterProps {
  /** Of the list. */
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
