/** Merging over the API: styles, refusals, and effects. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { refusal } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import { addPullRepository, type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'
import { sharedGateways } from '../../../helpers/shared-gateways.js'

const gateways = sharedGateways(t)

const MESSAGE = 'Title\n\nBody\nada ada@example.com'

const STYLES = {
  merge: ["Merge pull request 'Bring merge' (#1) from merge into main", 'Write merge'],
  squash: ['Bring squash (#2)'],
  rebase: ['Write rebase'],
  'rebase-merge': [
    "Merge pull request 'Bring rebase-merge' (#4) from rebase-merge into main",
    'Write rebase-merge',
  ],
}

await onOneDatabase(
  t,
  'each style merges a pull request and reports it as merged',
  async (t, location) => {
    const { of, write, open, bare } = await startGatewayWithPull(t, { location })
    for (const style of Object.keys(STYLES)) await write(style, style)
    for (const style of Object.keys(STYLES)) await open(style)
    for (const [at, [style, subjects]] of Object.entries(STYLES).entries()) {
      const path = `/pulls/${at + 1}`
      const before = await git(['rev-parse', 'main'], { cwd: bare })
      t.equal((await of('ada', 'GET', `${path}/merge`)).status, 404)
      const merged = await of('ada', 'POST', `${path}/merge`, { Do: style })
      t.match([merged.status, merged.text], [200, ''], style)
      const log = await git(['log', '--format=%s', `${before}..main`], { cwd: bare })
      t.strictSame(log.split('\n'), subjects, style)
      t.equal((await of('ada', 'GET', `${path}/merge`)).status, 204)
      t.match((await of('ada', 'GET', path)).json, {
        state: 'closed',
        merged: true,
        merged_by: { login: 'ada' },
        mergeable: false,
        merge_commit_sha: await git(['rev-parse', 'main'], { cwd: bare }),
        changed_files: 1,
      })
      t.equal((await of('ada', 'POST', `${path}/merge`, { Do: style })).status, 405, 'only once')
      t.match((await of('ada', 'GET', `/issues/${at + 1}`)).json, {
        pull_request: { merged: true, draft: false },
      })
    }
    await git(['fsck', '--strict'], { cwd: bare })
    const { status, json } = await of('ada', 'PATCH', '/pulls/1', { state: 'open' })
    t.match([status, json], [412, { message: /already merged/ }])
    t.match((await of('ada', 'PATCH', '/pulls/1', { base: 'squash' })).status, 409)
  },
)

await gateways.onSqlite('a merge is refused with its reason', async (t, shared) => {
  const { of, as, write, open, bare } = await addPullRepository(t, shared)
  const head = await write('topic', 'a')
  await open('topic')
  const merge = async (body: Fields, name: 'ada' | 'bob' | 'anyone' = 'ada') => {
    const { status, json } = await of(name, 'POST', '/pulls/1/merge', body)
    return [status, json]
  }
  t.strictSame(await merge({}, 'bob'), [405, refusal('User not allowed to merge PR')])
  t.match(await merge({}, 'anyone'), [401])
  t.match(await merge({ Do: 'x' }), [422])
  await of('ada', 'PATCH', '/pulls/1', { title: '[wip] Topic' })
  t.strictSame(await merge({}), [405, refusal('Work in progress PRs cannot be merged')])
  await of('ada', 'PATCH', '/pulls/1', { title: 'Topic' })
  const wrong = { head_commit_id: '0'.repeat(40) }
  t.strictSame(await merge(wrong), [409, refusal('head out of date')])
  const preferences = { allow_squash_merge: false, allow_merge_commits: false }
  await as('ada', 'PATCH', '/repos/ada/r', preferences)
  for (const Do of ['', 'merge', 'squash', 'manually-merged']) {
    t.match(await merge({ Do }), [405, { message: /^merge strategy is not allowed/ }], Do)
  }
  await as('ada', 'PATCH', '/repos/ada/r', { allow_squash_merge: true, allow_merge_commits: true })
  await write('main', 'a', 'other\n')
  for (const Do of ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only']) {
    t.match(await merge({ Do }), [409], Do)
  }
  t.match((await of('ada', 'GET', '/pulls/1')).json, { mergeable: false, merged: false })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  t.match(await merge({}), [423])
  await as('ada', 'PATCH', '/repos/ada/r', { archived: false })
  await of('ada', 'PATCH', '/pulls/1', { state: 'closed' })
  t.match(await merge({}), [404])
  t.equal((await of('ada', 'POST', '/pulls/2/merge', {})).status, 404)
  t.equal(await git(['rev-parse', 'topic'], { cwd: bare }), head)
})

await gateways.onSqlite(
  'a merge has the given message and may delete the branch',
  async (t, shared) => {
    const { of, as, write, open, bare, copy } = await addPullRepository(t, shared)
    const head = await write('topic', 'a')
    await write('topic2', 'b')
    await open('topic')
    await open('topic2', { base: 'topic' })
    const body = { Do: 'merge', MergeTitleField: ' Title ', MergeMessageField: 'Body\n' }
    const input = { ...body, head_commit_id: head, delete_branch_after_merge: true }
    t.equal((await of('ada', 'POST', '/pulls/1/merge', input)).status, 200)
    t.equal(await git(['log', '-1', '--format=%B%an %ae', 'main'], { cwd: bare }), MESSAGE)
    t.equal(
      await git(['rev-parse', 'topic'], { cwd: bare }),
      head,
      'the base of an open pull request is kept',
    )
    await as('ada', 'PATCH', '/repos/ada/r', { default_delete_branch_after_merge: true })
    t.equal((await of('ada', 'POST', '/pulls/2/merge', { Do: 'fast-forward-only' })).status, 409)
    t.equal((await of('ada', 'POST', '/pulls/2/merge', { Do: 'rebase' })).status, 200)
    const branches = await git(['for-each-ref', '--format=%(refname)', 'refs/heads'], { cwd: bare })
    t.strictSame(branches.split('\n'), ['refs/heads/main', 'refs/heads/topic'])
    t.match(await copy.git('ls-remote', bare, 'refs/pull/2/head'), /refs\/pull\/2\/head/)
  },
)

await gateways.onSqlite('a manual merge is recorded', async (t, shared) => {
  const { of, as, write, open } = await addPullRepository(t, shared)
  await write('topic', 'a')
  await open('topic')
  await as('ada', 'PATCH', '/repos/ada/r', { allow_manual_merge: true })
  const tip = await write('main', 'a')
  const note = (MergeCommitID: string) =>
    of('ada', 'POST', '/pulls/1/merge', { Do: 'manually-merged', MergeCommitID })
  for (const id of ['', 'main', '-h', '0'.repeat(40)]) t.equal((await note(id)).status, 409, id)
  t.equal((await note(tip)).status, 200)
  t.match((await of('ada', 'GET', '/pulls/1')).json, { merged: true, merge_commit_sha: tip })
})

await onOneDatabase(t, 'an interrupted merge is detected as done', async (t, location) => {
  const { of, write, open, db } = await startGatewayWithPull(t, { location })
  await write('topic', 'a')
  await open('topic')
  const tip = await write('main', 'a')
  await db('pulls').update({ merge_commit: tip, merged_by: 1 })
  t.match((await of('ada', 'GET', '/pulls/1')).json, {
    merged: true,
    state: 'closed',
    merge_commit_sha: tip,
    merged_by: { login: 'ada' },
  })
  t.equal((await of('ada', 'GET', '/pulls/1/merge')).status, 204)
})

await gateways.onSqlite('the head is updated with the base', async (t, shared) => {
  const { of, write, open, bare } = await addPullRepository(t, shared)
  for (const name of ['merged', 'rebased', 'apart']) await write(name, name)
  for (const name of ['merged', 'rebased', 'apart']) await open(name)
  const update = (number: number, style: string, name: 'ada' | 'bob' = 'ada') =>
    of(name, 'POST', `/pulls/${number}/update${style}`)
  t.equal((await update(1, '')).status, 200, 'the head is up to date')
  await write('main', 'apart', 'other\n')
  t.equal((await update(1, '', 'bob')).status, 403)
  t.equal((await update(1, '?style=x')).status, 422)
  t.equal((await update(1, '')).status, 200)
  t.equal((await update(2, '?style=rebase')).status, 200)
  t.equal((await update(3, '?style=merge')).status, 409)
  const log = (branch: string) => git(['log', '--format=%s', `main..${branch}`], { cwd: bare })
  t.equal(await log('merged'), "Merge branch 'main' into merged\nWrite merged")
  t.equal(await log('rebased'), 'Write rebased')
  const sha = await git(['rev-parse', 'rebased'], { cwd: bare })
  t.match((await of('ada', 'GET', '/pulls/2')).json, { head: { sha }, mergeable: true })
  await git(['fsck', '--strict'], { cwd: bare })
  await of('ada', 'PATCH', '/pulls/1', { state: 'closed' })
  t.equal((await update(1, '')).status, 422)
})
