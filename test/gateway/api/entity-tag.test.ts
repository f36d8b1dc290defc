/** JSON replies have entity tags, which clients can use in conditions of reads and writes. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { startGatewayWithRepository } from '../../helpers/gateway-with-repository.js'
import { pathOf } from '../../helpers/operation-paths.js'
import { aJob, aRun, jobAt } from '../../helpers/run-rows.js'

const gateway = await startGatewayWithRepository(t)
const { ask, as, push, copy, commits, authorizationOf, db } = gateway

t.test('a read is answered 304 until its reply changes', async (t) => {
  const path = '/api/v1/repos/ada/r/branches'
  const first = await ask({ path })
  const tag = String(first.headers.etag)
  t.match(tag, /^W\/"[\w-]{27}"$/)
  const withTag = (value: string) => ask({ path, headers: { 'If-None-Match': value } })
  for (const value of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const { status, text, headers } = await withTag(value)
    t.strictSame([status, text, headers.etag], [304, '', tag], value)
    t.match(headers['cache-control'], /must-revalidate/)
  }
  t.equal((await withTag('"other"')).status, 200)
  await copy.commit('new')
  await push('main')
  const { status, headers } = await withTag(tag)
  t.equal(status, 200)
  t.not(headers.etag, tag)
})

t.test('a client without permission gets its error, whatever tag it sends', async (t) => {
  await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
  const path = '/api/v1/repos/ada/secret'
  const { headers } = await as('ada', 'GET', '/repos/ada/secret')
  const tag = String(headers.etag)
  for (const value of [tag, '*']) {
    t.equal((await ask({ path, headers: { 'If-None-Match': value } })).status, 404)
  }
  const missing = await ask({ path: '/api/v1/repos/ada/r/branches/absent' })
  t.strictSame([missing.status, missing.headers.etag], [404, undefined])
})

t.test('a write with If-Match needs the present raw file', async (t) => {
  const path = '/api/v1/repos/ada/r/contents/README.md'
  const write = (text: string, tag: string, sha?: string) =>
    ask({
      method: 'PUT',
      path,
      authorization: authorizationOf('ada'),
      headers: { 'If-Match': tag },
      body: { content: Buffer.from(text).toString('base64'), ...(sha && { sha }) },
    })
  const raw = () => as('anyone', 'GET', '/repos/ada/r/raw/README.md')
  const { headers } = await raw()
  const tag = String(headers.etag)
  t.equal((await write('one', tag)).status, 200)
  const refused = await write('two', tag)
  t.equal(refused.status, 412, refused.text)
  t.match(refused.json, { message: /which If-Match requires/ })
  for (const weak of [`W/${tag}`, '*', `${tag}, ${tag}`, 'README.md']) {
    t.equal((await write('two', weak)).status, 412, weak)
  }
  t.equal((await raw()).text, 'one')
  const present = String((await raw()).headers.etag).replaceAll('"', '')
  t.equal((await write('three', tag, present)).status, 200, "Gitea's sha comes first")
  const absent = await ask({
    method: 'PUT',
    path: `${path}.absent`,
    authorization: authorizationOf('ada'),
    headers: { 'If-Match': tag },
    body: { content: '' },
  })
  t.equal(absent.status, 412, 'a missing file')
})

t.test('a reply that is kept depends on nothing else than it declares', async (t) => {
  const made = async (path: string, body: unknown) => {
    const { json, status } = await as('ada', 'POST', `/repos/ada/r${path}`, body)
    t.equal(status, 201, path)
    return String((json as { id: number }).id)
  }
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  await made('/issues', { title: 'one' })
  await made('/issues/1/comments', { body: 'a comment' })
  const milestone = await made('/milestones', { title: 'first' })
  const release = await made('/releases', { tag_name: 'v1' })
  await made(`/statuses/${commits[2]}`, { state: 'success' })
  const { json } = await as('ada', 'GET', '/repos/ada/r')
  const run = await aRun(db, (json as { id: number }).id, { jobs: [aJob('build')] })
  const job = await jobAt(db, run, 0)
  const values = {
    repo: 'r',
    index: '1',
    run: String(run.id),
    job_id: String(job.id),
    ref: 'v1',
    tag: 'v1',
  }
  const kept = OPERATIONS.flatMap((operation) => {
    const { dependsOn, id, path } = operation
    if (dependsOn === undefined) return []
    const one = path.includes('/releases/') ? release : milestone
    // The list of refs takes the beginning of a name.
    const known = { ...values, id: one, ...(id === 'repoListGitRefs' && { ref: 'heads' }) }
    return { dependsOn, id, url: pathOf(operation, known) }
  })
  t.ok(kept.length > 30, `${kept.length} operations`)
  let reads = 0
  // Each cookie is that of another request, so that the reply is made anew.
  const tagOf = async (url: string) => {
    reads += 1
    const { status, headers, text } = await ask({
      path: `/api/v1${url}`,
      authorization: authorizationOf('ada'),
      headers: { Cookie: `read=${reads}` },
    })
    t.equal(status, 200, `${url}: ${text}`)
    return String(headers.etag)
  }
  const answers = async (url: string, tag: string) =>
    await ask({
      path: `/api/v1${url}`,
      authorization: authorizationOf('ada'),
      headers: { 'If-None-Match': tag },
    })
  const tags = new Map<string, string>()
  await sleep(100)
  for (const { url } of kept) {
    const tag = await tagOf(url)
    tags.set(url, tag)
    for (const _ of [1, 2]) t.equal((await answers(url, tag)).status, 304, url)
  }
  const { now } = Date
  Date.now = () => now() + 7 * 86_400_000
  t.teardown(() => {
    Date.now = now
  })
  for (const { url } of kept) t.equal(await tagOf(url), tags.get(url), `${url} a week later`)
  Date.now = now
  // Past the gateway, so that no row changes.
  await copy.commit('pushed')
  await push('main', 'main:refs/heads/more', 'main:refs/tags/more')
  await sleep(100)
  for (const { dependsOn, url } of kept) {
    const [known, tag] = [tags.get(url) ?? '', await tagOf(url)]
    t.equal((await answers(url, known)).status, tag === known ? 304 : 200, `${url} after a push`)
    if (dependsOn === 'rows') t.equal(tag, known, `${url} depends on rows alone`)
  }
})
