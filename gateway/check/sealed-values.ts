/** Check S1: sealed values open with the site's secret.key, and password hashes can be read. */

import { findInstanceSecret, secretPath } from '../../conf/instance-secret.js'
import { listPasswordHashes, SEALED_TABLES } from '../../sql/admin/sealed-values.js'
import type { RowPage } from '../../sql/database/page.js'
import { isPasswordHash } from '../auth/password.js'
import { examineRows } from './examine-all.js'
import type { CheckContext, CheckScope, CheckStep, Finding } from './finding.js'

/** Yields values that do not open and hashes that no password can match. */
export async function* checkSealedValues(
  { db, settings }: CheckContext,
  { repositories, cursor }: CheckScope,
): AsyncGenerator<CheckStep> {
  if (repositories !== undefined) return
  const secret = await findInstanceSecret(settings.data.dir)
  for (const [at, { list }] of SEALED_TABLES.entries()) {
    const read = (page: RowPage) => list(db, page)
    yield* examineRows(
      { list: `sealed-${at}`, read, cursor },
      {
        async examine({ subject, sealed, context }) {
          if (sealed === '' || opens(() => secret?.unseal(sealed, context))) return []
          const file = secretPath(settings.data.dir)
          const problem = `${file} does not open the ${subject}`
          return [{ code: 'S1', subject, problem, remedy: RESTORE_SECRET }]
        },
      },
    )
  }
  const read = (page: RowPage) => listPasswordHashes(db, page)
  yield* examineRows(
    { list: 'passwords', read, cursor },
    {
      async examine({ name, hash }): Promise<readonly Finding[]> {
        if (hash === undefined || isPasswordHash(hash)) return []
        const problem = 'The password hash of the account is damaged'
        return [{ code: 'S1', subject: name, problem, remedy: SET_PASSWORD }]
      },
    },
  )
}

const RESTORE_SECRET = 'Restore secret.key from a backup, or enter the value again'
const SET_PASSWORD = "Set a new password with 'gatehouse user password'"

function opens(unseal: () => string | undefined): boolean {
  try {
    return unseal() !== undefined
  } catch {
    return false
  }
}
