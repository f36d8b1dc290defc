/** Artifacts of version 3: pieces of files, their ranges, digests and paths. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { addJob, type JobOfGateway, pathOf } from '../../helpers/artifact-calls.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'

const gateways = sharedGateways(t)

const md5 = (text: string) => createHash('md5').update(text).digest('base64')

async function openJob(place: GatewayWithUsers) {
  const gateway = await addJob(place)
  const of = ({ runtimeToken, task }: Pick<JobOfGateway, 'runtimeToken' | 'task'>) => {
    const run = String(task.context?.['run_id'])
    const root = `/api/actions_pipeline/_apis/pipelines/workflows/${run}/artifacts`
    const send = (
      method: string,
      path: string,
      { body, headers }: { body?: unknown; headers?: Record<string, string> } = {},
    ) =>
      gateway.ask({
        method,
        path,
        authorization: `Bearer ${runtimeToken}`,
        body,
        headers: headers ?? {},
      })
    const create = async (name: string) => {
      const { json, text } = await send('POST', root, {
        body: { Type: 'actions_storage', Name: name },
      })
      const url = (json as { fileContainerResourceUrl?: string }).fileContainerResourceUrl
      if (url === undefined) throw new Error(text)
      return pathOf(url)
    }
    /** Sends a piece that begins at `start`; by default the whole file. */
    const put = (
      container: string,
      item: string,
      text: string,
      { start = 0, total = text.length, headers = {} }: PieceOptions = {},
    ) =>
      send('PUT', `${container}?itemPath=${encodeURIComponent(item)}`, {
        body: Buffer.from(text),
        headers: {
          'content-range': `bytes ${start}-${start + text.length - 1}/${total}`,
          ...headers,
        },
      })
    const complete = (name: string) =>
      send('PATCH', `${root}?artifactName=${encodeURIComponent(name)}`, { body: { Size: 1 } })
    const items = async (container: string) => {
      const { json } = await send('GET', `${container}?itemPath=x`)
      return ((json as { value?: Item[] }).value ?? []) as readonly Item[]
    }
    return { root, send, create, put, complete, items }
  }
  return { gateway, of, ...of(gateway) }
}

interface PieceOptions {
  readonly start?: number
  readonly total?: number
  readonly headers?: Record<string, string>
}

interface Item {
  readonly path: string
  readonly fileLength: number
  readonly contentLocation: string
}

await gateways.onSqlite(
  'a file is made of its pieces, and visible with its artifact',
  async (t, gateway) => {
    const { root, send, create, put, complete, items } = await openJob(gateway)
    const container = await create('build')
    const piece = { total: 9, headers: { 'x-actions-results-md5': md5('world') } }
    t.equal((await put(container, 'build/dir/file', 'world', { start: 4, ...piece })).status, 200)
    t.equal((await put(container, 'build/dir/file', 'old ', { total: 9 })).status, 200)
    t.equal((await put(container, 'build\\empty', '')).status, 200)
    const gzip = { headers: { 'content-encoding': 'gzip', 'x-tfs-filelength': '100' } }
    t.equal((await put(container, 'build/packed', 'gzip bytes', gzip)).status, 200)
    t.equal((await put(container, 'build/incomplete', 'x', { total: 2 })).status, 200)
    t.match((await send('GET', root)).json, { count: 0, value: [] })
    t.equal((await send('GET', container)).status, 404)
    t.equal((await complete('build')).status, 200)
    t.equal((await complete('build')).status, 200, 'a repeated call')
    t.match((await send('GET', root)).json, { count: 1, value: [{ name: 'build' }] })
    const found = await items(container)
    t.strictSame(
      found.map(({ path, fileLength }) => [path, fileLength]),
      [
        ['build/dir/file', 9],
        ['build/empty', 0],
        ['build/packed', 10],
      ],
    )
    const answers = []
    for (const { contentLocation } of found)
      answers.push(await send('GET', pathOf(contentLocation)))
    t.match(answers, [
      { text: 'old world', headers: { 'content-disposition': /filename="file"/ } },
      { text: '' },
      { text: 'gzip bytes', headers: { 'content-encoding': 'gzip' } },
    ])
    t.equal((await put(container, 'build/late', 'x')).status, 404)
  },
)

await gateways.onSqlite(
  'pieces with wrong ranges, digests or paths are refused',
  async (t, gateway) => {
    const { create, put, complete, items } = await openJob(gateway)
    const container = await create('build')
    for (const range of [
      '',
      'bytes 0-1/3',
      'bytes 0-3/3',
      'bytes 2-0/9',
      'bytes */3',
      'bytes 0-2/*',
    ]) {
      const answer = await put(container, 'build/a', 'abc', { headers: { 'content-range': range } })
      t.equal(answer.status, 400, range)
    }
    const wrong = { headers: { 'x-actions-results-md5': md5('abd') } }
    t.match(await put(container, 'build/a', 'abc', wrong), { status: 400, text: /MD5/ })
    const paths = [
      '',
      'build',
      'build/',
      'other/a',
      '/build/a',
      'build/../a',
      'build/a/..',
      'build//a',
    ]
    const more = ['build/./a', 'build\\..\\a', 'build/a\0', 'build/a:b', `build/${'x'.repeat(601)}`]
    for (const path of [...paths, ...more]) {
      t.match(await put(container, path, 'abc'), { status: 400, text: /is not valid/ }, path)
    }
    await complete('build')
    t.strictSame(await items(container), [])
  },
)

await gateways.onSqlite(
  'jobs of a run add files to one artifact, and other runs do not',
  async (t, shared) => {
    const { gateway, of, root, create, put, complete, items } = await openJob(shared)
    const first = await create('build')
    await put(first, 'build/a', 'a of the first')
    await put(first, 'build/b', 'b of the first')
    await complete('build')
    const uploading = await create('unfinished')
    await gateway.runner.report(gateway.task.id, Result.SUCCESS)
    const second = of(await gateway.nextJob())
    t.equal((await second.put(uploading, 'unfinished/a', 'x')).status, 404, 'of another job')
    const container = await second.create('build')
    await second.put(container, 'build/b', 'b of the second')
    await second.put(container, 'build/c', 'c')
    t.equal((await second.complete('build')).status, 200)
    t.strictSame(
      (await second.items(first)).map(({ path, fileLength }) => [path, fileLength]),
      [
        ['build/a', 14],
        ['build/b', 15],
        ['build/c', 1],
      ],
    )
    const { json } = await second.send('GET', second.root)
    t.match(json, { count: 1 })
    t.equal((await gateway.db('workflow_artifacts').where({ name: 'build' }).first()).bytes, 30)
    t.strictSame(await items(first), [], 'the token of the first job has ended')

    const other = of(await gateway.otherRun())
    t.equal((await other.send('GET', root)).status, 403)
    t.equal((await other.send('GET', first)).status, 403)
    const foreign = first.replace(root, other.root)
    t.equal((await other.send('GET', foreign)).status, 404, 'an artifact of another run')
    t.equal((await other.put(foreign, 'build/d', 'd')).status, 404)
  },
)

t.test('versions 3 and 4 do not share a name, and both count against the limits', async (t) => {
  const environment = { GATEHOUSE_ACTIONS_ARTIFACT_SIZE_MAX: '10' }
  const { gateway, root, send, create, put, complete } = await openJob(
    await startGatewayWithUsers(t, { environment }),
  )
  await gateway.store('zip', 'archive')
  const same = await send('POST', root, { body: { Name: 'zip' } })
  t.match(same, { status: 409, text: /\\"zip\\" already/ })
  const container = await create('files')
  t.equal((await put(container, 'files/a', '123456')).status, 200)
  t.equal((await put(container, 'files/b', '12345')).status, 413)
  t.equal((await put(container, 'files/b', '1234')).status, 200)
  t.equal((await complete('files')).status, 200)
  t.equal((await gateway.call('CreateArtifact', { name: 'files' })).status, 409)
  t.equal((await gateway.call('GetSignedArtifactURL', { name: 'files' })).status, 404)
  t.equal((await gateway.call('DeleteArtifact', { name: 'files' })).status, 200)
  for (const body of [{}, { Name: '../x' }, { Name: 'x', RetentionDays: 'y' }, []]) {
    t.equal((await send('POST', root, { body })).status, 400, JSON.stringify(body))
  }
})
