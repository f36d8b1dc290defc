/** Import of issues, pull requests and releases from another Gatehouse, compared by field. */

import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request as send } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { startWaitingProxy } from '../helpers/gitea-front.js'
import { faultsOnDisk } from '../helpers/repositories.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

type Fields = Readonly<Record<string, unknown>>

interface Scene {
  readonly there: Gatehouse
  readonly here: Gatehouse
  /** User of the source server, who owns `club/work`. */
  readonly ada: Person
  /** User of the importing server. */
  readonly bob: Person
}

/** Number of issues: more than one page of a list. */
const ISSUES = 55
const ALL = {
  service: 'gitea',
  labels: true,
  milestones: true,
  issues: true,
  pull_requests: true,
  releases: true,
}

t.test('a repository is imported from another Gatehouse with its contents', async (t) => {
  // Like Gitea, the source accepts passwords over Git.
  const there = await startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_GIT_ALLOW_PASSWORD: 'true' },
  })
  const here = await startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1' },
  })
  const [ada, bob] = [await there.addUser('ada'), await here.addUser('bob')]
  // A user of the same name on the importing server is not the same person.
  await here.addUser('ada')
  const scene = { there, here, ada, bob }
  await furnish(t, ada)
  await taken(t, scene)
  await inPart(t, scene)
  await killed(t, scene)
  await abandoned(t, scene)
  t.strictSame(await faultsOnDisk(here), [])
})

async function must(person: Person, method: string, path: string, body?: unknown) {
  const answer = await person.api(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body as Fields & { readonly id: number; readonly number: number }
}

/** Creates `club/work` with every kind of content. */
async function furnish(t: Test, ada: Person): Promise<void> {
  await must(ada, 'POST', '/orgs', { username: 'club' })
  await must(ada, 'POST', '/orgs/club/repos', { name: 'work', private: true })
  const at = '/repos/club/work'
  const copy = await newWorkingCopy(t)
  const address = ada.remote('club/work.git')
  await copy.commit('root')
  await copy.git('tag', 'v1')
  await copy.git('push', '--quiet', address, 'main', 'v1')
  const label = (body: Fields) => must(ada, 'POST', `${at}/labels`, body)
  const labels = [
    await label({ name: 'kind/bug', color: '#ee0701', exclusive: true, description: 'Wrong' }),
    await label({ name: 'späť ♥', color: '00aabb' }),
    await must(ada, 'POST', '/orgs/club/labels', { name: 'ours', color: '#123456' }),
  ].map(({ id }) => id)
  const due_on = '2031-05-06T00:00:00Z'
  const milestone = await must(ada, 'POST', `${at}/milestones`, { title: 'First', due_on })
  await must(ada, 'POST', `${at}/milestones`, { title: 'Zero', state: 'closed', description: 'd' })
  const opening = Array.from({ length: ISSUES }, (_, issue) =>
    must(ada, 'POST', `${at}/issues`, { title: `Issue ${issue}`, body: `Text ${issue}` }),
  )
  await Promise.all(opening)
  const odd = { title: 'Wéird <b>', body: 'a\u2028b\u2029c\r\nd \ud83d\ude00 @ada #1' }
  await must(ada, 'PATCH', `${at}/issues/1`, { ...odd, milestone: milestone.id, due_date: due_on })
  await must(ada, 'PUT', `${at}/issues/1/labels`, { labels })
  await must(ada, 'PATCH', `${at}/issues/2`, { state: 'closed', ref: 'v1' })
  await must(ada, 'PUT', `${at}/issues/3/lock`, { lock_reason: 'Off-topic' })
  await must(ada, 'DELETE', `${at}/issues/4`)
  for (const body of ['one', 'two\u2028']) {
    await must(ada, 'POST', `${at}/issues/1/comments`, { body })
  }
  await openPulls(ada, at, copy)
  await publish(ada, at)
}

async function openPulls(
  ada: Person,
  at: string,
  copy: Awaited<ReturnType<typeof newWorkingCopy>>,
): Promise<void> {
  const address = ada.remote('club/work.git')
  for (const branch of ['open', 'merged', 'closed', 'gone']) {
    await copy.git('checkout', '--quiet', '-B', branch, 'main')
    await copy.commit(branch)
    await copy.git('push', '--quiet', address, branch)
    const input = { title: `The ${branch} one`, body: branch, head: branch, base: 'main' }
    const { number } = await must(ada, 'POST', `${at}/pulls`, input)
    await must(ada, 'POST', `${at}/issues/${number}/comments`, { body: `On ${branch}` })
    if (branch === 'merged') await must(ada, 'POST', `${at}/pulls/${number}/merge`, { Do: 'merge' })
    if (branch === 'closed') await must(ada, 'PATCH', `${at}/pulls/${number}`, { state: 'closed' })
    if (branch === 'gone') await copy.git('push', '--quiet', address, ':gone')
  }
}

async function publish(ada: Person, at: string): Promise<void> {
  const release = await must(ada, 'POST', `${at}/releases`, {
    tag_name: 'v1',
    name: 'One',
    body: 'Notes',
    target_commitish: 'main',
  })
  for (const [name, bytes] of [
    ['a b.bin', Buffer.alloc(300_000, 7)],
    ['empty', Buffer.of()],
  ] as const) {
    const query = new URLSearchParams({ name })
    const { origin } = new URL(ada.remote(''))
    const answer = await fetch(`${origin}/api/v1${at}/releases/${release.id}/assets?${query}`, {
      method: 'POST',
      headers: { authorization: `token ${ada.token}` },
      body: bytes,
    })
    if (answer.status !== 201) throw new Error(await answer.text())
  }
  await must(ada, 'POST', `${at}/releases`, { tag_name: 'v2', name: 'Two', prerelease: true })
  await must(ada, 'POST', `${at}/releases`, { tag_name: 'v3', name: 'Three', draft: true })
}

const LISTS = [
  'labels',
  'milestones?state=all',
  'issues?state=all&type=issues',
  'pulls?state=all',
  'issues/comments',
  'releases',
]

/** Fields that differ between the servers: ids, URLs and users. */
const OWN = new Set([
  'id',
  'url',
  'html_url',
  'issue_url',
  'pull_request_url',
  'diff_url',
  'patch_url',
  'uuid',
  'tarball_url',
  'zipball_url',
  'upload_url',
  'browser_download_url',
  'repo',
  'repo_id',
  'user',
  'author',
  'repository',
  'original_author',
  'original_author_id',
  'merged_by',
])

function common(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(common)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !OWN.has(key))
  return Object.fromEntries(kept.map(([key, field]) => [key, common(field)]))
}

async function wholeList(person: Person, at: string, list: string): Promise<readonly Fields[]> {
  const entries: Fields[] = []
  for (let page = 1; ; page += 1) {
    const sign = list.includes('?') ? '&' : '?'
    const path = `${at}/${list}${sign}page=${page}&limit=50`
    const { status, body } = await person.api('GET', path)
    if (status !== 200) throw new Error(`${path}: ${status}`)
    if ((body as readonly Fields[]).length === 0) return entries
    entries.push(...(body as readonly Fields[]))
  }
}

async function taken(t: Test, { there, ada, bob }: Scene): Promise<void> {
  await t.test(
    'imported labels, milestones, issues, comments, pulls and releases equal the originals',
    async (t) => {
      const lists = LISTS.map((list) => wholeList(ada, '/repos/club/work', list))
      const before = await Promise.all(lists)
      const made = await bob.api('POST', '/repos/migrate', {
        ...ALL,
        clone_addr: `${there.url}/club/work.git`,
        repo_name: 'work',
        auth_token: ada.token,
      })
      t.equal(made.status, 201, JSON.stringify(made.body))
      t.match(made.body, { open_issues_count: ISSUES - 2, open_pr_counter: 2, release_counter: 2 })
      for (const [at, list] of LISTS.entries()) {
        const theirs = before[at] ?? []
        const ours = await wholeList(bob, '/repos/bob/work', list)
        // The organization's label has become a label of the repository.
        const seen = list === 'labels' ? ours.filter(({ name }) => name !== 'ours') : ours
        t.ok(theirs.length > 1, `${list}: ${theirs.length}`)
        t.strictSame(common(seen), common(theirs), list)
        t.strictSame(
          new Set(
            ours
              .map(({ user, author }) => (user ?? author) as Fields | undefined)
              .map((person) => person?.['login']),
          ),
          new Set(
            list.startsWith('labels') || list.startsWith('milestones') ? [undefined] : ['bob'],
          ),
        )
      }
      const { id } = await must(ada, 'GET', '/user')
      for (const path of ['issues/1', 'issues/2', 'issues/1/comments']) {
        const found = await bob.api('GET', `/repos/bob/work/${path}`)
        const [first] = [found.body].flat() as readonly Fields[]
        t.match(first, { original_author: 'ada', original_author_id: id }, path)
      }
      await sameFiles(t, ada, bob)
      const references = (address: string) => git(['ls-remote', address], { cwd: '/' })
      t.equal(
        await references(bob.remote('bob/work.git')),
        await references(ada.remote('club/work.git')),
        'the refs are equal, including the heads of pull requests',
      )
      const next = await must(bob, 'POST', '/repos/bob/work/issues', { title: 'Next' })
      t.equal(next.number, ISSUES + 5, 'the numbers continue')
    },
  )
}

async function sameFiles(t: Test, ada: Person, bob: Person): Promise<void> {
  const filesOf = async (person: Person, at: string) => {
    const release = await must(person, 'GET', `${at}/releases/tags/v1`)
    const assets = release['assets'] as ReadonlyArray<{ browser_download_url: string }>
    return await Promise.all(
      assets.map(async ({ browser_download_url: address }) => {
        const headers = { authorization: `token ${person.token}` }
        return Buffer.from(await (await fetch(address, { headers })).arrayBuffer())
      }),
    )
  }
  const ours = await filesOf(bob, '/repos/bob/work')
  t.equal(ours.length, 2)
  t.strictSame(ours, await filesOf(ada, '/repos/club/work'))
}

async function inPart(t: Test, { there, ada, bob }: Scene): Promise<void> {
  await t.test('contents that are not requested are not imported', async (t) => {
    const made = await bob.api('POST', '/repos/migrate', {
      clone_addr: `${there.url}/club/work`,
      repo_name: 'part',
      service: 'gitea',
      auth_username: 'ada',
      auth_password: ada.password,
      issues: true,
    })
    t.equal(made.status, 201, JSON.stringify(made.body))
    const counts = await Promise.all(
      LISTS.map(async (list) => (await wholeList(bob, '/repos/bob/part', list)).length),
    )
    t.strictSame(counts, [0, 0, ISSUES - 1, 0, 2, 0])
    t.match((await bob.api('GET', '/repos/bob/part/issues/1')).body, {
      labels: [],
      milestone: null,
    })
    const listed = await git(['ls-remote', bob.remote('bob/part.git')], { cwd: '/' })
    t.notMatch(listed, /refs\/pull\//)
  })
}

/** Lists files of incoming blobs that stay; a starting server writes one for a moment. */
function incomingOf({ dataDir }: Gatehouse): Promise<readonly string[]> {
  const list = () => readdir(join(dataDir, 'blobs', 'incoming'))
  return until<readonly string[]>(list, (names) => names.length === 0, 10_000)
}

async function killed(t: Test, { there, here, ada, bob }: Scene): Promise<void> {
  await t.test('an import that is killed leaves nothing and can be repeated', async (t) => {
    const front = await startWaitingProxy(t, there.url, '/releases')
    const input = { ...ALL, repo_name: 'killed', auth_token: ada.token }
    const body = { ...input, clone_addr: `${front.url}/club/work.git` }
    const migrating = bob.api('POST', '/repos/migrate', body).catch(() => undefined)
    t.equal(await Promise.race([front.isReached, migrating]), undefined, 'the import is waiting')
    t.equal(
      (await bob.api('GET', '/repos/bob/killed')).status,
      404,
      'the repository is hidden until the import is complete',
    )
    t.match(await bob.api('POST', '/repos/migrate', body), { status: 409 })
    for (const pid of [here.pid, ...(await workersOf(here.pid))]) process.kill(pid, 'SIGKILL')
    await here.stop('SIGKILL')
    t.equal(await migrating, undefined)
    await here.start()
    t.equal((await bob.api('GET', '/repos/bob/killed')).status, 404)
    t.strictSame(await incomingOf(here), [])
    const again = { ...input, clone_addr: `${there.url}/club/work.git` }
    t.equal((await bob.api('POST', '/repos/migrate', again)).status, 201)
    const issues = await wholeList(bob, '/repos/bob/killed', 'issues?state=all')
    t.equal(issues.length, ISSUES - 1 + 4)
  })
}

async function abandoned(t: Test, { there, here, ada, bob }: Scene): Promise<void> {
  await t.test('an import is cancelled if its client disconnects', async (t) => {
    const front = await startWaitingProxy(t, there.url, '/pulls')
    const sent = send({
      host: '127.0.0.1',
      port: here.port,
      method: 'POST',
      path: '/api/v1/repos/migrate',
      headers: { authorization: `token ${bob.token}`, 'content-type': 'application/json' },
    })
    sent.on('error', () => {})
    const clone_addr = `${front.url}/club/work.git`
    sent.end(JSON.stringify({ ...ALL, clone_addr, repo_name: 'left', auth_token: ada.token }))
    await front.isReached
    const isLeft = once(front.held, 'close')
    sent.destroy()
    await isLeft
    t.equal((await bob.api('GET', '/repos/bob/left')).status, 404)
    t.strictSame(await incomingOf(here), [])
  })
}
