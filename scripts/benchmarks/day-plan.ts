/** Plan of a simulated day: the pushes and the jobs after each of them, equal in each run. */

import { JOB_KINDS, type JobKind } from './ci-jobs.js'
import { createRandom } from './random.js'
import { type Change, createWriter, fileName, type Shape } from './repositories.js'

/** Repository of small files, 10 MB packed. */
export const DAY_SHAPE: Shape = { files: 2_500, fileBytes: 4_000, commits: 400, filesChanged: 10 }

export const BRANCHES: readonly string[] = [
  'main',
  ...Array.from({ length: 9 }, (_, at) => `work-${at + 1}`),
]

export const PUSHES_PER_HOUR = 40

/** 500 runners with jobs of 12.5 minutes run 2,400 jobs an hour. */
const JOBS_PER_PUSH = 60

/** Number of kept workspaces of each kind, each at least the number of jobs after a push. */
export const WORKSPACES = { complete: 60, shallow: 40 } as const

const PUSH_COMMITS_MAX = 3
const COMMIT_FILES_MAX = 3
const SECONDS_PER_PUSH = 3_600 / PUSHES_PER_HOUR
/** Time of the first push, in seconds; after the commits of the generated history. */
const STARTS_AT = 1_750_000_000

export interface PlannedPush {
  readonly branch: string
  /** Commits of the push, all on its branch. */
  readonly changes: readonly Change[]
  /** Jobs of the push; jobs of one kind are consecutive. */
  readonly jobs: readonly PlannedJob[]
}

export interface PlannedJob {
  readonly kind: JobKind
  /** Number of the kept workspace, which no other job of the push uses. */
  readonly workspace?: number
  /** Position of the older commit of a re-run among the earlier pushes, from 0 to 1. */
  readonly rerunAt?: number
}

/** Generates the pushes of the hours. */
export function* planPushes(hours: number): Generator<PlannedPush> {
  const random = createRandom(1)
  const below = (limit: number) => Math.floor(random() * limit)
  const write = createWriter(2)
  for (let push = 0; push < hours * PUSHES_PER_HOUR; push += 1) {
    const branch = BRANCHES[below(BRANCHES.length)] ?? 'main'
    const when = STARTS_AT + push * SECONDS_PER_PUSH
    const changes = Array.from({ length: 1 + below(PUSH_COMMITS_MAX) }, (_, commit) => ({
      branch,
      when: when + commit,
      files: Array.from({ length: 1 + below(COMMIT_FILES_MAX) }, () => ({
        name: fileName(below(DAY_SHAPE.files)),
        text: write(DAY_SHAPE.fileBytes),
      })),
    }))
    yield { branch, changes, jobs: planJobs(random) }
  }
}

function planJobs(random: () => number): readonly PlannedJob[] {
  const used = { complete: new Set<number>(), shallow: new Set<number>() }
  const jobs = Array.from({ length: JOBS_PER_PUSH }, (): PlannedJob => {
    const kind = kindAt(random() * 100)
    const at = random()
    if (kind.isRerun === true) return { kind, rerunAt: at }
    if (kind.workspace === 'new') return { kind }
    const count = WORKSPACES[kind.workspace]
    let workspace = Math.floor(at * count)
    while (used[kind.workspace].has(workspace)) workspace = (workspace + 1) % count
    used[kind.workspace].add(workspace)
    return { kind, workspace }
  })
  return JOB_KINDS.flatMap((kind) => jobs.filter((job) => job.kind === kind))
}

/** Returns the kind of a job by a number from 0 to 100. */
function kindAt(percent: number): JobKind {
  let end = 0
  const found = JOB_KINDS.find((kind) => {
    end += kind.percent
    return percent < end
  })
  if (found === undefined) throw new Error('The shares of the kinds of jobs are less than 100 %.')
  return found
}
