/** The value of `on.schedule` in workflow files. */

import { CronError, checkCron } from './cron.js'
import type { YamlValue } from './yaml-value.js'

/** Maximum number of schedules of a file. */
const CRONS_MAX = 20

/** Returns the cron expressions of `on.schedule`, each once. Throws FileFault. */
export function readCrons(schedule: YamlValue, warn: (warning: string) => void): readonly string[] {
  if (schedule.isNull) return []
  const entries = schedule.list()
  if (entries.length > CRONS_MAX) schedule.fail(`has more than ${CRONS_MAX} entries`)
  const crons = new Set<string>()
  for (const entry of entries) {
    for (const [key, { name }] of entry.map()) {
      if (key !== 'cron') warn(`${name} has no effect`)
    }
    const cron = entry.map().get('cron') ?? entry.fail("has no 'cron'")
    crons.add(readCron(cron))
  }
  return [...crons]
}

function readCron(value: YamlValue): string {
  const cron = value.text().trim()
  try {
    checkCron(cron)
  } catch (error) {
    if (error instanceof CronError) value.fail(`is '${cron}', which ${error.message}`)
    throw error
  }
  return cron
}
