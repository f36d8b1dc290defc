/** `gatehouse ssh …`: the connection between the system's sshd and the gateway. */

import { resolve } from 'node:path'
import { loadSettings } from '../../conf/load.js'
import { parseSshKey } from '../../conf/ssh-key.js'
import { authenticateKey } from '../../gateway/auth/authenticate-key.js'
import { allKeys } from '../../sql/accounts/keys.js'
import { writeBlock } from './authorized-keys.js'
import {
  type Command,
  type CommandCall,
  type CommandOption,
  requiredOption,
  withDatabase,
} from './command.js'
import { HELPER_FOLDER, HELPER_NAME, installHelper, keyLine, sshdLines } from './ssh-helper.js'

const install: Command = {
  words: ['ssh', 'install'],
  usage: '[--to FOLDER]',
  about: `Compiles the program that sshd runs, by default into ${HELPER_FOLDER}; as root.`,
  positionals: [],
  options: {
    to: {
      type: 'string',
      value: 'FOLDER',
      about: `Installs into this folder; the default is ${HELPER_FOLDER}.`,
    },
  },
  async run(call) {
    const settings = loadSettings()
    const folder = resolve(String(call.values['to'] ?? HELPER_FOLDER))
    const helper = await installHelper(folder)
    console.log(`installed ${helper}; add to sshd_config (see conf/sshd_config.example):`)
    console.log(`Match User ${settings.ssh.user}`)
    for (const line of sshdLines(helper, settings)) console.log(`    ${line}`)
  },
}

const HELPER_OPTION: CommandOption = {
  type: 'string',
  value: 'PROGRAM',
  about: `The installed program; the default is ${HELPER_FOLDER}/${HELPER_NAME}.`,
}

const keys: Command = {
  words: ['ssh', 'keys'],
  usage: 'TYPE KEY [--helper PROGRAM]',
  about: 'Prints the line of a known key, for AuthorizedKeysCommand; the helper is faster.',
  positionals: ['TYPE', 'KEY'],
  options: { helper: HELPER_OPTION },
  async run(call) {
    const key = parseSshKey(call.positionals.join(' '))
    const helper = helperOf(call)
    await withDatabase(async (db, { ssh }) => {
      if ((await authenticateKey(db, key.fingerprint)) === undefined) return
      console.log(keyLine(key, { helper, socket: ssh.socket }))
    })
  },
}

const authorizedKeys: Command = {
  words: ['ssh', 'authorized-keys'],
  usage: '--write FILE [--helper PROGRAM]',
  about: 'Writes all keys into a block of a file, for hosts whose sshd_config cannot be changed.',
  positionals: [],
  options: {
    write: {
      type: 'string',
      value: 'FILE',
      about: 'The authorized_keys file; its other lines are kept. Required.',
    },
    helper: HELPER_OPTION,
  },
  async run(call) {
    const file = resolve(requiredOption(call, 'write'))
    const helper = helperOf(call)
    await withDatabase(async (db, { ssh }) => {
      const lines: string[] = []
      for await (const key of allKeys(db)) lines.push(keyLine(key, { helper, socket: ssh.socket }))
      await writeBlock(file, lines)
      console.log(`wrote ${lines.length} keys to ${file}`)
    })
  },
}

function helperOf({ values }: CommandCall): string {
  return String(values['helper'] ?? `${HELPER_FOLDER}/${HELPER_NAME}`)
}

export const SSH_COMMANDS: readonly Command[] = [install, keys, authorizedKeys]
