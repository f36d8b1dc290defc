/**
 * `gatehouse ssh …` and `gatehouse doctor ssh`: installation, printed lines, and detected faults.
 */

import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DOCTOR_COMMANDS } from '../../../scripts/commands/doctor.js'
import { SSH_COMMANDS } from '../../../scripts/commands/ssh.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { startSshGatehouse } from '../../helpers/ssh-gatehouse.js'

/** Creates a folder in which sshd trusts programs. */
async function trustedFolder(t: Test): Promise<string> {
  const folder = await mkdtemp('/var/lib/gatehouse-test-')
  await chmod(folder, 0o755)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

t.test('ssh install copies the helper and prints the lines for sshd_config', async (t) => {
  const data = await useDataFolder(t)
  const folder = join(await trustedFolder(t), 'lib')
  const lines = await runCommand(t, SSH_COMMANDS, 'ssh', 'install', '--to', folder)
  const helper = join(folder, 'gatehouse-ssh')
  t.match(lines[0], `installed ${helper}`)
  t.same(lines.slice(1), [
    'Match User git',
    '    AuthorizedKeysFile none',
    `    AuthorizedKeysCommand ${helper} keys ${data}/run/ssh.sock %t %k`,
    '    AuthorizedKeysCommandUser git',
    '    AcceptEnv GIT_PROTOCOL',
  ])
  for (const path of [folder, helper]) {
    const { uid, mode } = await stat(path)
    t.same([uid, mode & 0o777], [0, 0o755], path)
  }
  await runCommand(t, SSH_COMMANDS, 'ssh', 'install', '--to', folder)
  t.pass('installing again replaces the helper')
})

t.test('ssh keys prints the line of a known key, as the helper does', async (t) => {
  const fixture = await startSshGatehouse(t)
  const ada = await fixture.addPerson('ada')
  const [type = '', key = ''] = ada.publicKey.split(' ')
  const socket = join(fixture.gatehouse.dataDir, 'run/ssh.sock')
  const { helper } = fixture.sshd
  const quick = execFileSync(helper, ['keys', socket, type, key], { encoding: 'utf8' })
  const known = await fixture.gatehouse.run('ssh', 'keys', type, key, '--helper', helper)
  t.equal(known.output, quick)
  t.match(known.output, /^restrict,command="[^"]+" ssh-ed25519 \S+\n$/)
  const stranger = await fixture.newCaller('stranger')
  const [, other = ''] = stranger.publicKey.split(' ')
  const unknown = await fixture.gatehouse.run('ssh', 'keys', type, other)
  t.same([unknown.exitCode, unknown.output], [0, ''])
  await doctor(t, fixture)
})

async function doctor(
  t: Test,
  fixture: Awaited<ReturnType<typeof startSshGatehouse>>,
): Promise<void> {
  const { account, gatehouse, sshd } = fixture
  const settings = {
    GATEHOUSE_DATA_DIR: gatehouse.dataDir,
    GATEHOUSE_SSH_USER: account.name,
  }
  Object.assign(process.env, settings)
  t.teardown(() => {
    for (const name of Object.keys(settings)) delete process.env[name]
    process.exitCode = 0
  })
  const look = async (configFile: string) => {
    process.exitCode = 0
    const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor', 'ssh', '--config', configFile)
    const exitCode = process.exitCode
    process.exitCode = 0
    return { lines, exitCode }
  }
  const config = execFileSync('cat', [sshd.configFile], { encoding: 'utf8' })
  const changed = join(await trustedFolder(t), 'sshd_config')
  const lookAt = async (text: string) => {
    await writeFile(changed, text)
    return look(changed)
  }

  await t.test('doctor ssh accepts the example configuration', async (t) => {
    const { lines, exitCode } = await look(sshd.configFile)
    const names = lines.map((line) => /^ok {6}(\w+): ./.exec(line)?.[1])
    t.same(names, ['sshd', 'user', 'lines', 'helper', 'socket', 'fleet'], lines.join('\n'))
    t.equal(exitCode, 0)
  })

  await t.test('doctor ssh prints the missing lines only', async (t) => {
    const { lines, exitCode } = await lookAt(config.replace(/ {4}AcceptEnv.*/, ''))
    t.equal(exitCode, 1)
    const fault = lines.filter((line) => line.startsWith('FAULT'))
    t.same(fault, [
      `FAULT   lines: missing below Match User ${account.name}:\n            AcceptEnv GIT_PROTOCOL`,
    ])
    const nothing = await lookAt(config.slice(0, config.indexOf('\nMatch User')))
    t.match(nothing.lines.join('\n'), / {12}AuthorizedKeysCommand \/usr\/local\/lib\/gatehouse\//)
    t.match(nothing.lines.join('\n'), /FAULT {3}helper: sshd_config does not use it/)
  })

  await t.test('doctor ssh detects patterns in AcceptEnv and a ForceCommand', async (t) => {
    const pattern = await lookAt(`${config}\n    AcceptEnv *\n`)
    t.match(pattern.lines.join('\n'), /FAULT {3}lines: AcceptEnv \* lets clients set/)
    const forced = await lookAt(`${config}\n    ForceCommand /bin/true\n`)
    t.match(forced.lines.join('\n'), /FAULT {3}lines: ForceCommand overrides/)
    const few = await lookAt(config.replace(/^MaxStartups.*/m, ''))
    t.match(few.lines.join('\n'), /ok {6}fleet: for many clients .*: MaxStartups 200:30:500/)
    const broken = await lookAt('Port none\n')
    t.match(broken.lines, [/^FAULT {3}sshd: sshd -T failed: .*Badly formatted port/])
  })

  await t.test('doctor ssh detects a helper that sshd would not start', async (t) => {
    await chmod(sshd.helper, 0o777)
    t.match((await look(sshd.configFile)).lines.join('\n'), /FAULT {3}helper: others can write/)
    await chmod(sshd.helper, 0o755)
    await chown(sshd.helper, 1, 1)
    t.match(
      (await look(sshd.configFile)).lines.join('\n'),
      /FAULT {3}helper: .* must be owned by root/,
    )
    await chown(sshd.helper, 0, 0)
    await rm(sshd.helper)
    t.match((await look(sshd.configFile)).lines.join('\n'), /FAULT {3}helper: .* is missing/)
  })

  await t.test('doctor ssh detects that no gateway answers', async (t) => {
    await gatehouse.stop()
    t.match((await look(sshd.configFile)).lines.join('\n'), /FAULT {3}socket: no gateway answers/)
  })
}
