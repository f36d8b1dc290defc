/** Single flight for the workers of one gateway: the first to want an answer of git leads. */

/** A message of a worker. Each in-flight answer has its own path; keys are used again. */
export type SingleFlightReport =
  /** Request for the role of leader or follower of a key; the `board` notice is the reply. */
  | { readonly act: 'want'; readonly id: number; readonly key: string }
  /** Names the process group that makes the answer. */
  | { readonly act: 'started'; readonly path: string; readonly groupId: number }
  /** The leader has written the whole answer, or failed if `bytes` is undefined. */
  | { readonly act: 'ended'; readonly path: string; readonly bytes: number | undefined }
  /** The file is renamed or removed: no worker can follow any more. */
  | { readonly act: 'moved'; readonly path: string }
  /** The last reader of a follower has left. */
  | { readonly act: 'left'; readonly path: string }

/** A message to a worker. */
export type SingleFlightNotice =
  | {
      readonly act: 'board'
      readonly id: number
      readonly path: string
      readonly role: 'leader' | 'joiner'
      /** Length of the answer, if the worker follows one that is already complete. */
      readonly bytes: number | undefined
    }
  /** Number of other workers that follow; sent to the leader. */
  | { readonly act: 'joiners'; readonly path: string; readonly count: number }
  /** Length of the answer, or its failure if `bytes` is undefined; sent to a follower. */
  | { readonly act: 'ended'; readonly path: string; readonly bytes: number | undefined }

interface InFlightAnswer {
  readonly key: string
  readonly path: string
  readonly leader: number
  readonly followers: Set<number>
  groupId: number | undefined
  bytes: number | undefined
}

/** An answer whose leader died, and the process group that may still write it. */
export interface LostLeader {
  readonly path: string
  readonly groupId: number | undefined
}

/** The in-flight answers of all workers; runs in the process to which all of them report. */
export class SingleFlightCoordinator {
  readonly #folder: string
  readonly #name: string
  readonly #send: (member: number, notification: SingleFlightNotice) => void
  readonly #byKey = new Map<string, InFlightAnswer>()
  readonly #byPath = new Map<string, InFlightAnswer>()
  #counter = 0

  /**
   * Files of in-flight answers are below `folder`. No other coordinator of the folder may have the
   * same name, of letters, digits and hyphens.
   */
  constructor(
    { folder, name }: { readonly folder: string; readonly name: string },
    send: (member: number, notification: SingleFlightNotice) => void,
  ) {
    this.#folder = folder
    this.#name = name
    this.#send = send
  }

  take(member: number, report: SingleFlightReport): void {
    if (report.act === 'want') {
      this.#board(member, report)
      return
    }
    const inFlight = this.#byPath.get(report.path)
    if (inFlight === undefined) return
    if (report.act === 'left') {
      inFlight.followers.delete(member)
      this.#countFollowers(inFlight)
    } else if (report.act === 'started') {
      inFlight.groupId = report.groupId
    } else if (report.act === 'ended') {
      this.#end(inFlight, report.bytes)
    } else {
      this.#forget(inFlight)
    }
  }

  /** Ends the answers that a dead worker led, for their followers too. Returns those answers. */
  lose(member: number): readonly LostLeader[] {
    const lostLeaders: LostLeader[] = []
    for (const inFlight of this.#byPath.values()) {
      if (inFlight.followers.delete(member)) this.#countFollowers(inFlight)
      if (inFlight.leader !== member) continue
      const isEnded = inFlight.bytes !== undefined
      if (!isEnded) this.#end(inFlight, undefined)
      this.#forget(inFlight)
      // The id of a process group that has ended may belong to another group by now.
      lostLeaders.push({ path: inFlight.path, groupId: isEnded ? undefined : inFlight.groupId })
    }
    return lostLeaders
  }

  #board(member: number, { id, key }: { readonly id: number; readonly key: string }): void {
    const known = this.#byKey.get(key)
    if (known !== undefined && known.leader !== member) {
      known.followers.add(member)
      this.#countFollowers(known)
      const { path, bytes } = known
      this.#send(member, { act: 'board', id, path, role: 'joiner', bytes })
      return
    }
    this.#counter += 1
    const path = `${this.#folder}/${key}.${this.#name}-${this.#counter}.part`
    const inFlight = {
      key,
      path,
      leader: member,
      followers: new Set<number>(),
      groupId: undefined,
      bytes: undefined,
    }
    this.#byKey.set(key, inFlight)
    this.#byPath.set(path, inFlight)
    this.#send(member, { act: 'board', id, path, role: 'leader', bytes: undefined })
  }

  #countFollowers({ leader, path, followers }: InFlightAnswer): void {
    this.#send(leader, { act: 'joiners', path, count: followers.size })
  }

  #end(inFlight: InFlightAnswer, bytes: number | undefined): void {
    inFlight.bytes = bytes
    // A failed answer can be tried again immediately.
    if (bytes === undefined) this.#dropKey(inFlight)
    for (const follower of inFlight.followers) {
      this.#send(follower, { act: 'ended', path: inFlight.path, bytes })
    }
  }

  #forget(inFlight: InFlightAnswer): void {
    this.#dropKey(inFlight)
    this.#byPath.delete(inFlight.path)
  }

  #dropKey(inFlight: InFlightAnswer): void {
    if (this.#byKey.get(inFlight.key) === inFlight) this.#byKey.delete(inFlight.key)
  }
}
