/** Inputs of issues and pull requests that need write permission: labels, assignees, due dates. */

import { Failure } from '../../../conf/failures.js'
import { findUser } from '../../../sql/accounts/users.js'
import { accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import { mayWrite } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { readDay } from '../../objects/times.js'
import type { Context } from '../../request/context.js'

/** Inputs as sent; assignees are in `assignee`, in `assignees`, or in both. */
interface SentInputs {
  readonly assignee?: string
  readonly assignees?: readonly string[]
  readonly milestone?: number
  readonly labels?: readonly number[]
  readonly due_date?: string
}

export interface Inputs {
  readonly assigneeIds?: readonly number[]
  readonly milestoneId?: number | undefined
  readonly labelIds?: readonly number[]
  readonly dueAtMs?: number | undefined
}

/** Reads inputs of callers with write permission and drops those of others. Throws `invalid`. */
export async function inputsOf(
  context: Context,
  grant: Grants['repository'],
  body: SentInputs,
): Promise<Inputs> {
  if (!mayWrite(grant)) return {}
  return {
    assigneeIds: (await assigneesOf(context, grant, body)) ?? [],
    milestoneId: body.milestone || undefined,
    // Go clients send 0 and empty strings for fields without a value.
    labelIds: (body.labels ?? []).filter((id) => id !== 0),
    dueAtMs: body.due_date === undefined ? undefined : readDay(body.due_date),
  }
}

/**
 * Returns the ids of the assignees, or undefined if none were sent; an empty list removes all.
 * Throws `invalid` if one does not exist or cannot write to the issues, or to the pull requests.
 */
export async function assigneesOf(
  context: Context,
  { repository, unit }: Grants['repository'],
  { assignee, assignees }: Pick<SentInputs, 'assignee' | 'assignees'>,
): Promise<readonly number[] | undefined> {
  if (assignees === undefined && !assignee) return undefined
  const names = new Set([...(assignees ?? []), ...(assignee ? [assignee] : [])])
  const ids = new Set<number>()
  names.delete('')
  for (const name of names) {
    const user = await findUser(context.db, name)
    const modes = user && (await accessToRepository(context.db, user, repository))
    if (user === undefined || modes === undefined || !atLeast(modes[unit], 'write')) {
      throw new Failure('invalid', `Assignee does not exist: [name: ${name}]`)
    }
    ids.add(user.id)
  }
  return [...ids]
}
