/** `gatehouse token …`: management of access tokens on the server. */

import { normaliseScopes } from '../../gateway/auth/scopes.js'
import { hashToken, newToken } from '../../gateway/auth/token.js'
import { createToken, deleteToken, findToken, listTokens } from '../../sql/accounts/tokens.js'
import { type Command, CommandError, requiredOption, withDatabase } from './command.js'
import { requireUser } from './user.js'

const PAGE_ENTRIES = 200

const create: Command = {
  words: ['token', 'create'],
  usage: 'USER --name NAME --scopes SCOPES',
  about: 'Creates an access token and prints it; it cannot be shown again.',
  positionals: ['USER'],
  options: {
    name: {
      type: 'string',
      value: 'NAME',
      about: "Distinguishes the token from the user's other tokens. Required.",
    },
    scopes: {
      type: 'string',
      value: 'SCOPES',
      about: 'Scopes of the token, such as write:repository,package. Required.',
    },
  },
  async run(call) {
    const name = requiredOption(call, 'name')
    const scopes = normaliseScopes(requiredOption(call, 'scopes').split(',').filter(Boolean))
    const plain = newToken()
    await withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      const hash = hashToken(plain)
      await createToken(db, { userId: user.id, name, hash, lastEight: plain.slice(-8), scopes })
    })
    console.log(plain)
  },
}

const list: Command = {
  words: ['token', 'list'],
  usage: 'USER',
  about: "Lists a user's tokens: name, last eight characters, scopes.",
  positionals: ['USER'],
  options: {},
  run: (call) =>
    withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      for (let page = 1; ; page += 1) {
        const { entries } = await listTokens(db, user.id, { page, limit: PAGE_ENTRIES })
        for (const { name, lastEight, scopes } of entries) {
          console.log([name, `…${lastEight}`, scopes.join(',')].join('\t'))
        }
        if (entries.length < PAGE_ENTRIES) return
      }
    }),
}

const revoke: Command = {
  words: ['token', 'revoke'],
  usage: 'USER --name NAME',
  about: 'Revokes a token; the next request that carries it is refused.',
  positionals: ['USER'],
  options: {
    name: { type: 'string', value: 'NAME', about: 'The name of the token. Required.' },
  },
  async run(call) {
    const name = requiredOption(call, 'name')
    await withDatabase(async (db) => {
      const user = await requireUser(db, call.positionals[0] ?? '')
      const token = await findToken(db, user.id, name)
      if (token === undefined) throw new CommandError(`${user.name} has no token ${name}`)
      await deleteToken(db, user.id, token.id)
      console.log(`revoked ${name}`)
    })
  },
}

export const TOKEN_COMMANDS: readonly Command[] = [create, list, revoke]
