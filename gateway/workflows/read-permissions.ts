/** The value of `permissions` in workflow files. */

import {
  allAreas,
  JOB_AREAS,
  JOB_LEVELS,
  type JobArea,
  type JobLevel,
  type JobPermissions,
} from '../../conf/job-permissions.js'
import type { YamlValue } from './yaml-value.js'

/**
 * Reads permissions: `read-all`, `write-all`, or a map, in which areas without a key have none.
 * Keys that do not exist here have no effect; `warn` gets a sentence for each. Throws FileFault.
 */
export function readPermissions(value: YamlValue, warn: (warning: string) => void): JobPermissions {
  if (!value.isMap) {
    const text = value.isNull ? '' : value.text()
    if (text === 'read-all') return allAreas('read')
    if (text === 'write-all') return allAreas('write')
    return value.fail("must be 'read-all', 'write-all' or a map")
  }
  const permissions: Record<JobArea, JobLevel> = { ...allAreas('none') }
  for (const [key, level] of value.map()) {
    const area = JOB_AREAS.find((candidate) => candidate === key)
    if (area === undefined) {
      warn(`${level.name} has no effect`)
      continue
    }
    const text = level.text()
    const known = JOB_LEVELS.find((candidate) => candidate === text)
    permissions[area] = known ?? level.fail("must be 'none', 'read' or 'write'")
  }
  return permissions
}
