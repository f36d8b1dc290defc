/** Public keys of a user as text: SSH keys for authorized_keys, and OpenPGP keys in one armor. */

import { formatSshKey } from '../../../conf/ssh-key.js'
import { armorOpenpgpKeys } from '../../../registry/sign/openpgp-keys.js'
import { listGpgKeysOf } from '../../../sql/accounts/gpg-keys.js'
import { listUserKeys } from '../../../sql/accounts/keys.js'
import type { Database } from '../../../sql/database/database.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { definePage } from '../kit/page.js'

/** Maximum number of SSH keys in the answer. */
const KEYS_MAX = 1_000

export const PUBLIC_KEYS = definePage<'anyone'>({
  method: 'GET',
  path: '/{owner}.{kind:gpg|keys}',
  access: { kind: 'anyone' },
  async handle({ db }, { params, grant: { who } }) {
    const viewer = who.kind === 'user' ? who.user : undefined
    const { id } = await findVisibleUser(db, params['owner'] ?? '', viewer)
    const body = await (params['kind'] === 'gpg' ? gpgKeysOf(db, id) : sshKeysOf(db, id))
    return { status: 200, headers: [['Content-Type', 'text/plain;charset=utf-8']], body }
  },
})

/** Returns the keys without their comments, which often contain an e-mail address. */
async function sshKeysOf(db: Database, userId: number): Promise<string> {
  const { entries } = await listUserKeys(db, userId, { page: { page: 1, limit: KEYS_MAX } })
  if (entries.length === 0) return "# Note: This user hasn't uploaded any SSH keys.\n"
  return entries.map(({ key }) => `${formatSshKey({ ...key, comment: '' })}\n`).join('')
}

const NO_GPG_KEYS =
  '-----BEGIN PGP PUBLIC KEY BLOCK-----\n' +
  "Note: This user hasn't uploaded any GPG keys.\n\n\n=twTO\n" +
  '-----END PGP PUBLIC KEY BLOCK-----\n'

async function gpgKeysOf(db: Database, userId: number): Promise<string> {
  const keys = await listGpgKeysOf(db, [userId])
  return keys.length === 0 ? NO_GPG_KEYS : await armorOpenpgpKeys(keys.map((key) => key.content))
}
