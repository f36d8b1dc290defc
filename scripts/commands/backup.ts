/** `gatehouse backup …` and `gatehouse restore`: copies of a running site in a folder. */

import { basename, resolve } from 'node:path'
import { findGit } from '../../cgi/process/git.js'
import { type Exit, runInForeground } from '../../cgi/process/spawn-group.js'
import { Failure } from '../../conf/failures.js'
import { inheritedEnvironment, loadSettings } from '../../conf/load.js'
import { listSnapshots } from '../../gateway/backup/layout.js'
import { pruneSnapshots } from '../../gateway/backup/prune-snapshots.js'
import { outcomeOf, takeRecordedBackup } from '../../gateway/backup/recorded-backup.js'
import {
  type RestoredSite,
  restoreBriefly,
  restoreSite,
} from '../../gateway/backup/restore-site.js'
import type { BackupContext } from '../../gateway/backup/take-backup.js'
import { withSnapshot } from '../../gateway/backup/with-snapshot.js'
import { checkSite } from '../../gateway/check/check-site.js'
import type { CheckContext } from '../../gateway/check/finding.js'
import { openStorage } from '../../registry/storage/open.js'
import { addBackup, type Backup } from '../../sql/admin/backups.js'
import { lineOf } from './check.js'
import {
  type Command,
  type CommandCall,
  CommandError,
  type CommandOption,
  requiredOption,
  UsageError,
  withDatabase,
} from './command.js'
import { interruptible } from './interruptible.js'

const backup: Command = {
  words: ['backup'],
  usage: 'DIR',
  about: 'Adds a snapshot of the running site to the folder DIR; exit 1 if data was missing.',
  positionals: ['DIR'],
  options: {},
  async run(call) {
    const dir = folderOf(call)
    const { id, manifest } = await onSite((context, signal) =>
      takeRecordedBackup(context, dir, signal),
    )
    const { repositories, blobs, problems } = manifest
    console.log(`added snapshot ${id} to ${dir}: ${repositories} repositories, ${blobs} blobs`)
    for (const problem of problems) console.error(`${MISSING}: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  },
}

const list: Command = {
  words: ['backup', 'list'],
  usage: 'DIR',
  about: 'Lists the snapshots of a folder, the oldest first.',
  positionals: ['DIR'],
  options: {},
  async run(call) {
    for (const { id, manifest } of await reportErrors(() => listSnapshots(folderOf(call)))) {
      const { repositories, blobs, problems } = manifest
      console.log(`${id}\t${repositories} repositories\t${blobs} blobs\t${problems.length} missing`)
    }
  },
}

const prune: Command = {
  words: ['backup', 'prune'],
  usage: 'DIR --keep N',
  about: 'Removes all snapshots of a folder but the last N.',
  positionals: ['DIR'],
  options: {
    keep: { type: 'string', value: 'N', about: 'Number of snapshots to keep, from 1 on.' },
  },
  async run(call) {
    const keep = requiredOption(call, 'keep')
    if (!/^[1-9]\d{0,5}$/.test(keep)) {
      throw new UsageError(`--keep '${keep}' is not a number from 1 to 999999`)
    }
    const pruned = await reportErrors(() => pruneSnapshots(folderOf(call), Number(keep)))
    const { snapshots, files, bytes } = pruned
    for (const id of snapshots) console.log(`removed ${id}`)
    console.log(`${files} files with ${Math.ceil(bytes / 1_024)} KiB were removed`)
  },
}

const SNAPSHOT: CommandOption = {
  type: 'string',
  value: 'ID',
  about: "Snapshot of 'gatehouse backup list'; by default the last one.",
}

function snapshotOf({ values: { snapshot } }: CommandCall): string | undefined {
  return typeof snapshot === 'string' ? snapshot : undefined
}

const verify: Command = {
  words: ['backup', 'verify'],
  usage: 'DIR [--snapshot ID]',
  about: 'Restores a snapshot inside DIR, checks all of it, and removes it; exit 1 with findings.',
  positionals: ['DIR'],
  options: { snapshot: SNAPSHOT },
  async run(call) {
    await reportErrors(() =>
      restoreBriefly({ dir: folderOf(call), snapshotId: snapshotOf(call) }, async (site, into) => {
        console.log(`restored ${site.snapshot.id}`)
        await check(site, { into, isDeep: true })
      }),
    )
  },
}

const restore: Command = {
  words: ['restore'],
  usage: 'DIR --into FOLDER [--snapshot ID] [--database]',
  about: 'Writes a new data folder from a backup and checks it; exit 1 with findings.',
  positionals: ['DIR'],
  options: {
    into: { type: 'string', value: 'FOLDER', about: 'Empty or new folder for the data.' },
    snapshot: SNAPSHOT,
    database: {
      type: 'boolean',
      about: 'Writes the rows into the empty database of database.url, not into an SQLite file.',
    },
  },
  async run(call) {
    const into = resolve(requiredOption(call, 'into'))
    const database = call.values['database'] === true ? serverDatabase() : undefined
    const snapshotId = snapshotOf(call)
    await reportErrors(() =>
      restoreSite({ dir: folderOf(call), snapshotId, into, database }, (site) =>
        report(site, into),
      ),
    )
  },
}

/** Returns the setting, which has a password that arguments would show to other accounts. */
function serverDatabase() {
  const { database } = loadSettings()
  if (database.location.kind === 'mysql') return database
  throw new UsageError('--database needs the setting database.url with the address of a server')
}

/** Says what the restored site has, and checks it. */
async function report(site: RestoredSite, into: string): Promise<void> {
  const { revived, snapshot } = site
  const { manifest } = snapshot
  console.log(`restored ${manifest.createdAt} into ${into}: set data.dir to this folder`)
  const { tokens, sshKeys, deployKeys, collaborators, teamMembers } = revived
  console.log(
    `valid again, even if revoked since: ${tokens} tokens, ${sshKeys} SSH keys, ${deployKeys} deploy keys, ${collaborators} collaborators, ${teamMembers} team members`,
  )
  console.log('ended: all sessions and all permissions of OAuth applications')
  await check(site, { into, isDeep: false })
}

/** Prints the findings in a restored site. */
async function check(
  { snapshot, db, storage }: RestoredSite,
  { into, isDeep }: { readonly into: string; readonly isDeep: boolean },
): Promise<void> {
  const { problems } = snapshot.manifest
  for (const problem of problems) console.log(`missing in the backup: ${problem}`)
  let findings = 0
  const context = { ...(await surroundingsOf(into)), db, storage }
  // A pull request that was created during the backup may lack its ref, which readers create.
  for await (const finding of checkSite(context, { isDeep, repairs: true })) {
    if (finding.isRepaired) continue
    findings += 1
    console.log(lineOf(finding))
  }
  console.log(findings === 0 ? 'the check found nothing' : `the check found ${findings} faults`)
  if (findings > 0) process.exitCode = 1
}

async function surroundingsOf(into: string): Promise<Pick<CheckContext, 'settings' | 'git'>> {
  const settings = loadSettings()
  const git = { ...(await findGit()), memoryBytesMax: settings.git.memoryBytesMax }
  return { settings: { ...settings, data: { ...settings.data, dir: into } }, git }
}

const runOnSnapshot: Command = {
  words: ['snapshot', 'run'],
  usage: '-- COMMAND [ARGUMENT…]',
  about:
    'Runs a command on a consistent copy of the site, whose path is GATEHOUSE_SNAPSHOT and {}.',
  positionals: ['COMMAND'],
  furtherPositionals: true,
  options: {},
  async run({ positionals }) {
    const startedAtMs = Date.now()
    const exit = await onSite((context, signal) =>
      withSnapshot(context, signal, async (dir, snapshot) => {
        for (const problem of snapshot.manifest.problems) console.error(`${MISSING}: ${problem}`)
        const [file = '', ...args] = positionals.map((word) => word.replaceAll('{}', dir))
        const environment = { ...inheritedEnvironment(), GATEHOUSE_SNAPSHOT: dir }
        const end = await runInForeground(file, args, { environment })
        const target = `snapshot run ${basename(file)}`
        const problem = failureOf(end)
        const outcome = problem === undefined ? outcomeOf(snapshot) : failed(problem)
        await addBackup(context.db, { target, startedAtMs, ...outcome })
        return end
      }),
    )
    if (exit.startError !== undefined) throw new CommandError(exit.startError)
    process.exitCode = exit.exitCode ?? 1
  },
}

const MISSING = 'gatehouse: not in the backup'

function failed(problem: string): Pick<Backup, 'outcome' | 'problem'> {
  return { outcome: 'failed', problem }
}

/** Returns the reason why a command is no backup; undefined if its exit status is 0. */
function failureOf({ exitCode, signal, startError }: Exit): string | undefined {
  if (startError !== undefined || exitCode === 0) return startError
  return exitCode === undefined ? `it was ended by ${signal}` : `its exit status was ${exitCode}`
}

/** Runs `work` on the site of the settings. Its signal is aborted by those of users. */
async function onSite<T>(
  work: (context: BackupContext, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return await reportErrors(() =>
    interruptible((signal) =>
      withDatabase(async (db, settings) =>
        work({ db, settings, storage: await openStorage(settings) }, signal),
      ),
    ),
  )
}

function folderOf({ positionals }: CommandCall): string {
  return positionals[0] ?? ''
}

async function reportErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure || error instanceof CommandError) throw error
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

export const BACKUP_COMMANDS: readonly Command[] = [
  backup,
  list,
  prune,
  verify,
  restore,
  runOnSnapshot,
]
