/** Patterns as sequences of states, matched in a time proportional to pattern and text. */

/** A state of a pattern; the last one is followed by the end of the text. */
export interface State {
  /** Returns true for a character that leads to the next state. */
  readonly accepts: (character: string) => boolean
  /** True if the characters that it accepts may also lead back to it. */
  readonly repeats: boolean
  /** Distances to later states that are reached together with this one. */
  readonly jumps: readonly number[]
}

/** Returns the state of exactly one of the accepted characters. */
export function once(accepts: State['accepts']): State {
  return { accepts, repeats: false, jumps: [] }
}

/** Returns the state of any number of the accepted characters. */
export function any(accepts: State['accepts']): State {
  return { accepts, repeats: true, jumps: [1] }
}

/** Returns what accepts the characters and ranges of a class, such as `ab0-9`. */
export function rangesOf(content: string): State['accepts'] {
  const ranges = content.match(/.-.|./gsu) ?? []
  return (character) =>
    ranges.some((range) => {
      const [first = '', , last = first] = [...range]
      return first <= character && character <= last
    })
}

/**
 * Returns true if the states match the whole text. Follows all ways through the states at the same
 * time, as a nondeterministic automaton, so that no text makes it slow.
 */
export function matchStates(states: readonly State[], text: string): boolean {
  let present = new Set<number>()
  reach(states, present, 0)
  for (const character of text) {
    const next = new Set<number>()
    for (const at of present) {
      const state = states[at]
      if (state === undefined || !state.accepts(character)) continue
      if (state.repeats) reach(states, next, at)
      reach(states, next, at + 1)
    }
    if (next.size === 0) return false
    present = next
  }
  return present.has(states.length)
}

/** Adds a state, and those that are reached together with it. */
function reach(states: readonly State[], present: Set<number>, start: number): void {
  const waiting = [start]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (present.has(at)) continue
    present.add(at)
    for (const jump of states[at]?.jumps ?? []) waiting.push(at + jump)
  }
}
