/** Link to one of several related pages, marked if it is the current page. */

import type { JSX } from 'preact/jsx-runtime'

export interface TabProps {
  readonly address: string
  readonly word: string
  readonly isHere: boolean
}

export function Tab({ address, word, isHere }: TabProps): JSX.Element {
  return (
    <a href={address} aria-current={isHere ? 'page' : undefined}>
      {word}
    </a>
  )
}
