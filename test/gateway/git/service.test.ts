/** Git requests that are run by git: limits, and effects of a push. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function waitFor(isDone: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await isDone()) return true
    await sleep(25)
  }
  return false
}

t.test('a push of one ref updates the repository and feeds without a hook of git', async (t) => {
  const environment = {
    GATEHOUSE_MAINTENANCE_ENABLED: 'true',
    GATEHOUSE_MAINTENANCE_DELAY: '1h',
  }
  const { as, ada, port, db, server, settings, addToken } = await startGatewayWithUsers(t, {
    environment,
  })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const { plain } = await addToken(ada, 'write:repository')
  const cwd = await temporaryFolder(t)
  await git(['init', '--initial-branch=main', 'w'], { cwd })
  const work = { cwd: join(cwd, 'w') }
  await git(['commit', '--allow-empty', '-m', 'x'], work)
  const remote = `http://ada:${plain}@127.0.0.1:${port}/ada/r.git`
  await git(['push', remote, 'main'], work)
  const noted = async () => {
    const repository = await findRepository(db, 'ada', 'r')
    return repository?.pushedAtMs !== undefined && repository.sizeKib > 0
  }
  t.ok(await waitFor(noted))
  const { id } = (await findRepository(db, 'ada', 'r')) ?? {}
  const job = { kind: 'maintain-repository', subject: String(id), lease: null }
  t.equal((await db('jobs').where(job)).length, 1)
  t.match((await as('ada', 'GET', '/repos/ada/r')).json, { empty: false })
  const activities = async () => await db('activities').select('kind', 'ref_name').orderBy('id')
  const [created, first] = [
    { kind: 'create_repo', ref_name: '' },
    { kind: 'commit_repo', ref_name: 'refs/heads/main' },
  ]
  t.strictSame(await activities(), [created, first])
  t.notOk(existsSync(join(settings.data.dir, 'changes')), 'no hook recorded the changes')
  await git(['commit', '--quiet', '--amend', '--allow-empty', '-m', 'y'], work)
  // The default branch cannot be deleted, which git itself refuses.
  t.not((await tryGit(['push', remote, ':main'], work)).exitCode, 0)
  await git(['push', '--force', remote, 'main'], work)
  t.ok(await waitFor(async () => (await activities()).length >= 3))
  t.strictSame(await activities(), [created, first, first])
  const isIdle = async () => (await listJournalEntries(settings.data.dir)).size === 0
  t.ok(await waitFor(isIdle), 'the journal is empty')
  const counted = 'gatehouse_git_services_total{service="git-receive-pack",outcome="ok"} 6'
  t.ok(await waitFor(async () => (await server.metrics.registry.metrics()).includes(counted)))
})

t.test('a pack over the size limit is refused and its queue slot is released', async (t) => {
  const environment = { GATEHOUSE_GIT_PUSH_MAX_BYTES: '1KiB', GATEHOUSE_GIT_PROCESSES_MAX: '1' }
  const { as, ada, port, addToken, server } = await startGatewayWithUsers(t, { environment })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const { plain } = await addToken(ada, 'write:repository')
  const cwd = await temporaryFolder(t)
  await git(['init', '--initial-branch=main'], { cwd })
  const noise = Array.from({ length: 2_000 }, () => Math.random().toString(36)).join('')
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: noise })
  const tree = await git(['mktree'], { cwd, input: `100644 blob ${blob}\tnoise\n` })
  const commit = await git(['commit-tree', tree, '-m', 'x'], { cwd })
  const remote = `http://ada:${plain}@127.0.0.1:${port}/ada/r.git`
  const { exitCode, errorText } = await tryGit(['push', remote, `${commit}:refs/heads/main`], {
    cwd,
  })
  t.not(exitCode, 0)
  t.match(errorText, /exceeds maximum allowed size|unpack/)
  const free = async () =>
    (await server.metrics.registry.metrics()).includes('gatehouse_git_queue{state="running"} 0')
  t.ok(await waitFor(free))
  t.equal(await git(['ls-remote', remote], { cwd }), '', 'no ref was created')
})
