/** Checks of sshd's effective configuration for the Git user, and of the helper and socket. */

import { lstat, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import type { Settings } from '../../conf/settings.js'
import { isAnswered } from '../../gateway/ssh/socket-file.js'
import { HELPER_FOLDER, HELPER_NAME, sshdLines } from './ssh-helper.js'

const PROGRAM_MS = 30_000
const SERVER_PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin'

/** Result of a check, printed as a line. */
export interface Finding {
  readonly name: string
  readonly isFault: boolean
  readonly text: string
}

/** Output of `sshd -T`: values by keyword in lower case; a keyword may have several values. */
type SshdConfig = ReadonlyMap<string, readonly string[]>

/**
 * Checks the requirements of clones over SSH, in the order in which they are used. `configFile`
 * replaces the system's sshd_config.
 */
export async function checkSsh(
  settings: Settings,
  configFile?: string,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const note = async (name: string, check: () => Promise<string>) => {
    try {
      findings.push({ name, isFault: false, text: await check() })
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      findings.push({ name, isFault: true, text })
    }
  }
  let config: SshdConfig = new Map()
  await note('sshd', async () => {
    config = await readSshdConfig(settings.ssh.user, configFile)
    return `configuration for ${settings.ssh.user} read`
  })
  if (config.size === 0) return findings
  await note('user', () => checkUser(settings, config))
  await note('lines', async () => checkLines(settings, config))
  await note('helper', () => checkHelper(helperOf(config)))
  await note('socket', () => checkSocket(settings))
  await note('fleet', async () => checkFleet(config))
  return findings
}

/** True if sshd is configured to run the helper; undefined if its configuration is unreadable. */
export async function isSshSetUp({ ssh }: Settings): Promise<boolean | undefined> {
  const config = await readSshdConfig(ssh.user).catch(() => undefined)
  return config && (config.get('authorizedkeyscommand') ?? [])[0]?.includes(`/${HELPER_NAME} keys `)
}

async function readSshdConfig(user: string, configFile?: string): Promise<SshdConfig> {
  const file = configFile === undefined ? [] : ['-f', configFile]
  const who = `user=${user},host=localhost,addr=127.0.0.1`
  const { exitCode, output, errorText } = await runToEnd(
    '/usr/sbin/sshd',
    ['-T', '-C', who, ...file],
    {
      environment: { PATH: SERVER_PATH, LC_ALL: 'C' },
      timeoutMs: PROGRAM_MS,
      outputBytesMax: 1_048_576,
    },
  )
  if (exitCode !== 0) {
    const hint = process.getuid?.() === 0 ? '' : ' (run this as root)'
    throw new Error(`sshd -T failed${hint}: ${errorText.trim()}`)
  }
  const config = new Map<string, string[]>()
  for (const line of output.toString().split('\n')) {
    const at = line.indexOf(' ')
    if (at < 0) continue
    const keyword = line.slice(0, at)
    config.set(keyword, [...(config.get(keyword) ?? []), line.slice(at + 1)])
  }
  return config
}

function firstOf(config: SshdConfig, keyword: string): string {
  return (config.get(keyword) ?? [])[0] ?? ''
}

async function checkUser({ ssh, data }: Settings, config: SshdConfig): Promise<string> {
  const row = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === ssh.user)
  if (row === undefined) throw new Error(`there is no user ${ssh.user}: see conf/gatehouse.service`)
  const [, , uid, , , , shell = ''] = row
  if (/(?:nologin|false|git-shell)$/.test(shell)) {
    throw new Error(`${shell} cannot run the helper: usermod --shell /bin/sh ${ssh.user}`)
  }
  if (firstOf(config, 'usepam') === 'no' && (await isLocked(ssh.user))) {
    throw new Error(`sshd treats ${ssh.user} as locked: usermod --password '*' ${ssh.user}`)
  }
  const owner = await lstat(data.dir).catch(() => undefined)
  if (owner !== undefined && owner.uid !== Number(uid)) {
    throw new Error(`${ssh.user} does not own ${data.dir}: run Gatehouse as that user (ssh.user)`)
  }
  return `${ssh.user}, with ${shell}`
}

/** True if the password is locked with `!`, as after `useradd` and `passwd --lock`. */
async function isLocked(user: string): Promise<boolean> {
  const shadow = await readFile('/etc/shadow', 'utf8').catch(() => '')
  const line = shadow.split('\n').find((text) => text.startsWith(`${user}:`))
  return line?.split(':')[1]?.startsWith('!') ?? false
}

/** Throws an error with the missing lines, ready to be copied. */
function checkLines(settings: Settings, config: SshdConfig): string {
  const helper = helperOf(config) ?? `${HELPER_FOLDER}/${HELPER_NAME}`
  const accepted = config.get('acceptenv') ?? []
  const missing = sshdLines(helper, settings).filter((line) => {
    const [keyword = '', ...words] = line.split(' ')
    const wanted = words.join(' ')
    if (keyword === 'AcceptEnv') return !accepted.includes(wanted)
    return firstOf(config, keyword.toLowerCase()) !== wanted
  })
  if (missing.length > 0) {
    const lines = missing.map((line) => `\n            ${line}`)
    throw new Error(`missing below Match User ${settings.ssh.user}:${lines.join('')}`)
  }
  const pattern = accepted.find((name) => /[*?]/.test(name) && name !== 'LC_*')
  if (pattern !== undefined) {
    throw new Error(`AcceptEnv ${pattern} lets clients set other variables: list names instead`)
  }
  if (firstOf(config, 'pubkeyauthentication') !== 'yes')
    throw new Error('PubkeyAuthentication is off')
  if (!['none', ''].includes(firstOf(config, 'forcecommand'))) {
    throw new Error('ForceCommand overrides the command of each key: remove it')
  }
  return 'complete'
}

function helperOf(config: SshdConfig): string | undefined {
  const [helper, verb] = firstOf(config, 'authorizedkeyscommand').split(' ')
  return verb === 'keys' && helper?.endsWith(`/${HELPER_NAME}`) ? helper : undefined
}

/** Throws unless root owns the helper and its folders and others cannot write them. */
async function checkHelper(helper: string | undefined): Promise<string> {
  if (helper === undefined)
    throw new Error("sshd_config does not use it: run 'gatehouse ssh install'")
  for (let path = helper; ; path = dirname(path)) {
    const found = await lstat(path).catch(() => undefined)
    if (found === undefined) throw new Error(`${path} is missing: run 'gatehouse ssh install'`)
    if (found.uid !== 0) throw new Error(`${path} must be owned by root: chown root ${path}`)
    if ((found.mode & 0o022) !== 0) throw new Error(`others can write ${path}: chmod go-w ${path}`)
    if (path === helper && (found.mode & 0o111) !== 0o111) {
      throw new Error(`${path} is not executable by all users: chmod 0755 ${path}`)
    }
    if (path === '/') return helper
  }
}

async function checkSocket({ ssh }: Settings): Promise<string> {
  const folder = await lstat(dirname(ssh.socket)).catch(() => undefined)
  if (folder === undefined || !(await isAnswered(ssh.socket))) {
    throw new Error(`no gateway answers at ${ssh.socket}: start Gatehouse`)
  }
  if ((folder.mode & 0o077) !== 0) {
    throw new Error(`others can open ${dirname(ssh.socket)}: chmod 0700 ${dirname(ssh.socket)}`)
  }
  return `a gateway answers at ${ssh.socket}`
}

/** Recommends limits for many concurrent logins. Never a fault: few clients do not reach them. */
function checkFleet(config: SshdConfig): string {
  const [start = '0'] = firstOf(config, 'maxstartups').split(':')
  const advice: string[] = []
  if (Number(start) < FLEET_STARTUPS) advice.push('MaxStartups 200:30:500')
  if (!['none', ''].includes(firstOf(config, 'persourcemaxstartups'))) {
    advice.push('PerSourceMaxStartups none')
  }
  if (firstOf(config, 'persourcepenalties').startsWith('crash')) {
    advice.push('PerSourcePenaltyExemptList ADDRESSES')
  }
  if (advice.length === 0) return 'many clients can log in concurrently'
  return `for many clients behind one address, set: ${advice.join(', ')}`
}

const FLEET_STARTUPS = 100
