/** Targets of the forms that change dependencies, the pin, times and the stopwatch of an issue. */

import { Failure, notFound } from '../../../conf/failures.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { pinIssue, unpinIssue } from '../../../sql/issues/pins.js'
import { cancelStopwatch, startStopwatch, stopStopwatch } from '../../../sql/issues/stopwatches.js'
import { addTrackedTime } from '../../../sql/issues/tracked-times.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import {
  changeDependency,
  type DependencyChange,
  type IssueName,
} from '../../actions/issues/change-dependency.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { removeTime, SECONDS_MAX, timeTrackerOf } from '../../actions/issues/track-time.js'
import type { Access, Grants } from '../../auth/authorize.js'
import { readId } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute } from '../../request/route.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { showPull } from '../pulls/pull-page.js'
import { showIssue } from './issue-page.js'

type Grant = Grants['repository']

interface Sent {
  readonly issue: Issue
  readonly form: URLSearchParams
}

/** Defines a form target of issues and pull requests; their page shows the error, if any. */
function toolPage(
  path: string,
  access: Partial<Extract<Access, { kind: 'repository' }>>,
  work: (context: Context, grant: Grant, sent: Sent) => Promise<unknown>,
): AnyRoute {
  return definePage<'repository'>({
    method: 'POST',
    path: `/{owner}/{repo}/issues/{index}/${path}`,
    access: {
      kind: 'repository',
      mode: 'read',
      unit: 'conversation',
      isSignedIn: true,
      refusesBlocked: true,
      ...access,
    },
    async handle(context, call) {
      const { request, grant, params } = call
      const issue = await issueOf(context, grant, params)
      const form = await readForm(request)
      const { owner, name } = grant.repository
      const change = async () => {
        await work(context, grant, { issue, form })
        const kind = issue.isPull ? 'pulls' : 'issues'
        return redirectTo(context, `/${owner.name}/${name}/${kind}/${issue.number}`)
      }
      return withFormErrors(change, ({ message: error, status }) =>
        issue.isPull
          ? showPull(context, call, { error, status })
          : showIssue(context, call, { issue, error, status }),
      )
    },
  })
}

/** Returns a handler that adds or removes the dependency of a form. */
function dependencyChange(action: DependencyChange['action']) {
  return async (context: Context, grant: Grant, { issue, form }: Sent) => {
    const side = fieldOf(form, 'side') === 'blocks' ? 'blocks' : 'dependencies'
    const text = fieldOf(form, 'issue')
    const named = parseIssueName(text)
    try {
      await changeDependency(context, grant, { action, side, issue, named })
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 404) throw error
      throw new Failure('not_found', `There is no ${text} that you can link with this issue.`)
    }
  }
}

/** Parses `#3`, `3` or `owner/repository#3`. Throws `invalid`. */
function parseIssueName(text: string): IssueName {
  const found = /^(?:([\w.-]+)\/([\w.-]+)#|#)?(\d{1,15})$/.exec(text)
  const [, owner, repo, index] = found ?? []
  if (index === undefined) {
    throw new Failure('invalid', `"${text}" is no issue. Write #3 or owner/repository#3.`)
  }
  const here = { index: Number(index) }
  return owner === undefined || repo === undefined ? here : { index: here.index, owner, repo }
}

async function addTime(context: Context, grant: Grant, { issue, form }: Sent): Promise<void> {
  const { id: userId } = await timeTrackerOf(context, grant, issue)
  const seconds = 3_600 * countOf(form, 'hours') + 60 * countOf(form, 'minutes')
  if (seconds < 1 || seconds > SECONDS_MAX) {
    throw new Failure('invalid', 'Write the hours or the minutes that you spent.')
  }
  const time = { issueId: issue.id, userId, seconds, createdAtMs: Date.now() }
  await addTrackedTime(context.db, time, { kind: 'add_time_manual', actorId: userId })
}

/** Reads a count; 0 if the field is empty. Throws `invalid` if it has other characters. */
function countOf(form: URLSearchParams, name: 'hours' | 'minutes'): number {
  const text = fieldOf(form, name) || '0'
  if (!/^\d{1,6}$/.test(text)) {
    throw new Failure('invalid', `The ${name} "${text}" are not a number of at most 6 digits.`)
  }
  return Number(text)
}

async function deleteTime(context: Context, grant: Grant, { issue, form }: Sent): Promise<void> {
  const id = readId(fieldOf(form, 'id'))
  if (id === undefined) throw notFound()
  await removeTime(context, grant, { issue, id })
}

const placeOf = (grant: Grant, issue: Issue) => ({
  userId: actingUserOf(grant).id,
  issueId: issue.id,
})

const AS_READER = {}
const AS_WRITER = { mode: 'write' } as const
const AS_ADMIN = { mode: 'admin' } as const

export const ISSUE_TOOL_PAGES: readonly AnyRoute[] = [
  toolPage('dependencies', AS_READER, dependencyChange('add')),
  toolPage('dependencies/remove', AS_READER, dependencyChange('remove')),
  toolPage('pin', AS_ADMIN, ({ db }, grant, { issue }) =>
    pinIssue(db, issue, actingUserOf(grant).id),
  ),
  toolPage('pin/remove', AS_ADMIN, ({ db }, grant, { issue }) =>
    unpinIssue(db, issue, actingUserOf(grant).id),
  ),
  toolPage('times', AS_READER, addTime),
  toolPage('times/delete', AS_READER, deleteTime),
  toolPage('stopwatch', AS_WRITER, ({ db }, grant, { issue }) =>
    startStopwatch(db, placeOf(grant, issue)),
  ),
  toolPage('stopwatch/stop', AS_WRITER, ({ db }, grant, { issue }) =>
    stopStopwatch(db, placeOf(grant, issue)),
  ),
  toolPage('stopwatch/delete', AS_WRITER, ({ db }, grant, { issue }) =>
    cancelStopwatch(db, placeOf(grant, issue)),
  ),
]
