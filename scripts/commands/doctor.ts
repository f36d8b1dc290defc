/** `gatehouse doctor`: checks the installation and reports faults with their remedy. */

import { findGit } from '../../cgi/process/git.js'
import { loadSettings } from '../../conf/load.js'
import type { Settings } from '../../conf/settings.js'
import { refuseClockOf } from '../../gateway/doctor/address.js'
import { type Check, SERVING_CHECKS } from '../../gateway/doctor/checks.js'
import { checkGitLimits } from '../../gateway/doctor/machine.js'
import { refuseOtherSecret } from '../../gateway/doctor/site-identity.js'
import { findServerTime } from '../../sql/database/clock.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { migrationStatus, refuseNewerDatabase } from '../../sql/database/migrate.js'
import type { Command } from './command.js'
import { checkSsh, isSshSetUp } from './sshd-configuration.js'

const CHECKS: readonly Check[] = [
  { name: 'database', run: checkDatabase },
  { name: 'git', run: checkGit },
  { name: 'git limits', run: checkGitLimits },
  ...SERVING_CHECKS,
  { name: 'sshd', run: checkSshd },
]

export const DOCTOR_COMMANDS: readonly Command[] = [
  {
    words: ['doctor', 'ssh'],
    usage: '[--config FILE]',
    about:
      "Checks the setup for clones over SSH, with the system's sshd_config or another; as root.",
    positionals: [],
    options: {
      config: {
        type: 'string',
        value: 'FILE',
        about: "Reads this sshd_config; the default is the system's.",
      },
    },
    async run({ values }) {
      const { config } = values
      const findings = await checkSsh(
        loadSettings(),
        typeof config === 'string' ? config : undefined,
      )
      for (const { name, isFault, text } of findings) {
        console.log(`${isFault ? 'FAULT ' : 'ok    '}  ${name}: ${text}`)
      }
      if (findings.some(({ isFault }) => isFault)) process.exitCode = 1
    },
  },
  {
    words: ['doctor'],
    usage: '',
    about:
      'Checks settings, database, address, git, disks, backups, TLS, sshd; exit 1 for a fault.',
    positionals: [],
    options: {},
    async run() {
      const settings = loadSettings()
      console.log('ok      configuration: read')
      let faults = 0
      for (const { name, run } of CHECKS) {
        try {
          console.log(`ok      ${name}: ${await run(settings)}`)
        } catch (error) {
          faults += 1
          console.log(`FAULT   ${name}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
      if (faults > 0) process.exitCode = 1
    },
  },
]

async function checkDatabase({ database, data }: Settings): Promise<string> {
  const db = await openDatabase(database)
  try {
    await refuseNewerDatabase(db)
    const waiting = (await migrationStatus(db)).filter((entry) => entry.appliedAtMs === undefined)
    if (waiting.length > 0) {
      throw new Error(`${waiting.length} migration(s) not applied: run 'gatehouse db migrate'`)
    }
    await refuseOtherSecret(db, data.dir)
    const serverTimeMs = await findServerTime(db)
    if (serverTimeMs !== undefined) refuseClockOf('the database server', serverTimeMs)
    return `${database.location.kind}, migrated`
  } finally {
    await closeDatabase(db)
  }
}

async function checkGit(): Promise<string> {
  const git = await findGit()
  return `${git.version.join('.')} at ${git.file}`
}

/** Checks sshd if it is set up for Git; a server with HTTPS only has no fault. */
async function checkSshd(settings: Settings): Promise<string> {
  if (!(await isSshSetUp(settings))) return "not set up for Git (see 'gatehouse doctor ssh')"
  const fault = (await checkSsh(settings)).find(({ isFault }) => isFault)
  if (fault !== undefined) throw new Error(`${fault.name}: ${fault.text}`)
  return 'set up for Git'
}
