/** `gatehouse user …`: management of accounts on the server. */

import { parseEmail, parseOwnerName } from '../../conf/names.js'
import { hashPassword } from '../../gateway/auth/password.js'
import { removeSecondFactor } from '../../sql/accounts/second-factors.js'
import {
  createUser,
  deleteUser,
  findUser,
  listUsers,
  setPassword,
  type User,
} from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { type Command, CommandError, withDatabase } from './command.js'
import { PASSWORD_OPTIONS, PASSWORD_USAGE, passwordReader } from './password.js'

const PAGE_ENTRIES = 200

/** Returns the user with this name. Throws CommandError if there is none. */
export async function requireUser(db: Database, name: string): Promise<User> {
  const user = await findUser(db, name)
  if (user === undefined) throw new CommandError(`there is no user ${name}`)
  return user
}

const create: Command = {
  words: ['user', 'create'],
  usage: `NAME ${PASSWORD_USAGE} [--email ADDRESS] [--admin]`,
  about: 'Creates an account; without a password option, it asks for one on the terminal.',
  positionals: ['NAME'],
  options: {
    ...PASSWORD_OPTIONS,
    email: {
      type: 'string',
      value: 'ADDRESS',
      about: 'The e-mail address; the default is NAME@noreply.HOST.',
    },
    admin: { type: 'boolean', about: 'Makes the user an administrator of the site.' },
  },
  async run(call) {
    const name = parseOwnerName(call.positionals[0] ?? '')
    const readPassword = passwordReader(call)
    await withDatabase(async (db, settings) => {
      const passwordHash = await hashPassword(await readPassword())
      const host = new URL(settings.http.baseUrl).hostname
      const email = call.values['email'] ?? `${name.toLowerCase()}@noreply.${host}`
      const user = await createUser(db, {
        name,
        email: parseEmail(String(email)),
        passwordHash,
        isAdmin: call.values['admin'] === true,
      })
      console.log(`created ${user.name}`)
    })
  },
}

const list: Command = {
  words: ['user', 'list'],
  usage: '',
  about: 'Lists the accounts: name, e-mail address, role.',
  positionals: [],
  options: {},
  run: () =>
    withDatabase(async (db) => {
      for (let page = 1; ; page += 1) {
        const { entries } = await listUsers(db, { page, limit: PAGE_ENTRIES })
        for (const { name, email, isAdmin } of entries) {
          console.log([name, email, isAdmin ? 'admin' : 'user'].join('\t'))
        }
        if (entries.length < PAGE_ENTRIES) return
      }
    }),
}

const remove: Command = {
  words: ['user', 'delete'],
  usage: 'NAME',
  about: 'Deletes an account with its tokens; fails if it owns repositories.',
  positionals: ['NAME'],
  options: {},
  run: (call) =>
    withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      await deleteUser(db, user.id)
      console.log(`deleted ${user.name}`)
    }),
}

const password: Command = {
  words: ['user', 'password'],
  usage: `NAME ${PASSWORD_USAGE}`,
  about: "Sets an account's password; without a password option, it asks for one on the terminal.",
  positionals: ['NAME'],
  options: PASSWORD_OPTIONS,
  async run(call) {
    const readPassword = passwordReader(call)
    await withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      const passwordHash = await hashPassword(await readPassword())
      await setPassword(db, user.id, passwordHash)
      console.log(`set the password of ${user.name}`)
    })
  },
}

const removeFactor: Command = {
  words: ['user', 'remove-factor'],
  usage: 'NAME',
  about: 'Removes a lost second factor: the password alone signs in again.',
  positionals: ['NAME'],
  options: {},
  run: (call) =>
    withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      if (!(await removeSecondFactor(db, user.id))) {
        throw new CommandError(`${user.name} has no second factor`)
      }
      console.log(`removed the second factor of ${user.name}`)
    }),
}

export const USER_COMMANDS: readonly Command[] = [create, list, remove, password, removeFactor]
