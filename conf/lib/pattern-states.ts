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
 * Work that matching may still do: one for each character, and the number of a pattern's states for
 * each character that leads to states which were not reached together before.
 */
export interface MatchWork {
  left: number
}

const UNLIMITED: MatchWork = { left: Number.POSITIVE_INFINITY }

/** Returns true if the whole text matches. If the work does not suffice, it is false. */
export type Matcher = (text: string, work?: MatchWork) => boolean

/** States that are reached together. */
interface Reached {
  readonly states: readonly number[]
  readonly isEnd: boolean
  /** States that each character leads to, as far as they were needed. */
  readonly next: Map<string, Reached>
}

/** Memory of a matcher: the states that it has reached together. */
interface Memory {
  readonly start: Reached
  /** Reached states by their marks, as text. */
  readonly known: Map<string, Reached>
  /** Number of their states and characters. */
  size: number
}

/** Maximum size of a memory, which is up to about 400 KB. */
const MEMORY_SIZE_MAX = 8_192

/**
 * Returns the function that matches the states. It follows all ways through the states at the same
 * time, as a nondeterministic automaton, so that no text makes it slow. It remembers which states
 * it has reached together, so that most characters cost one lookup.
 */
export function matcherOf(states: readonly State[]): Matcher {
  let memory = newMemory(states)
  const follow = (from: Reached, character: string): Reached => {
    if (memory.size > MEMORY_SIZE_MAX) memory = newMemory(states)
    const found = known(memory, step(states, from, character))
    memory.size += 1
    from.next.set(character, found)
    return found
  }
  return (text, work = UNLIMITED) => {
    let present = memory.start
    for (const character of text) {
      const next = present.next.get(character)
      work.left -= next === undefined ? states.length : 1
      if (work.left < 0) return false
      present = next ?? follow(present, character)
      if (present.states.length === 0) return false
    }
    return present.isEnd
  }
}

function newMemory(states: readonly State[]): Memory {
  const first = new Uint8Array(states.length + 1)
  first[0] = 1
  const start = reachedOf(closed(states, first))
  return { start, known: new Map(), size: 0 }
}

/** Returns the states that are marked, as known before if they were. */
function known(memory: Memory, marks: Uint8Array): Reached {
  const key = Buffer.from(marks).toString('latin1')
  const same = memory.known.get(key)
  if (same !== undefined) return same
  const reached = reachedOf(marks)
  memory.known.set(key, reached)
  memory.size += marks.length
  return reached
}

function reachedOf(marks: Uint8Array): Reached {
  const states: number[] = []
  for (let at = 0; at < marks.length; at += 1) if (marks[at] === 1) states.push(at)
  return { states, isEnd: marks.at(-1) === 1, next: new Map() }
}

/** Marks the states that a character leads to. The mark behind the last state is the end. */
function step(states: readonly State[], from: Reached, character: string): Uint8Array {
  const marks = new Uint8Array(states.length + 1)
  for (const at of from.states) {
    const state = states[at]
    if (state?.accepts(character) !== true) continue
    if (state.repeats) marks[at] = 1
    marks[at + 1] = 1
  }
  return closed(states, marks)
}

/** Marks also the states that are reached together with marked ones; jumps only go forwards. */
function closed(states: readonly State[], marks: Uint8Array): Uint8Array {
  for (let at = 0; at < states.length; at += 1) {
    if (marks[at] === 1) for (const jump of states[at]?.jumps ?? []) marks[at + jump] = 1
  }
  return marks
}
