/** Form targets of the page Security that add and remove security keys. */

import { deleteSecurityKey } from '../../../sql/accounts/security-keys.js'
import { readId } from '../../auth/refusals.js'
import { addKey, creationOptions, refuseKeyName } from '../../auth/security-keys.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { answer, defineReauthenticatedForm, SECURITY_PATH } from './security.js'

const begin = defineReauthenticatedForm('keys', async (context, { request, user, form }) => {
  const name = fieldOf(form, 'name')
  await refuseKeyName(context.db, user, name)
  const keyToAdd = { name, options: await creationOptions(context, user) }
  return await answer(context, request, { user, keyToAdd })
})

/** Form target without a password: only a user who passed `begin` has the challenge. */
const confirm = definePage<'signed-in'>({
  method: 'POST',
  path: `${SECURITY_PATH}/keys/confirm`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const name = fieldOf(form, 'name')
    const add = async () => {
      await addKey(context, { user, name, answer: fieldOf(form, 'answer') })
      return redirectTo(context, SECURITY_PATH)
    }
    return withFormErrors(add, ({ message, status }) =>
      answer(context, request, { user, error: message, status }),
    )
  },
})

const remove = defineReauthenticatedForm('keys/delete', async (context, { user, form }) => {
  const id = readId(fieldOf(form, 'id'))
  if (id !== undefined) await deleteSecurityKey(context.db, user.id, id)
  return redirectTo(context, SECURITY_PATH)
})

export const SECURITY_KEY_PAGES = [begin, confirm, remove]
