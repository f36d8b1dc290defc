/** Pages of the runners of one scope: list, settings, deletion, and registration tokens. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Reply } from '../../../conf/http.js'
import { removeRunner, updateRunner } from '../../../sql/runners/runners.js'
import type { RunnerScope } from '../../../sql/runs/run-jobs.js'
import {
  issueRegistrationToken,
  listSeenRunners,
  namedRunner,
} from '../../actions/runners/manage-runners.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, type Page, pageNumber, readForm, redirectTo } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RunnerList } from './runner-list.js'

const LISTED = 50

/** Differences between the runners of repositories, organizations, users and the site. */
export interface RunnerPagesOptions<K extends AccessKind> extends Pick<Page<K>, 'path' | 'access'> {
  /** Returns the scope, its name, and the path of the page. Throws `not_found`. */
  locate(context: Context, grant: Grants[K]): RunnerPlace
  /** Renders the page around its content. */
  frame(context: Context, grant: Grants[K], content: Child): JSX.Element
}

export interface RunnerPlace {
  readonly scope: RunnerScope
  readonly name: string
  readonly path: string
}

/** Returns the pages of the runners of one scope. */
export function runnerPages<K extends AccessKind>({
  path: pattern,
  access,
  locate,
  frame,
}: RunnerPagesOptions<K>): readonly AnyRoute[] {
  type Asked = Pick<Call<K>, 'request' | 'grant'>
  const answer = async (
    context: Context,
    { request, grant }: Asked,
    token?: string,
  ): Promise<Reply> => {
    const { scope, name, path } = locate(context, grant)
    const address = context.settings.http.basePath + path
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listSeenRunners(context.db, scope, page)
    const content = (
      <>
        {token !== undefined && <NewToken context={context} token={token} />}
        <RunnerList address={address} scope={name} runners={entries} />
        <Pager address={address} page={page} total={total} />
        <h3>Add a runner</h3>
        <p class="quiet">A new registration token replaces the earlier one.</p>
        <form method="post" action={`${address}/token`}>
          <button type="submit">Make a registration token</button>
        </form>
      </>
    )
    const headers = [['Cache-Control', 'no-store']] as const
    return htmlReply(request, frame(context, grant, content), { headers })
  }
  const changed = (context: Context, { grant }: Asked) =>
    redirectTo(context, locate(context, grant).path)
  return [
    definePage<K>({
      method: 'GET',
      path: pattern,
      access,
      handle: (context, call) => answer(context, call),
    }),
    definePage<K>({
      method: 'POST',
      path: pattern,
      access,
      async handle(context, call) {
        const { scope } = locate(context, call.grant)
        const form = await readForm(call.request)
        const runner = await namedRunner(context.db, scope, fieldOf(form, 'id'))
        const [disabled, forks] = ['disabled', 'forks'].map((name) => fieldOf(form, name))
        await updateRunner(context.db, runner.id, {
          isDisabled: disabled === '' ? runner.isDisabled : disabled === 'yes',
          runsForks: forks === '' ? runner.runsForks : forks === 'yes',
        })
        return changed(context, call)
      },
    }),
    definePage<K>({
      method: 'POST',
      path: `${pattern}/delete`,
      access,
      async handle(context, call) {
        const { scope } = locate(context, call.grant)
        const form = await readForm(call.request)
        const runner = await namedRunner(context.db, scope, fieldOf(form, 'id'))
        await removeRunner(context.db, runner.uuid)
        return changed(context, call)
      },
    }),
    definePage<K>({
      method: 'POST',
      path: `${pattern}/token`,
      access,
      async handle(context, call) {
        const { scope } = locate(context, call.grant)
        return answer(context, call, await issueRegistrationToken(context.db, scope))
      },
    }),
  ]
}

function NewToken({
  context,
  token,
}: {
  readonly context: Context
  readonly token: string
}): JSX.Element {
  const { baseUrl } = context.settings.http
  return (
    <div class="notice" role="status">
      <p>Run this where the jobs are to run. The token in it is not shown again:</p>
      <pre>
        <code>
          {`gatehouse runner register --instance ${baseUrl} --token ${token} --labels linux`}
        </code>
      </pre>
    </div>
  )
}
