/** Who works on which answer of git, on one machine: the first to ask leads, the others join. */

/** What a worker says of its flights. A path is a flight's own; a key may fly again later. */
export type FlightReport =
  /** An answer is wanted: may this worker lead, or is somebody at it? */
  | { readonly act: 'want'; readonly id: number; readonly key: string }
  /** The process group that works for the leader. */
  | { readonly act: 'started'; readonly path: string; readonly groupId: number }
  /** All is written; without a length, it never will be. */
  | { readonly act: 'ended'; readonly path: string; readonly bytes: number | undefined }
  /** A joined worker knows where the answer ends. */
  | { readonly act: 'heard'; readonly path: string }
  /** The file has its last name, or is gone: nobody can join any more. */
  | { readonly act: 'sealed'; readonly path: string }
  /** A joined worker has no reader left. */
  | { readonly act: 'left'; readonly path: string }

/** What a worker is told. */
export type FlightNews =
  | {
      readonly act: 'board'
      readonly id: number
      readonly path: string
      readonly role: 'leader' | 'joiner'
      /** For a joiner of what has been written to its end. */
      readonly bytes: number | undefined
    }
  /** To the leader: so many other workers read along. */
  | { readonly act: 'joiners'; readonly path: string; readonly count: number }
  /** To the leader: what is added to the file now, nobody takes for a part of the answer. */
  | { readonly act: 'sealable'; readonly path: string }
  /** To the joiners. */
  | { readonly act: 'ended'; readonly path: string; readonly bytes: number | undefined }

interface Flight {
  readonly key: string
  readonly path: string
  readonly leader: number
  readonly joiners: Set<number>
  /** Joiners that have not said yet that they know the end. */
  readonly untold: Set<number>
  groupId: number | undefined
  bytes: number | undefined
}

/** What a lost worker leaves behind. */
export interface Wreck {
  readonly path: string
  readonly groupId: number | undefined
}

/** The board of all workers of a machine, kept where all of them report to. */
export class FlightBoard {
  readonly #folder: string
  readonly #tell: (member: number, news: FlightNews) => void
  readonly #byKey = new Map<string, Flight>()
  readonly #byPath = new Map<string, Flight>()
  #counter = 0

  /** Files of flights are named below the folder. */
  constructor(folder: string, tell: (member: number, news: FlightNews) => void) {
    this.#folder = folder
    this.#tell = tell
  }

  take(member: number, report: FlightReport): void {
    if (report.act === 'want') {
      this.#board(member, report)
      return
    }
    const flight = this.#byPath.get(report.path)
    if (flight === undefined) return
    if (report.act === 'left') {
      flight.joiners.delete(member)
      this.#countJoiners(flight)
      this.#hear(flight, member)
    } else if (report.act === 'heard') {
      this.#hear(flight, member)
    } else if (report.act === 'started') {
      flight.groupId = report.groupId
    } else if (report.act === 'ended') {
      this.#end(flight, report.bytes)
    } else {
      this.#forget(flight)
    }
  }

  /** A worker has died: its flights end, for those who joined them as well. */
  lose(member: number): readonly Wreck[] {
    const wrecks: Wreck[] = []
    for (const flight of this.#byPath.values()) {
      if (flight.joiners.delete(member)) this.#countJoiners(flight)
      this.#hear(flight, member)
      if (flight.leader !== member) continue
      const isEnded = flight.bytes !== undefined
      if (!isEnded) this.#end(flight, undefined)
      this.#forget(flight)
      // The number of a group that is gone may be somebody else's by now.
      wrecks.push({ path: flight.path, groupId: isEnded ? undefined : flight.groupId })
    }
    return wrecks
  }

  #board(member: number, { id, key }: { readonly id: number; readonly key: string }): void {
    const known = this.#byKey.get(key)
    if (known !== undefined && known.leader !== member) {
      known.joiners.add(member)
      this.#countJoiners(known)
      const { path, bytes } = known
      this.#tell(member, { act: 'board', id, path, role: 'joiner', bytes })
      return
    }
    this.#counter += 1
    const path = `${this.#folder}/${key}.${this.#counter}.part`
    const flight = {
      key,
      path,
      leader: member,
      joiners: new Set<number>(),
      untold: new Set<number>(),
      groupId: undefined,
      bytes: undefined,
    }
    this.#byKey.set(key, flight)
    this.#byPath.set(path, flight)
    this.#tell(member, { act: 'board', id, path, role: 'leader', bytes: undefined })
  }

  #countJoiners({ leader, path, joiners }: Flight): void {
    this.#tell(leader, { act: 'joiners', path, count: joiners.size })
  }

  #end(flight: Flight, bytes: number | undefined): void {
    flight.bytes = bytes
    // What failed can be tried anew at once.
    if (bytes === undefined) this.#dropKey(flight)
    for (const joiner of flight.joiners) {
      flight.untold.add(joiner)
      this.#tell(joiner, { act: 'ended', path: flight.path, bytes })
    }
    if (flight.untold.size === 0) this.#tell(flight.leader, { act: 'sealable', path: flight.path })
  }

  #hear({ untold, leader, path }: Flight, member: number): void {
    if (untold.delete(member) && untold.size === 0) this.#tell(leader, { act: 'sealable', path })
  }

  #forget(flight: Flight): void {
    this.#dropKey(flight)
    this.#byPath.delete(flight.path)
  }

  #dropKey(flight: Flight): void {
    if (this.#byKey.get(flight.key) === flight) this.#byKey.delete(flight.key)
  }
}
