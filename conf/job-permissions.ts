/** Permissions of the token of a workflow job, by the part of its repository. */

/** Parts of a repository, named like the keys of `permissions` in workflow files. */
export const JOB_AREAS = [
  'contents',
  'issues',
  'pull-requests',
  'statuses',
  'packages',
  'actions',
] as const

export type JobArea = (typeof JOB_AREAS)[number]

/** Levels of a permission, in ascending order. */
export const JOB_LEVELS = ['none', 'read', 'write'] as const

export type JobLevel = (typeof JOB_LEVELS)[number]

export type JobPermissions = Readonly<Record<JobArea, JobLevel>>

/** Returns the same permission for each area. */
export function allAreas(level: JobLevel): JobPermissions {
  return Object.fromEntries(JOB_AREAS.map((area) => [area, level])) as JobPermissions
}

/** Permissions of a job whose file names none, unless the repository permits writing. */
const DEFAULT: JobPermissions = { ...allAreas('read'), statuses: 'write' }

/** Returns permissions of which none is above those of `limit`. */
export function limitPermissions(wanted: JobPermissions, limit: JobPermissions): JobPermissions {
  const limited = JOB_AREAS.map((area) => {
    const rank = Math.min(JOB_LEVELS.indexOf(wanted[area]), JOB_LEVELS.indexOf(limit[area]))
    return [area, JOB_LEVELS[rank]]
  })
  return Object.fromEntries(limited) as JobPermissions
}

export interface JobOrigin {
  /** Permissions in the workflow file; undefined if it names none. */
  readonly declared: JobPermissions | undefined
  /** True if jobs of the repository may write everything unless their file says otherwise. */
  readonly isWriteDefault: boolean
  /** True if the commit is of a fork: its author chooses what the file says. */
  readonly isFromFork: boolean
}

/** Returns the permissions of a job. One of a fork reads at most. */
export function permissionsOf({ declared, isWriteDefault, isFromFork }: JobOrigin): JobPermissions {
  const wanted = declared ?? (isWriteDefault ? allAreas('write') : DEFAULT)
  if (!isFromFork) return wanted
  const limited = JOB_AREAS.map((area) => [area, wanted[area] === 'none' ? 'none' : 'read'])
  return Object.fromEntries(limited) as JobPermissions
}
