/** `gatehouse check`: output, exit status and arguments. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { readCall } from '../../../scripts/commands/call.js'
import { CHECK_COMMANDS } from '../../../scripts/commands/check.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { aRepository, aUser } from '../../helpers/rows.js'

/** Runs the command; returns its lines and its exit status. */
async function check(t: Parameters<typeof runCommand>[0], ...args: readonly string[]) {
  const errors = t.capture(console, 'error')
  try {
    const lines = await runCommand(t, CHECK_COMMANDS, 'check', ...args)
    const errorText = errors().flatMap((call) => call.args.map(String))
    return { lines, errorText, exitCode: Number(process.exitCode ?? 0) }
  } finally {
    errors.restore()
    process.exitCode = 0
  }
}

t.test('check prints a line for each finding, and says by its exit status', async (t) => {
  const dataDir = await useDataFolder(t)
  const { storage } = await withDatabase(async (db) =>
    aRepository(db, (await aUser(db, 'ada')).id, 'library'),
  )
  await withDatabase((db) => db('users').update({ password_hash: null }))
  const path = repositoryPath(dataDir, storage)
  await initRepository(await findGit(), path, { defaultBranch: 'main', objectFormat: 'sha1' })
  t.strictSame(await check(t), { lines: [], errorText: [], exitCode: 0 })

  await rm(path, { recursive: true })
  const found = await check(t, '--deep')
  t.equal(found.exitCode, 1)
  t.match(found.lines, [/^R1 {2}ada\/library: The folder \S+ does not exist\. Check that .*\.$/])
  const { lines } = await check(t, '--json', 'ADA/Library')
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ code: 'R1', subject: 'ada/library', problem: /does not exist$/, remedy: /backup/ }],
  )
  t.match(await check(t, '--only', 'b1'), { lines: [], exitCode: 0 })
})

t.test('a check continues from its file of progress, and counts earlier findings', async (t) => {
  const file = join(await useDataFolder(t), 'progress')
  const write = (call: string) =>
    writeFile(file, JSON.stringify({ call, position: { code: 'C1', lists: {} }, findings: 1 }))
  await write('check --deep --only c1')
  t.match(await check(t, '--only', 'c1', '--deep', '--progress', file), { lines: [], exitCode: 1 })
  await t.rejects(readFile(file), { code: 'ENOENT' }, 'a complete check removes its file')
  t.match(await check(t, '--only', 'c1', '--progress', file), { lines: [], exitCode: 0 })

  await write('check --deep')
  t.strictSame(await check(t, '--progress', file), {
    lines: [],
    errorText: [
      `gatehouse: ${file} is of a check with other arguments (check --deep): repeat them, or remove the file`,
    ],
    exitCode: 2,
  })
  await writeFile(file, '{}')
  t.match(await check(t, '--progress', file), {
    errorText: [`gatehouse: ${file} is not the progress of a check: name another file`],
    exitCode: 2,
  })
  await t.rejects(check(t, '--progress', file, 'ada/library'), {
    message: '--progress is for checks of the whole site',
  })
})

t.test('check has exit status 2 if it cannot read the site', async (t) => {
  const dataDir = await useDataFolder(t)
  const absent = await check(t, 'ada/absent')
  t.match(absent, { exitCode: 2, errorText: ['gatehouse: there is no repository ada/absent'] })
  await writeFile(join(dataDir, 'gatehouse.db'), 'not a database '.repeat(100))
  t.match(await check(t), { lines: [], exitCode: 2, errorText: [/^gatehouse: The database .*/] })
})

t.test('wrong arguments are refused with the known ones', async (t) => {
  const [command] = CHECK_COMMANDS
  if (command === undefined) throw new Error('no command')
  t.strictSame(readCall(command, ['a/b', '--deep', 'c/d']).positionals, ['a/b', 'c/d'])
  await t.rejects(check(t, '--only', 'X9'), {
    message: /^--only has no check 'X9', only D1, R1,.*, C1$/,
  })
  await t.rejects(check(t, 'ada'), { message: 'a repository is named as OWNER/REPO' })
})
