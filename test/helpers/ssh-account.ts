/** System account under which gateway and git run in tests with sshd. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const NAME = 'gatehouse-test'
const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))
/** File of a package that the program loads. */
const PACKAGE = createRequire(import.meta.url).resolve('better-sqlite3')

/**
 * Returns the account for tests, which is created if it is missing; if it cannot read this
 * checkout, the account that runs the tests. Throws unless the tests run as root, because sshd runs
 * helper programs only if root owns them.
 */
export function sshAccount(): Account {
  if (process.getuid?.() !== 0) throw new Error('the tests of SSH start a real sshd: run as root')
  const account = findAccount() ?? makeAccount()
  const { uid, gid } = account
  const words = ['-x', process.execPath, '-a', '-r', COMMAND_LINE, '-a', '-r', PACKAGE]
  if (spawnSync('/usr/bin/test', words, { uid, gid, cwd: '/' }).status === 0) return account
  return { name: userInfo().username, uid: 0, gid: 0 }
}

function findAccount(): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${NAME}:`))
  const [name, , uid, gid] = line?.split(':') ?? []
  return name === undefined ? undefined : { name, uid: Number(uid), gid: Number(gid) }
}

/** Creates the account. The password "*" matches none; sshd takes useradd's default as locked. */
function makeAccount(): Account {
  const options = ['--system', '--no-create-home', '--home-dir', '/', '--shell', '/bin/sh']
  const { stderr } = spawnSync('/usr/sbin/useradd', [...options, '--password', '*', NAME], {
    encoding: 'utf8',
  })
  // Another test file may have created the account concurrently.
  const account = findAccount()
  if (account === undefined) throw new Error(`the account ${NAME} was not created: ${stderr}`)
  return account
}
