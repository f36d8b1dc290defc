/** One of the pages of a thing, and whether it is this one. */

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
